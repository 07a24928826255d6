"""Files of Python as trees, each parsed once in a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(file: Path) -> ast.Module:
    """The tree of a file, which no test changes."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """The nodes of a module's tree, as ``ast.walk`` gives them."""
    return tuple(ast.walk(tree))
