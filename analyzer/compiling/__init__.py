"""Compilers' commands: what they say, and the object files that they make."""
