"""Rewrites that make regions faster, one kind a file; each states its gain, which was simulated."""
