"""Counts with Valgrind the instructions that reading a profile takes. The work is done in C, so nothing
inside Python can count it, and times mean little on a busy machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

MARK, CALLED = "lrand48", "*nrand48_r"
"""A function of the C library that nothing else calls, and what it calls itself. Python jumps to the former,
which Valgrind does not see; before each call of the latter it writes a file of counts."""
PROGRAM = f"""
import ctypes, sys
from pathlib import Path
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import ProfileError
mark = ctypes.CDLL(None).{MARK}
*shapes, sizes, file = sys.argv[1:]
for shape in ["||", *shapes]:
    head, unit, end = shape.split("|")
    for size in sizes.split():
        line = head + unit * (int(size) // max(len(unit), 1)) + end
        Path(file).write_text("Percent | Source code of f for cycles (10 samples)\\n" + line)
        profiles = Profiles(Caches())
        mark()
        try:
            profiles.of(file)
        except ProfileError:
            pass
        mark()
"""
SIZES = (32_000, 64_000)
"""Characters of the two lines that are compared; readers cut lines at 65,536."""
MOST_PER_CHARACTER = 1_000
"""Instructions that a reader may take per character; about 100 are usual."""


def costs(shapes: Iterable[str], folder: Path) -> Mapping[str, Sequence[float]]:
    """Instructions per character for each of ``SIZES``: equal for a linear reader, doubled for a quadratic
    one. One process reads all lines, since its start takes far longer than they do.

    ``shapes``: what a line begins with, what it repeats and what it ends with, separated by ``|``.
    ``folder``: for the files of counts.
    """
    shapes = list(shapes)
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--dump-before={CALLED}",
        f"--callgrind-out-file={folder / 'counts'}",
        sys.executable,
        "-c",
        PROGRAM,
        *shapes,
        " ".join(map(str, SIZES)),
        str(folder / "profile.txt"),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    assert done.returncode == 0, done.stderr
    # The file of an even mark is of what was read since the mark before it. The first lines are empty ones.
    marks = 2 * len(SIZES) * (len(shapes) + 1)
    assert len(list(folder.glob("counts.*"))) == marks
    found = iter([instructions(folder / f"counts.{mark}") for mark in range(2, marks + 1, 2)])
    empty, *lines = [[next(found) for _ in SIZES] for _ in ["", *shapes]]
    return {
        shape: [(count - empty[-1]) / size for count, size in zip(counts, SIZES, strict=True)]
        for shape, counts in zip(shapes, lines, strict=True)
    }


def instructions(counts: Path) -> int:
    """Instructions in a file of Valgrind's."""
    found = re.search(r"^totals: (\d+)", counts.read_text(), re.MULTILINE)
    assert found is not None, counts
    return int(found[1])
