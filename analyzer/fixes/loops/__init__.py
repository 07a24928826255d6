"""Rewrites of whole loops, one kind a file; ``registry.py`` above lists them."""
