"""Counts the instructions that reading a profile takes, with Valgrind: the work is done in C, so nothing
inside Python can count it, and times are no measure on a busy machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

PROGRAM = """
import sys
from cyclelens.analyzer.profiles.perf_annotate import Annotations
from cyclelens.analyzer.profiles.perf_script import Branches
unit, size = sys.argv[1:]
annotations, branches = Annotations(), Branches()
annotations.read("Percent | Source code of f for cycles (10 samples)")
head, _, rest = unit.partition("|")
unit, _, end = rest.partition("|")
line = head + unit * (int(size) // max(len(unit), 1)) + end
annotations.read(line)
branches.read(line)
list(branches.runs())
"""
SIZES = (32_000, 64_000)
"""Characters of the two lines that are compared; readers cut lines at 65,536."""
MOST_PER_CHARACTER = 1_000
"""Instructions that a reader may take per character; about 100 are usual."""


@cache
def instructions(shape: str, size: int) -> int:
    """Instructions of a process that reads one line of a profile.

    ``shape``: what the line begins with, what it repeats and what it ends with, separated by ``|``.
    """
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        sys.executable,
        "-c",
        PROGRAM,
    ]
    done = subprocess.run(
        [*command, shape, str(size)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def costs(shape: str) -> Sequence[float]:
    """Instructions per character for each of ``SIZES``: equal for a linear reader, doubled for a quadratic
    one. The start of the process is taken off."""
    start = instructions("||", 0)
    return [(instructions(shape, size) - start) / size for size in SIZES]
