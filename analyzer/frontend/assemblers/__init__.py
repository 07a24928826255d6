"""The assemblers: each in its own file with what it gets wrong, and the processes that they run in."""
