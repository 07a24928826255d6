"""Recorded profiles: what `perf` has written about a run, as counts by place in the code."""
