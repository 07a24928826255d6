"""Text to regions to bytes, every byte mapped to its source line; and bytes to instructions."""
