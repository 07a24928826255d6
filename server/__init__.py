"""Cyclelens's language server: it carries the analyzer's results to editors and computes nothing itself."""
