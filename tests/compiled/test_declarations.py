"""The C declarations and the classes of columns are what ``dev/declarations.py`` makes of the sources."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import declarations
import pytest

ROOT = Path(__file__).parents[2]


def test_what_is_made_is_what_lies_there() -> None:
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in declarations.made()
        if path.read_text("utf-8") != text
    ]
    assert stale == [], "python dev/declarations.py makes them anew"


STAGE = """
from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Column, Long, PairQueue, ints, longs
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE

_ORIGIN = 1 << 42
_SIZE = 2 * 8
_FIRST, _SECOND = range(1, 3)


class Stage:
    def __init__(self, columns: Columns, queue: PairQueue) -> None:
        self._columns = columns
        self._program = columns.program
        self._queue = queue
        self.sums = longs(8)
        self.count = 0
        self.idle = True
        self.mask: Long = 0

    def rewind(self) -> None:
        self.seen = ints(_SIZE)

    def tick(self, cycle: int) -> bool:
        waits: bool = self.idle and self._columns.issued[cycle] == NONE
        if waits:
            self._push(cycle)
        return self.ready(cycle)

    def _push(self, cycle: int) -> None:
        self._queue.push(cycle, self.count)

    def restart(self, cycle: int) -> None:
        self.rewind()
        self.count = _SECOND

    def ready(self, cycle: int) -> bool:
        return cycle > self.count

    def names(self) -> list[str]:
        return [str(self.count)]
"""
DECLARED = """\
# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE
cdef int _FIRST
cdef long long _ORIGIN
cdef int _SECOND
cdef int _SIZE


@cython.final
cdef class Stage:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _queue
    cdef public long long[::1] sums
    cdef public int count
    cdef public bint idle
    cdef public long long mask
    cdef public int[::1] seen
    cdef int rewind(self) except -1
    @cython.locals(waits=cython.bint)
    cdef bint tick(self, int cycle) noexcept
    cdef void _push(self, int cycle) noexcept
    cdef inline int restart(self, int cycle) except -1:
        self.rewind()
        self.count = 2
    cpdef bint ready(self, int cycle) noexcept
"""
CALLER = """
def ask(stage):
    return stage.ready(3)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the simulator's sources with one stage more and a module that calls it."""
    for folder in ("dev", "analyzer/model", "analyzer/simulator"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".py", ".pxd"):
                copy = tmp_path / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
    simulator = tmp_path / "analyzer/simulator"
    (simulator / "stage.py").write_text(STAGE)
    (simulator / "stage.pxd").touch()
    (simulator / "caller.py").write_text(CALLER)
    return tmp_path


def make(tree: Path) -> str:
    """Run the tool in a tree; its messages."""
    run = subprocess.run(
        [sys.executable, tree / "dev/declarations.py"], capture_output=True, text=True, check=False
    )
    return run.stderr


def test_a_stage_is_declared_from_its_annotated_python(tree: Path) -> None:
    assert make(tree) == "made analyzer/simulator/stage.pxd\n"
    assert (tree / "analyzer/simulator/stage.pxd").read_text() == DECLARED


def test_what_has_no_type_is_named(tree: Path) -> None:
    stage = tree / "analyzer/simulator/stage.py"
    stage.write_text(STAGE.replace("self.mask: Long = 0", "self.mask = unknown()"))
    line = stage.read_text().split("\n").index("        self.mask = unknown()") + 1
    assert make(tree) == f"analyzer/simulator/stage.py:{line}: annotate self.mask\n"


def test_a_new_column_is_declared_grown_and_filled(tree: Path) -> None:
    table = tree / "analyzer/simulator/tables/declared.py"
    place = '        Field("ready", "UNKNOWN"),\n'
    table.write_text(table.read_text().replace(place, place + '        Field("colour", "NONE"),\n'))
    make(tree)
    text = (tree / "analyzer/simulator/tables/column_classes.py").read_text()
    assert "self.colour = self._uops_table[6::32]\n" in text
    assert "            self.ready[row] = -2\n            self.colour[row] = -1\n" in text
    declared = (tree / "analyzer/simulator/tables/column_classes.pxd").read_text()
    assert "    cdef public int[:] colour\n" in declared
    assert "    int ready\n    int colour\n    int dispatched\n" in declared


def test_compiled_stages_find_columns_in_rows() -> None:
    copies = sorted((ROOT / "build/stages").rglob("*.p*"))
    if not copies:
        pytest.skip("the copies that were compiled are not here")
    classes = (ROOT / "analyzer/simulator/tables/column_classes.pxd").read_text("utf-8")
    names = "|".join(re.findall(r"int\[:\] (\w+)", classes))
    beside = re.compile(rf"(?:columns|program)\.(?:{names})\[")
    text = "".join(path.read_text("utf-8") for path in copies)
    assert "self._columns.uops_rows[uop].port = unit\n" in text
    assert beside.findall(text) == []
