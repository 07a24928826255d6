"""Utilities for all packages: log, files, caches, spelling suggestions."""
