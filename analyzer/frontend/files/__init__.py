"""Sources that an external program processes: includes, the C preprocessor, NASM, listings."""
