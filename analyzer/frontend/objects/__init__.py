"""Reads assembled code: ELF files with their lines, functions and loops."""
