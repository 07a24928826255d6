"""Parses whole texts: macros, conditions, symbols, statements."""
