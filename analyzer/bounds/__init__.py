"""Analytic bounds on cycles per iteration, one resource per file (uiCA paper, section 5; Facile).

Each looks at one resource alone and assumes all others unlimited. They explain a simulated figure and never
replace it.
"""
