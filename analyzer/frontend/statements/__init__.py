"""Parts of a statement: expressions, operands, directives, sizes."""
