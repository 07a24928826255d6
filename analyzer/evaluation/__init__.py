"""Comparison of predictions with measured or reference figures, the way the field reports it.

Sits beside the command line: it may use the whole analyzer, and only the command line uses it.
"""
