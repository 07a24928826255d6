"""Explains a finished simulation and its bounds: bottlenecks, stalls, hazards."""
