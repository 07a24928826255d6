"""Texts that an external program reads first: includes, preprocessors, NASM, listings."""
