"""Encodes facts for the tables as short JSON lists; equal values give equal texts.

Trailing fields with default values are left out. The writer (``importer.py``) and the reader (``store.py``)
share this file, so that both directions are in one place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cyclelens.analyzer.model.facts import Figures, Latency, OperandFacts, PortUse
from msgspec import Struct

Fields = list[Any]

SCHEMA_VERSION = 3
"""Raised with every change of the tables; stored as sqlite's ``user_version``."""

APPLICATION_ID = 0x43594C4E
"""Marks the file as ours ("CYLN"); stored as sqlite's ``application_id``."""

SCHEMA = """
CREATE TABLE microarchitectures (position INTEGER PRIMARY KEY, name TEXT NOT NULL, records INTEGER NOT NULL);
CREATE TABLE forms (iform TEXT PRIMARY KEY, variants TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE operands (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE profiles (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE records (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE fusible (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
"""
"""``forms`` lists the variants of a form in the source's order; each refers to its operands and a profile,
which lists one record per microarchitecture. Everything except ``forms`` is stored once and shared."""

NO_RECORD = 0
"""In a profile: the microarchitecture has no figures for the variant. Record numbers start at 1."""

_load = json.JSONDecoder().decode
"""Faster than ``json.loads``, which selects a decoder on every call."""


class Variant(Struct, frozen=True):
    """A variant's own data within its form."""

    name: str
    category: str
    extension: str
    locked: bool
    attributes: Mapping[str, str]
    operands: tuple[int, ...]
    """Numbers in ``operands``."""
    profile: int
    """Number in ``profiles``."""


class Record(Struct, frozen=True):
    """Data of a variant that may differ between microarchitectures."""

    base: Figures
    same_register: Figures
    indexed: Figures
    latencies: Mapping[tuple[int, int], Latency]
    fusible: int
    """Number in ``fusible``; 0 for none."""


class VariantRecords(Struct, frozen=True):
    """The records of a variant, one per microarchitecture, in the tables' order."""

    records: tuple[int, ...]
    """Numbers in ``records``, or ``NO_RECORD``."""
    constructed: int
    """Bit n is set if the record of microarchitecture n is constructed, not measured."""


def _dump(fields: Sequence[Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _trim(fields: Fields) -> Fields:
    """The fields without trailing empty ones (None, 0, "", empty list)."""
    end = len(fields)
    while end and fields[end - 1] in (None, 0, "", []):
        end -= 1
    return fields[:end]


def _trim_none(fields: Fields) -> Fields:
    end = len(fields)
    while end and fields[end - 1] is None:
        end -= 1
    return fields[:end]


def encode_variants(variants: Sequence[Variant]) -> str:
    """Encodes the variants of one form, in order."""
    return _dump(
        [
            [v.name, v.category, v.extension, int(v.locked), dict(v.attributes), list(v.operands), v.profile]
            for v in variants
        ]
    )


def decode_variants(text: str) -> tuple[Variant, ...]:
    """Inverse of ``encode_variants``."""
    return tuple(
        Variant(name, category, extension, bool(locked), attributes, tuple(operands), profile)
        for name, category, extension, locked, attributes, operands, profile in _load(text)
    )


def encode_profile(profile: VariantRecords) -> str:
    """Encodes one profile."""
    return _dump([profile.constructed, *profile.records])


def decode_profile(text: str) -> VariantRecords:
    """Inverse of ``encode_profile``."""
    constructed, *records = _load(text)
    return VariantRecords(tuple(records), constructed)


_ACCESS = ("read", "written", "conditional_write", "suppressed", "implicit", "opmask")


def encode_operand(operand: OperandFacts) -> str:
    """Encodes one operand."""
    access = sum(1 << bit for bit, field in enumerate(_ACCESS) if getattr(operand, field))
    return _dump(
        _trim(
            [
                operand.index,
                operand.name,
                operand.kind,
                access,
                operand.width,
                ",".join(operand.registers),
                operand.base,
                operand.index_register,
                "".join(sorted(operand.flags_read)),
                "".join(sorted(operand.flags_written)),
            ]
        )
    )


def decode_operand(text: str) -> OperandFacts:
    """Inverse of ``encode_operand``."""
    fields: Fields = _load(text)
    fields += [None] * (10 - len(fields))
    index, name, kind, access, width, registers, base, index_register, flags_read, flags_written = fields
    flags = {field: bool((access or 0) >> bit & 1) for bit, field in enumerate(_ACCESS)}
    return OperandFacts(
        index=index,
        name=name,
        kind=kind,
        width=width or 0,
        registers=tuple(registers.split(",")) if registers else (),
        base=base,
        index_register=index_register,
        flags_read=frozenset(flags_read or ""),
        flags_written=frozenset(flags_written or ""),
        **flags,
    )


def _encode_ports(ports: tuple[PortUse, ...] | None) -> str | None:
    return None if ports is None else "+".join(f"{count}*{names}" for names, count in ports)


def _decode_ports(text: str | None) -> tuple[PortUse, ...] | None:
    if not text:
        return None if text is None else ()
    return tuple((names, int(count)) for count, _, names in (part.partition("*") for part in text.split("+")))


def _encode_figures(figures: Figures) -> Fields:
    return _trim_none(
        [
            figures.uops,
            figures.retire_slots,
            figures.mite_uops,
            figures.ms_uops,
            _encode_ports(figures.ports),
            None if figures.complex_decoder is None else int(figures.complex_decoder),
            figures.available_simple_decoders,
            figures.divider_cycles,
            figures.tp,
            figures.throughput,
            figures.published,
        ]
    )


def _decode_figures(fields: Fields) -> Figures:
    fields = fields + [None] * (11 - len(fields))
    uops, retire_slots, mite_uops, ms_uops, ports, complex_decoder, simple_decoders, *times = fields
    divider, tp, throughput, published = times
    return Figures(
        uops=uops,
        retire_slots=retire_slots,
        mite_uops=mite_uops,
        ms_uops=ms_uops,
        complex_decoder=None if complex_decoder is None else bool(complex_decoder),
        available_simple_decoders=simple_decoders,
        ports=_decode_ports(ports),
        divider_cycles=divider,
        tp=tp,
        throughput=throughput,
        published=published,
    )


def encode_record(record: Record) -> str:
    """Encodes one record."""
    latencies = [
        _trim_none(
            [
                start,
                target,
                latency.cycles,
                latency.address,
                latency.address_index,
                latency.memory,
                latency.same_register,
            ]
        )
        for (start, target), latency in record.latencies.items()
    ]
    return _dump(
        _trim(
            [
                _encode_figures(record.base),
                latencies,
                _encode_figures(record.indexed),
                _encode_figures(record.same_register),
                record.fusible,
            ]
        )
    )


def decode_record(text: str) -> Record:
    """Inverse of ``encode_record``."""
    fields: Fields = _load(text)
    fields += [None] * (5 - len(fields))
    base, latencies, indexed, same_register, fusible = fields
    return Record(
        base=_decode_figures(base or []),
        same_register=_decode_figures(same_register or []),
        indexed=_decode_figures(indexed or []),
        latencies={(start, target): Latency(*figures) for start, target, *figures in latencies or []},
        fusible=fusible or 0,
    )
