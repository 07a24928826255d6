"""One instruction to bytes: which assembler is asked what, and whether its answer is right."""
