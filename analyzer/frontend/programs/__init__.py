"""The whole text as a program: macros, conditions, symbols, statements."""
