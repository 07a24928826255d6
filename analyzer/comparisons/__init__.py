"""Comparisons of one region, one kind per file; each yields a table."""
