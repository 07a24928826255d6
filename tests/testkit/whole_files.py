"""Files that only a complete assembler can read, with their expected results."""

from __future__ import annotations

import shutil

import pytest
from cyclelens.analyzer.frontend.assemblers.gnu_backend import gnu_as
from cyclelens.analyzer.model.source import AssembledFile

LAYOUT = frozenset(["inner-branch"])
needs_nasm = pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not on PATH")


needs_gnu_as = pytest.mark.skipif(gnu_as() is None, reason="GNU as is not on PATH")


def lines(result: AssembledFile) -> list[tuple[int, str]]:
    """Line, counted from one, and bytes of every statement."""
    return [(line.line + 1, line.code.hex()) for region in result.regions for line in region.lines]


def problems(result: AssembledFile) -> list[tuple[int, str, str]]:
    return [(p.line + 1, p.code, str(p.severity)) for p in result.problems if p.code not in LAYOUT]
