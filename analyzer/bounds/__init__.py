"""Analytic bounds on cycles per iteration, one resource per file (uiCA paper, section 5; Facile).

Each bound considers one resource and assumes all others unlimited. Bounds explain a simulated figure and
never replace it.
"""
