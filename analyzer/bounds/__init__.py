"""Analytic lower bounds on cycles per iteration, one function a file."""
