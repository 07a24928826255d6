"""Lexical level: lines, strings, comments, dialects, region markers."""
