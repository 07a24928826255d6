"""Rewrites of whole loops, one kind per file; ``registry.py`` above lists them."""
