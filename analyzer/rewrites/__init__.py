"""Rewrites that make regions faster, one kind per file; each states its gain, which was simulated."""
