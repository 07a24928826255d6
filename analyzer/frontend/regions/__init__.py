"""Encodes regions to bytes and maps every byte to its line."""
