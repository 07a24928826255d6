"""Compares predictions with measured or reference figures, by the usual error measures.

It may use the whole analyzer, and only the command line uses it.
"""
