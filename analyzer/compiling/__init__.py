"""Runs compilers with adjusted commands and analyses the object files that they make."""
