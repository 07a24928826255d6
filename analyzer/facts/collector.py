"""Collects the records of instruction variants and writes them as tables.

The same input gives the same bytes: no time stamps, a fixed page size, numbers in the source's order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from cyclelens.analyzer.facts import (
    encoding,
    golden_cove,
    occupancy,
    published,
    rules,
    zen,
    zen1,
    zen3,
    zen4,
    zen5,
)
from cyclelens.analyzer.facts.encoding import NO_RECORD, Record, Variant, VariantRecords
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import Latency, OperandFacts
from msgspec import Struct
from msgspec.structs import asdict, replace

_PAGE_SIZE = 4096


class DescribedMeasurement(Struct, frozen=True):
    """One core's measurement of a variant, with the attributes of uops.info's schema."""

    microarchitecture: str
    figures: Mapping[str, str]
    latencies: Sequence[Mapping[str, str]]
    """One for each pair of operands (``start_op``, ``target_op``)."""


class DescribedVariant(Struct, frozen=True):
    """A variant and its measurements."""

    attributes: Mapping[str, str]
    """``string`` (its name), ``iform``, ``category`` and so on, as in uops.info's schema."""
    operands: Sequence[OperandFacts]
    measurements: Sequence[DescribedMeasurement]
    fusible: str = ""
    """The branches that fuse with it, where measured."""


def _lacks_units(measurement: DescribedMeasurement) -> bool:
    """Whether a measurement says nothing of units, and no rule completes it."""
    figures = measurement.figures
    return (
        figures.get("provenance") in rules.COMPLETE
        and not {"uops", "ports"} & set(figures)
        and not zen.is_zen(measurement.microarchitecture)
    )


def completed(
    measurement: DescribedMeasurement, variant: zen.VariantDescription, *, locked: bool, is_new: bool
) -> golden_cove.VariantMeasurement:
    """The measurement with what its core's rules add.

    ``is_new``: the tables have no record; units that the measurement does not state are then constructed as
    for published figures. Raises ValueError if a figure is not a number."""
    name, operands, microarchitecture = variant.name, variant.operands, measurement.microarchitecture
    figures, nodes = dict(measurement.figures), measurement.latencies
    is_complete = figures.get("provenance") in rules.COMPLETE
    is_zen = zen.is_zen(microarchitecture)
    if is_complete and is_zen and is_new and not {"uops", "ports"} & set(figures):
        stated = {"uops": figures.get("uops_retire_slots", "1"), "TP_ports": figures.get("TP_loop", "")}
        constructed = zen.completed(stated | figures, variant, microarchitecture, zero_latencies=False)
        figures = constructed | {"provenance": "constructed"}
    elif is_complete:
        if is_zen and "TP_loop" in figures:
            figures["throughput"] = figures["TP_loop"]
    elif is_zen:
        if microarchitecture == zen1.NAME:
            figures = zen1.corrected(name, figures)
        figures = zen.completed(
            figures,
            variant,
            microarchitecture,
            zero_latencies=_all_zero(nodes),
            chain=zen.implicit_chain(list(nodes), operands),
        ) | {"provenance": "constructed"}
        if microarchitecture == zen3.NAME:
            figures = zen3.corrected(name, figures)
        elif microarchitecture == zen4.NAME:
            figures = zen4.corrected(name, figures)
    elif microarchitecture == zen5.NAME:
        figures = zen5.completed(figures, name=name, locked=locked, operands=operands)
    else:
        figures = occupancy.with_throughput(name, figures, microarchitecture)
    if not is_complete:
        figures |= published.attribute(measurement.figures)
    latencies = [zen5.best_latency(node) for node in nodes]
    if microarchitecture == zen5.NAME:
        latencies += zen5.added_latencies(name, latencies)
    if microarchitecture == zen1.NAME:
        latencies = [zen1.corrected_latency(name, each) for each in latencies]
    elif microarchitecture == zen3.NAME:
        latencies = [zen3.corrected_latency(name, each) for each in latencies]
    elif microarchitecture == zen4.NAME:
        latencies = [zen4.corrected_latency(name, each) for each in latencies]
        latencies += zen4.added_latencies(name, operands)
    if not is_complete:
        latencies = [
            zen.measured_latency(each, microarchitecture=microarchitecture, name=name, operands=operands)
            for each in latencies
        ]
    return golden_cove.VariantMeasurement(figures, latencies)


