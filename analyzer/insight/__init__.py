"""A finished simulation and the bounds to causes: bottlenecks, stalls, hazards."""
