"""Turns instructions and facts into uop templates: expansion, micro- and
macro-fusion, unlamination, merges."""