def _all_zero(latencies: Sequence[Mapping[str, str]]) -> bool:
    """True if the results do not depend on the inputs when all registers are the same."""
    cycles = [node.get("cycles_same_reg") for node in latencies]
    return any(cycles) and all(each in (None, "0") for each in cycles)


def _of_immediate_zero(instruction: DescribedVariant) -> DescribedVariant | None:
    """The variant with the immediate 0, for the core that executes it differently; None if none does."""
    name = instruction.attributes.get("string", "")
    for each in instruction.measurements:
        if each.microarchitecture != zen4.NAME or each.figures.get("provenance") in rules.COMPLETE:
            continue
        found = zen4.of_lowest_lane(name, each.figures, each.latencies)
        if found is not None:
            special, figures, latencies = found
            measurement = DescribedMeasurement(zen4.NAME, figures, latencies)
            attributes = {**instruction.attributes, "string": special, "immzero": "1"}
            return DescribedVariant(attributes, instruction.operands, [measurement], instruction.fusible)
    return None


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
    if "TP_loop" in stated:
        figures["base"] = replace(figures["base"], published=None)
    latencies = dict(old.latencies)
    for pair, latency in new.latencies.items():
        before = latencies.get(pair, Latency())
        found = {name: cycles for name, cycles in asdict(latency).items() if cycles is not None}
        latencies[pair] = replace(before, **found)
    fusible = new.fusible if "macro_fusible" in stated else old.fusible
    return replace(old, **figures, latencies=latencies, fusible=fusible)


class Collector:
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
        self.without_units: list[str] = []
        """Measurements that were left out: of forms without a record, and without units."""

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

    def add(self, instruction: DescribedVariant) -> None:
        """Adds one variant, unless it has no measurements, and what the immediate 0 makes of it where that
        was measured apart. Raises ValueError."""
        # The first record that fits counts.
        if (special := _of_immediate_zero(instruction)) is not None:
            self._add(special)
        self._add(instruction)

    def _add(self, instruction: DescribedVariant) -> None:
        name, iform = instruction.attributes.get("string"), instruction.attributes.get("iform")
        if not name or not iform:
            raise ValueError("an instruction without a name or form")
        category = instruction.attributes.get("category", "")
        locked = instruction.attributes.get("locked") == "1"
        operands = instruction.operands
        known = self._known.get(name)
        records: dict[int, int] = {}
        constructed = 0
        if known is not None:
            records, constructed = self.variants[known][2:]
        described = zen.VariantDescription(name, category, operands, instruction.fusible)
        measured: dict[str, golden_cove.VariantMeasurement] = {}
        for each in instruction.measurements:
            if each.microarchitecture in measured:
                continue  # the first measurement counts, as everywhere in the file
            is_new = self.positions.get(each.microarchitecture) not in records
            if is_new and _lacks_units(each):
                self.without_units.append(f"{name} on {each.microarchitecture}")
                continue
            measured[each.microarchitecture] = completed(each, described, locked=locked, is_new=is_new)
        measured |= golden_cove.derived(measured, name=name, category=category, operands=operands)
        self.measured += bool(measured)
        for microarchitecture, measurement in measured.items():
            position = self.positions.setdefault(microarchitecture, len(self.positions))
            if position == len(self.record_counts):
                self.record_counts.append(0)
            self.record_counts[position] += position not in records
            records[position] = self._record(
                measurement, described, locked, microarchitecture, records.get(position, NO_RECORD)
            )
            if measurement.figures.get("provenance") in ("constructed", rules.UNITS_INFERRED):
                constructed |= 1 << position
            elif known is None or "ports" in measurement.figures:  # otherwise the units are unchanged
                constructed &= ~(1 << position)
        if known is not None:
            self.variants[known] = (*self.variants[known][:3], constructed)
            return
        if not records:
            return
        attributes = instruction.attributes
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
        variant: zen.VariantDescription,
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
                name=variant.name,
                category=variant.category,
                locked=locked,
                microarchitecture=microarchitecture,
            )
            for suffix in (rules.BASE, rules.SAME_REGISTER, rules.INDEXED)
        )
        fusible = measurement.figures.get("macro_fusible")
        latencies = rules.latencies(measurement.latencies)
        beyond = published.beyond_units(measurement.figures, base, variant, latencies, microarchitecture)
        record = Record(
            base=base if beyond is None else replace(base, published=beyond),
            same_register=same_register,
            indexed=indexed,
            latencies=latencies,
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
