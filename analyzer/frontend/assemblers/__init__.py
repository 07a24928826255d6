"""Assembler backends, one file each with its known defects, and the processes that they run in."""
