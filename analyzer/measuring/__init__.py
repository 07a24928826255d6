"""What code really takes on this machine: a native harness in a sandbox, and what is asked of it."""
