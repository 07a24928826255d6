"""Regions to bytes, every byte mapped to its line."""
