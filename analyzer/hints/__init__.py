"""Turns an analysis into hints for an editor, one kind of hint per file."""
