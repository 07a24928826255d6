"""Measures code on this machine with a native, sandboxed harness."""
