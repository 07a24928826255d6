"""Reads profiles recorded by `perf` as counts per code location."""
