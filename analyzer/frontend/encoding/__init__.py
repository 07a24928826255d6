"""Encodes single instructions: chooses the assembler and verifies its answer."""
