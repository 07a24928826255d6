"""Imports the instruction XML of uops.info into the program's own tables.

The XML is read as a stream: the tables bound the memory, not the file. Only names and figures are kept. The
same input gives the same bytes: no time stamps, a fixed page size, numbers in the source's order.
"""

from __future__ import annotations

import lzma
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from cyclelens.analyzer.common.regular_files import open_given
from cyclelens.analyzer.facts import encoding, golden_cove, occupancy, rules, zen, zen1, zen3, zen5
from cyclelens.analyzer.facts.encoding import NO_RECORD, Record, Variant, VariantRecords
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import Latency
from lxml import etree
from msgspec import Struct
from msgspec.structs import asdict, replace

_XZ_MAGIC = b"\xfd7zXZ\0"
_PAGE_SIZE = 4096
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


def _attributes(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.items()}


def _all_zero(measurement: etree._Element) -> bool:
    """True if the results do not depend on the inputs when all registers are the same."""
    cycles = [node.get("cycles_same_reg") for node in measurement.iterchildren("latency")]
    return any(cycles) and all(each in (None, "0") for each in cycles)


class _Numbering:
    """Distinct texts, numbered from 1 in order of first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

        self._texts: list[str] = []

    def number(self, text: str) -> int:
        number = self.numbers.setdefault(text, len(self.numbers) + 1)
        if number > len(self._texts):
            self._texts.append(text)
        return number

    def text(self, number: int) -> str:
        return self._texts[number - 1]


def _overlaid(old: Record, new: Record, stated: Mapping[str, str]) -> Record:
    """The new record where the measurement states something, otherwise the old one."""
    figures = {
        kind: replace(
            getattr(old, kind),
            **{
                field: getattr(getattr(new, kind), field)
                for field, name in rules.STATED.items()
                if name + suffix in stated
            },
        )
        for kind, suffix in (("base", rules.BASE), ("same_register", rules.SAME_REGISTER))
    }
    latencies = dict(old.latencies)
    for pair, latency in new.latencies.items():
        before = latencies.get(pair, Latency())
        found = {name: cycles for name, cycles in asdict(latency).items() if cycles is not None}
        latencies[pair] = replace(before, **found)
    fusible = new.fusible if "macro_fusible" in stated else old.fusible
    return replace(old, **figures, latencies=latencies, fusible=fusible)


class _Collector:
    """Everything read so far, in the tables' form."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}
        self.record_counts: list[int] = []
        self.variants: list[tuple[str, Variant, dict[int, int], int]] = []
        """(form, variant without its profile, records by microarchitecture position, constructed bits)."""
        self.operands = _Numbering()
        self.records = _Numbering()
        self.fusible = _Numbering()
        self.measured = 0
        """Number of variants with measurements in the file."""
        self._known: dict[str, int] = {}
        """Name -> index of the variants in the base tables."""

    def take(self, store: FactsStore) -> None:
        """Starts from the tables of a store; later additions change them."""
        for name in store.microarchitectures():
            self.positions[name] = len(self.positions)
            self.record_counts.append(0)
        for table, numbering in (
            ("operands", self.operands),
            ("records", self.records),
            ("fusible", self.fusible),
        ):
            for text in store.texts(table):
                numbering.number(text)
        for form, variant, profile in store.variants():
            records = {p: number for p, number in enumerate(profile.records) if number != NO_RECORD}
            for position in records:
                self.record_counts[position] += 1
            self._known[variant.name] = len(self.variants)
            self.variants.append((form, variant, records, profile.constructed))

    def add(self, instruction: etree._Element) -> None:
        """Adds one variant, unless it has no measurements."""
        attributes = _attributes(instruction)
        name, iform = attributes.get("string"), attributes.get("iform")
        if not name or not iform:
            raise ValueError("an instruction without a name or form")
        category = attributes.get("category", "")
        locked = attributes.get("locked") == "1"
        records: dict[int, int] = {}
        constructed = 0
        operands = [
            rules.operand(_attributes(operand), operand.text)
            for operand in instruction.iterchildren("operand")
        ]
        fusible = instruction.xpath("string(architecture/measurement/@macro_fusible)")
        described = zen.VariantDescription(name, category, operands, str(fusible))
        measured: dict[str, golden_cove.VariantMeasurement] = {}
        for architecture in instruction.iterchildren("architecture"):
            measurement = architecture.find("measurement")
            if measurement is None:
                continue
            microarchitecture = architecture.get("name")
            if not microarchitecture:
                raise ValueError("an architecture without a name")
            if microarchitecture in measured:
                continue  # the first measurement counts, as everywhere in the file
            figures = _attributes(measurement)
            if figures.get("provenance") in rules.COMPLETE:
                if zen.is_zen(microarchitecture) and "TP_loop" in figures:
                    figures["throughput"] = figures["TP_loop"]
            elif zen.is_zen(microarchitecture):
                nodes = [_attributes(node) for node in measurement.iterchildren("latency")]
                if microarchitecture == zen1.NAME:
                    figures = zen1.corrected(name, figures)
                figures = zen.completed(
                    figures,
                    described,
                    microarchitecture,
                    zero_latencies=_all_zero(measurement),
                    chain=zen.implicit_chain(nodes, operands),
                ) | {"provenance": "constructed"}
                if microarchitecture == zen3.NAME:
                    figures = zen3.corrected(name, figures)
            elif microarchitecture == zen5.NAME:
                figures = zen5.completed(figures, name=name, locked=locked, operands=operands)
            else:
                figures = occupancy.with_throughput(name, figures)
            latencies = [zen5.best_latency(_attributes(node)) for node in measurement.iterchildren("latency")]
            if microarchitecture == zen1.NAME:
                latencies = [zen1.corrected_latency(name, each) for each in latencies]
            if figures.get("provenance") not in rules.COMPLETE:
                latencies = [
                    zen.measured_latency(
                        each, microarchitecture=microarchitecture, name=name, operands=operands
                    )
                    for each in latencies
                ]
            measured[microarchitecture] = golden_cove.VariantMeasurement(figures, latencies)
        measured |= golden_cove.derived(measured, name=name, category=category, operands=operands)
        self.measured += bool(measured)
        known = self._known.get(name)
        if known is not None:
            records, constructed = self.variants[known][2:]
        for microarchitecture, each in measured.items():
            position = self.positions.setdefault(microarchitecture, len(self.positions))
            if position == len(self.record_counts):
                self.record_counts.append(0)
            self.record_counts[position] += position not in records
            records[position] = self._record(
                each, name, category, locked, microarchitecture, records.get(position, NO_RECORD)
            )
            if each.figures.get("provenance") in ("constructed", rules.UNITS_INFERRED):
                constructed |= 1 << position
            elif known is None or "ports" in each.figures:  # otherwise the units are unchanged
                constructed &= ~(1 << position)
        if known is not None:
            self.variants[known] = (*self.variants[known][:3], constructed)
            return
        if not records:
            return
        variant = Variant(
            name=name,
            category=category,
            extension=attributes.get("extension", ""),
            locked=locked,
            attributes={key: attributes[key] for key in rules.MATCHING_ATTRIBUTES if key in attributes},
            operands=tuple(self.operands.number(encoding.encode_operand(operand)) for operand in operands),
            profile=0,
        )
        self.variants.append((rules.form_name(name, iform), variant, records, constructed))

    def _record(
        self,
        measurement: golden_cove.VariantMeasurement,
        name: str,
        category: str,
        locked: bool,
        microarchitecture: str,
        known: int,
    ) -> int:
        """The number of the record.

        ``known``: number of the existing record, whose figures remain where the measurement states nothing.
        """
        base, same_register, indexed = (
            rules.figures(
                measurement.figures,
                suffix,
                name=name,
                category=category,
                locked=locked,
                microarchitecture=microarchitecture,
            )
            for suffix in (rules.BASE, rules.SAME_REGISTER, rules.INDEXED)
        )
        fusible = measurement.figures.get("macro_fusible")
        record = Record(
            base=base,
            same_register=same_register,
            indexed=indexed,
            latencies=rules.latencies(measurement.latencies),
            fusible=self.fusible.number(fusible) if fusible else 0,
        )
        if known != NO_RECORD:
            record = _overlaid(encoding.decode_record(self.records.text(known)), record, measurement.figures)
        return self.records.number(encoding.encode_record(record))

    def write(self, path: Path) -> None:
        """Writes the tables to a new file."""
        profiles = _Numbering()
        forms: dict[str, list[Variant]] = {}
        for form, variant, records, constructed in self.variants:
            profile = VariantRecords(
                tuple(records.get(position, NO_RECORD) for position in range(len(self.positions))),
                constructed,
            )
            number = profiles.number(encoding.encode_profile(profile))
            forms.setdefault(form, []).append(replace(variant, profile=number))
        connection = sqlite3.connect(path)
        try:
            connection.executescript(
                f"PRAGMA page_size = {_PAGE_SIZE}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                f"PRAGMA application_id = {encoding.APPLICATION_ID};"
                f"PRAGMA user_version = {encoding.SCHEMA_VERSION};" + encoding.SCHEMA
            )
            with connection:
                connection.executemany(
                    "INSERT INTO microarchitectures VALUES (?, ?, ?)",
                    ((p, name, self.record_counts[p]) for name, p in self.positions.items()),
                )
                connection.executemany(
                    "INSERT INTO forms VALUES (?, ?)",
                    ((form, encoding.encode_variants(forms[form])) for form in sorted(forms)),
                )
                for table, numbering in (
                    ("operands", self.operands),
                    ("profiles", profiles),
                    ("records", self.records),
                    ("fusible", self.fusible),
                ):
                    connection.executemany(
                        f"INSERT INTO {table} VALUES (?, ?)",
                        ((number, text) for text, number in numbering.numbers.items()),
                    )
            connection.execute("VACUUM")
        finally:
            connection.close()
        # The header's last field is the version of the sqlite library that wrote the file; it is
        # informational and would make the bytes depend on the machine.
        with path.open("r+b") as file:
            file.seek(96)
            file.write(bytes(4))


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
) -> ImportSummary:
    """Reads the XML ``source`` (plain or xz-compressed) and writes the tables ``target``.

    ``base``: tables to extend; existing variants keep what the source does not state. ``progress`` gets the
    bytes of ``source`` read so far and in total. Raises ``ImportProblem``, or ``TablesUnavailable`` if
    ``base`` is damaged.
    """
    if source.exists() and target.exists() and source.samefile(target):
        raise ImportProblem(f"{source} would be overwritten by its own tables: choose another output file")
    collector = _read(source, progress, base)
    try:
        # Built beside the target, so that the last step is one atomic rename within a file system.
        with tempfile.TemporaryDirectory(prefix=".import-", dir=target.parent) as folder:
            file = Path(folder) / "tables"
            collector.write(file)
            size = file.stat().st_size
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
    )


def _read(source: Path, progress: Callable[[int, int], None] | None, base: FactsStore | None) -> _Collector:
    collector = _Collector()
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
                collector.add(element)
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
