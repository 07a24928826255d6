"""Imports the instruction XML of uops.info, and results of benchmarks, into the program's own tables.

The XML is read as a stream: the tables bound the memory, not the file. Only names and figures are kept.
"""

from __future__ import annotations

import lzma
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from cyclelens.analyzer.common.regular_files import AT_ONCE, open_given, read_given
from cyclelens.analyzer.facts import benchmarks, rules
from cyclelens.analyzer.facts.collector import Collector, DescribedMeasurement, DescribedVariant
from cyclelens.analyzer.facts.store import FactsStore
from lxml import etree
from msgspec import Struct

_XZ_MAGIC = b"\xfd7zXZ\0"
_FOREIGN_AFTER = 100_000
"""After this many elements without an instruction, reading stops: the file is of another kind."""
_MOST_BETWEEN = 16 << 20
"""Most unpacked bytes between two instructions: a packed file can hold any number of other elements,
which the parser would keep."""
_MOST_VARIANTS = 500_000
_PARTS = frozenset({"operand", "architecture", "measurement", "latency"})
"""Elements that are still needed when their instruction ends."""


class ImportProblem(Exception):
    """The source cannot be imported, or the tables cannot be written. The message is for the user;
    existing tables are unchanged."""


class ImportSummary(Struct, frozen=True):
    """Summary of an import."""

    variants: int
    """Instruction variants with at least one record."""
    microarchitectures: tuple[str, ...]
    records: int
    """Records of all microarchitectures."""
    distinct_records: int
    """Stored records; equal ones are stored once."""
    size: int
    """Bytes of the table file."""
    without_units: tuple[str, ...] = ()
    """Measurements that were left out: the tables have no record of the form to complete, and the file
    states no units."""


def _attributes(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.items()}


def _described(instruction: etree._Element) -> DescribedVariant:
    """A variant of the file. Raises ValueError."""
    measurements = []
    for architecture in instruction.iterchildren("architecture"):
        measurement = architecture.find("measurement")
        if measurement is None:
            continue
        microarchitecture = architecture.get("name")
        if not microarchitecture:
            raise ValueError("an architecture without a name")
        latencies = [_attributes(node) for node in measurement.iterchildren("latency")]
        measurements.append(DescribedMeasurement(microarchitecture, _attributes(measurement), latencies))
    return DescribedVariant(
        _attributes(instruction),
        [
            rules.operand(_attributes(operand), operand.text)
            for operand in instruction.iterchildren("operand")
        ],
        measurements,
        str(instruction.xpath("string(architecture/measurement/@macro_fusible)")),
    )


class _CountedStream:
    """A stream that counts the bytes read since the last instruction."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.since = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.since += len(data)
        if self.since > _MOST_BETWEEN:
            raise ValueError(f"the {_MOST_BETWEEN >> 20} MB after it hold no other instruction")
        return data


def _instructions(stream: _CountedStream) -> Iterator[etree._Element]:
    """Every ``instruction`` element in turn; passed elements are freed. Raises ValueError if an
    instruction does not end."""
    elements = 0
    found = False
    for _, element in etree.iterparse(
        stream, events=("end",), resolve_entities=False, no_network=True, load_dtd=False
    ):
        if element.tag in _PARTS:
            continue
        if element.tag == "instruction":
            found = True
            stream.since = 0
            yield element
        elements += 1
        if not found and elements > _FOREIGN_AFTER:
            return
        element.clear()
        if element.tag in ("instruction", "extension"):
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]


def import_tables(
    source: Path,
    target: Path,
    progress: Callable[[int, int], None] | None = None,
    base: FactsStore | None = None,
    ready: Callable[[], None] = lambda: None,
) -> ImportSummary:
    """Reads the XML ``source`` (plain or xz-compressed) and writes the tables ``target``.

    ``base``: tables to extend; existing variants keep what the source does not state. ``progress`` gets the
    bytes of ``source`` read so far and in total. ``ready`` is called when only the last step is left: if it
    raises, ``target`` is as it was. Raises ``ImportProblem``, or ``TablesUnavailable`` if
    ``base`` is damaged.
    """
    _check_different(source, target)
    return _written(_read(source, progress, base), target, ready)


def import_benchmarks(
    source: Path, target: Path, base: FactsStore, microarchitecture: str
) -> tuple[ImportSummary, benchmarks.Found]:
    """Reads results of ibench or asmbench for a core and writes the tables ``base`` with them to ``target``.

    ``microarchitecture``: its name in the tables. Raises ``ImportProblem``, or ``TablesUnavailable`` if
    ``base`` is damaged."""
    _check_different(source, target)
    try:
        text = read_given(source, AT_ONCE).decode("utf-8")
        found = benchmarks.find(benchmarks.results(text), base, microarchitecture)
    except OSError as error:
        raise ImportProblem(f"{source} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ImportProblem(f"{source}: {error}") from error
    collector = Collector()
    collector.take(base)
    for variant in found.variants:
        collector.add(variant)
    return _written(collector, target), found


def _check_different(source: Path, target: Path) -> None:
    if source.exists() and target.exists() and source.samefile(target):
        raise ImportProblem(f"{source} would be overwritten by its own tables: choose another output file")


def _written(collector: Collector, target: Path, ready: Callable[[], None] = lambda: None) -> ImportSummary:
    try:
        # Built beside the target, so that the last step is one atomic rename within a file system.
        with tempfile.TemporaryDirectory(prefix=".import-", dir=target.parent) as folder:
            file = Path(folder) / "tables"
            collector.write(file)
            size = file.stat().st_size
            ready()
            os.replace(file, target)
    except OSError as error:
        raise ImportProblem(f"{target} cannot be written: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise ImportProblem(f"{target} cannot be written: {error}") from error
    return ImportSummary(
        variants=len(collector.variants),
        microarchitectures=tuple(collector.positions),
        records=sum(collector.record_counts),
        distinct_records=len(collector.records.numbers),
        size=size,
        without_units=tuple(collector.without_units),
    )


def _read(source: Path, progress: Callable[[int, int], None] | None, base: FactsStore | None) -> Collector:
    collector = Collector()
    if base is not None:
        collector.take(base)
    name = "its first instruction"
    try:
        total = source.stat().st_size
        with open_given(source) as raw:
            compressed = raw.read(len(_XZ_MAGIC)) == _XZ_MAGIC
            raw.seek(0)
            stream = lzma.LZMAFile(raw) if compressed else raw  # noqa: SIM115 - raw is what must be closed
            for element in _instructions(_CountedStream(stream)):
                name = element.get("string", name)
                collector.add(_described(element))
                if len(collector.variants) > _MOST_VARIANTS:
                    raise ValueError(f"more than {_MOST_VARIANTS:,} instructions")
                if progress is not None:
                    progress(raw.tell(), total)
    except etree.XMLSyntaxError as error:
        raise ImportProblem(f"{source} is damaged or not an XML file: {error.msg}") from error
    except (lzma.LZMAError, EOFError) as error:
        raise ImportProblem(f"{source} is damaged: {error}") from error
    except OSError as error:
        raise ImportProblem(f"{source} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ImportProblem(f"{source} is damaged at {name}: {error}") from error
    if not collector.measured:
        raise ImportProblem(f"{source} is not the instruction XML of uops.info: it holds no measurements")
    return collector
