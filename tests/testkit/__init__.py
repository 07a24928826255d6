"""What tests share: blocks and programs to try, other assemblers to compare with, real editors, counters."""
