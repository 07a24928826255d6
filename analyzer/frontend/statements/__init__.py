"""One statement: expressions, operands, directives, sizes."""
