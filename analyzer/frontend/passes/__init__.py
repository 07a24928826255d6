"""Passes that read a text: the built-in assembler, or the user's."""
