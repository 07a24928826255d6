"""Cyclelens's analyzer: assembly text in, cycles and their causes out. It knows no editor protocol."""
