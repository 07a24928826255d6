"""Texts line by line, without an analysis: lines as LSP counts them, words, labels."""
