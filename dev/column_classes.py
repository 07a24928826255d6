"""The classes that hold the columns of ``analyzer/simulator/tables/declared.py``, as text."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLES = Path(__file__).resolve().parents[1] / "analyzer" / "simulator" / "tables"

_MOST_FILLED = 6
"""Columns that one function fills; the compiler makes slow loops of the last ones of a longer one."""


def column_classes() -> tuple[Path, str]:
    """The file that is made from the tables, and its text."""
    # By its path: the project may not be installed yet.
    spec = importlib.util.spec_from_file_location("declared", TABLES / "declared.py")
    assert spec is not None and spec.loader is not None
    declared = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(declared)
    lines = [*head(declared), *flight(declared.FLIGHT), *block(declared.BLOCK)]
    return TABLES / "column_classes.py", "\n".join([*lines, ""])


def maker(field: Any) -> str:
    return "longs" if field.long else "ints"


def head(declared: Any) -> Iterator[str]:
    firsts = {field.first for table in declared.FLIGHT for field in table.fields if field.first.isupper()}
    names = ", ".join(sorted(firsts, key=lambda name: name.replace("_", " ")))
    yield '"""Made by dev/declarations.py from declared.py; do not edit."""\n'
    yield "from __future__ import annotations\n"
    yield "from cyclelens.analyzer.simulator.tables.arrays import grown, ints, longs, spaced"
    yield f"from cyclelens.analyzer.simulator.tables.constants import {names}\n"
    for table in (declared.INSTRUCTIONS, declared.BLOCK_UOPS):
        yield f"{table.rows.upper()} = ("
        for field in table.fields:
            yield f'    "{field.name}",'
        yield ")"


def flight(tables: Any) -> Iterator[str]:
    """Tables whose rows are added cycle by cycle."""
    yield "\n\nclass FlightColumns:"
    yield '    """Columns that grow; their new rows are ready to use before they are needed."""\n'
    yield "    def __init__(self) -> None:"
    for table in tables:
        yield f"        self._{table.rows}_ready = 0"
        for field in table.fields:
            yield f"        self.{field.name} = {maker(field)}(0)"
    yield "\n    def _forget(self) -> None:"
    yield '        """No row is ready."""'
    for table in tables:
        yield f"        self._{table.rows}_ready = 0"
    for table in tables:
        filled = [field for field in table.fields if field.first]
        yield f"\n    def _more_{table.rows}(self, end: int) -> None:"
        yield '        """Get the rows up to ``end`` ready."""'
        yield f"        if end > len(self.{table.fields[0].name}):"
        yield "            size = spaced(2 * end)"
        for field in table.fields:
            yield f"            self.{field.name} = grown(self.{field.name}, size)"
        parts = [filled[place : place + _MOST_FILLED] for place in range(0, len(filled), _MOST_FILLED)]
        for number in range(len(parts)):
            yield f"        self._fill_{table.rows}_{number}(self._{table.rows}_ready, end)"
        yield f"        self._{table.rows}_ready = end"
        for number, part in enumerate(parts):
            yield f"\n    def _fill_{table.rows}_{number}(self, begin: int, end: int) -> None:"
            for field in part:
                # One column after the other: the compiler makes wide stores of it.
                yield f"        first = {field.first}"
                yield "        for row in range(begin, end):"
                yield f"            self.{field.name}[row] = first"


def block(tables: Any) -> Iterator[str]:
    """Tables that are filled as a whole, from flat instructions."""
    yield "\n\nclass BlockColumns:"
    yield '    """Columns as long as the longest block so far needed them. A table holds them one behind the'
    yield '    other, each as long as its room."""\n'
    yield "    def __init__(self) -> None:"
    for table in tables:
        yield f"        self._{table.rows}_room = 0"
        yield f"        self._{table.rows}_table = ints(0)"
        for field in (*table.fields, *table.more):
            yield f"        self.{table.prefix}{field.name} = {maker(field)}(0)"
    for table in tables:
        yield f"\n    def _reserve_{table.rows}(self, count: int) -> None:"
        yield '        """Make room for so many rows, and some more so that few blocks need new columns."""'
        yield f"        if count <= self._{table.rows}_room:"
        yield "            return"
        yield f"        room = self._{table.rows}_room = 64 + 2 * count"
        yield f"        table = self._{table.rows}_table = memoryview(ints({len(table.fields)} * room))"
        for place, field in enumerate(table.fields):
            yield f"        self.{table.prefix}{field.name} = table[{place} * room : {place + 1} * room]"
        for field in table.more:
            yield f"        self.{table.prefix}{field.name} = {maker(field)}(room)"
