"""Renders an analysis as text, JSON or another format, one format per file. Reports never simulate."""
