"""Generates the classes that hold the columns of ``analyzer/simulator/tables/declared.py``.

The numbers of a row are adjacent. In Python a column is a strided view. Compiled stages see a row as a C
structure with a member for each column: ``setup.py`` turns ``columns.port[uop]`` into
``columns.uops_rows[uop].port``. One pointer and one index then serve all columns.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from stage_types import module

CONSTANTS = "cyclelens.analyzer.simulator.tables.constants"
TABLES = Path(__file__).resolve().parents[1] / "analyzer" / "simulator" / "tables"


def declared() -> ModuleType:
    """Load the tables by path, because the project may not be installed yet."""
    spec = importlib.util.spec_from_file_location("declared", TABLES / "declared.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def column_classes() -> tuple[Path, str]:
    """Path and text of the file generated from the tables."""
    tables = declared()
    lines = [*head(tables), *flight(tables.FLIGHT), *block(tables.BLOCK)]
    return TABLES / "column_classes.py", "\n".join([*lines, ""])


def members(table: Any) -> list[str]:
    """Attributes of the columns in a table's rows, in order."""
    return [table.prefix + field.name for field in (*table.fields, *table.more) if not field.long]


def length(table: Any) -> int:
    """Row length in numbers, a power of two, so that indexing shifts instead of multiplying."""
    return 1 << (len(members(table)) - 1).bit_length()


def with_rows(text: str) -> str:
    """C declarations of the classes, with their rows as C structures."""
    tables = declared()
    structures = ""
    for name, group in (("FlightColumns", tables.FLIGHT), ("BlockColumns", tables.BLOCK)):
        method = "    cdef void _point(self) noexcept"
        begin = text.index(method, text.index(f"cdef class {name}:"))
        pointers = ""
        body = method.replace("cdef", "cdef inline") + ":"
        for table in group:
            row = f"{table.prefix or f'{table.rows}_'}row"
            structures += f"\n\ncdef struct {row}:\n"
            structures += "".join(f"    int {member}\n" for member in members(table))
            if left := length(table) - len(members(table)):
                structures += f"    int unused[{left}]\n"
            pointers += f"    cdef {row}* {row}s\n"
            body += f"\n        self.{row}s = <{row}*> &self._{table.rows}_table[0]"
        text = text[:begin] + pointers + body + text[begin + len(method) :]
    return text.replace("\n\n\ncdef class", f"{structures}\n\ncdef class", 1)


def head(tables: Any) -> Iterator[str]:
    yield '"""Made by dev/declarations.py from declared.py; do not edit."""\n'
    yield "from __future__ import annotations\n"
    yield "from cyclelens.analyzer.simulator.tables.arrays import Strided, grown, ints, longs\n"
    for table in (tables.INSTRUCTIONS, tables.BLOCK_UOPS):
        yield f"{table.rows.upper()} = ("
        for field in table.fields:
            yield f'    "{field.name}",'
        yield ")"
        yield f"{table.rows.upper()}_ROW = {length(table)}"


def no_rows(tables: Any) -> Iterator[str]:
    """The constructor, which leaves every table empty."""
    yield "    def __init__(self) -> None:"
    for table in tables:
        yield f"        self._{table.rows}_room = 0"
        yield f"        self._{table.rows}_table = ints(0)"
        for member in members(table):
            yield f"        self.{member}: Strided = ints(0)"
        for field in (*table.fields, *table.more):
            if field.long:
                yield f"        self.{table.prefix}{field.name} = longs(0)"
    yield "\n    def _point(self) -> None:"
    yield '        """Compiled code reads rows where they lie now."""'


def views(table: Any) -> Iterator[str]:
    for place, member in enumerate(members(table)):
        yield f"self.{member} = self._{table.rows}_table[{place}::{length(table)}]"
    yield "self._point()"


def flight(tables: Any) -> Iterator[str]:
    """The class of tables that grow cycle by cycle."""
    yield "\n\nclass FlightColumns:"
    yield '    """Columns that grow; their new rows are ready to use before they are needed."""\n'
    yield from no_rows(tables)
    yield "\n    def _forget(self) -> None:"
    yield '        """No row is ready."""'
    for table in tables:
        yield f"        self._{table.rows}_ready = 0"
    numbers = module(CONSTANTS).numbers
    for table in tables:
        filled = [field for field in table.fields if field.first]
        yield f"\n    def _more_{table.rows}(self, end: int) -> None:"
        yield '        """Get the rows up to ``end`` ready."""'
        yield f"        if end > self._{table.rows}_room:"
        yield f"            room = self._{table.rows}_room = 2 * end"
        yield f"            size = {length(table)} * room"
        yield f"            self._{table.rows}_table = memoryview(grown(self._{table.rows}_table, size))"
        for line in views(table):
            yield f"            {line}"
        for field in table.fields:
            if field.long:
                yield f"            self.{field.name} = grown(self.{field.name}, room)"
        if filled:
            yield f"        self._fill_{table.rows}(self._{table.rows}_ready, end)"
        yield f"        self._{table.rows}_ready = end"
        if filled:
            yield f"\n    def _fill_{table.rows}(self, begin: int, end: int) -> None:"
            yield "        for row in range(begin, end):"
            for field in filled:
                # Numbers, not their names: the compiler sets neighbours with one wide store then.
                yield f"            self.{field.name}[row] = {numbers.get(field.first, field.first)}"


def block(tables: Any) -> Iterator[str]:
    """The class of tables that are filled at once, from flat instructions."""
    yield "\n\nclass BlockColumns:"
    yield '    """Columns as long as the longest block so far needed them."""\n'
    yield from no_rows(tables)
    for table in tables:
        yield f"\n    def _reserve_{table.rows}(self, count: int) -> None:"
        yield '        """Make room for so many rows, and some more so that few blocks need new columns."""'
        yield f"        if count <= self._{table.rows}_room:"
        yield "            return"
        yield f"        room = self._{table.rows}_room = 64 + 2 * count"
        yield f"        self._{table.rows}_table = memoryview(ints({length(table)} * room))"
        for line in views(table):
            yield f"        {line}"
        for field in (*table.fields, *table.more):
            if field.long:
                yield f"        self.{table.prefix}{field.name} = longs(room)"
