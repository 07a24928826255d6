"""Enumerates a core's values with their sources, and derives the confidence in its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.picture import roles
from cyclelens.analyzer.model.microarchitecture import (
    IDENTITY,
    UNLIMITED,
    Microarchitecture,
    TargetDependency,
)
from cyclelens.analyzer.model.provenance import Certainty, Source
from cyclelens.analyzer.model.units import Divider, Scheduler, Unit, Units, UnitSet
from msgspec import Struct

if TYPE_CHECKING:
    from typing import Any

OPTIONAL = "out-of-order resources (optional)"
MISPREDICTION = "mispredicted branches"
_SECTIONS = {
    "instruction_queue_size": "front end",
    "issue_width": "renamer",
    "reorder_buffer_size": "back end",
    "load_buffer_size": OPTIONAL,
    "misprediction_penalty": MISPREDICTION,
    "macro_ops": "macro-ops",
}
"""First field of each section, in the order of ``Microarchitecture``."""
_NOT_COUNTED = (OPTIONAL, MISPREDICTION)
_DOUBTFUL = (Certainty.INFERRED, Certainty.ASSUMED, Certainty.UNRECORDED)
_TOLERATED = 10
"""One in this many values may be doubtful before the core's figures count as approximate."""


class Value(Struct, frozen=True):
    """One value of a core."""

    section: str
    name: str
    """A field of ``Microarchitecture``, or a part of one after a dot."""
    text: str
    source: Source


def values(core: Microarchitecture) -> Iterator[Value]:
    """All values of a core, including unused ones; limits that it does not have are left out."""
    for section, name, value in _each(core):
        yield Value(section, name, _text(value), core.sources.of(name))


def _each(core: Microarchitecture) -> Iterator[tuple[str, str, Any]]:
    """(section, name, value) of all values."""
    section = ""
    for field in core.__struct_fields__:
        section = _SECTIONS.get(field, section)
        if field not in IDENTITY:
            for name, value in _below(field, getattr(core, field)):
                yield section, name, value


@cache
def confidence(name: str) -> str:
    """A note on every figure of this core if more than one in ten of its values are neither measured nor
    published; otherwise empty.

    Unused values, the optional resources and the penalty of a misprediction, which no simulation uses, do not
    count.
    """
    core = registry.get(name)
    every = [
        core.sources.of(name).certainty for section, name, _ in _each(core) if section not in _NOT_COUNTED
    ]
    counted = [certainty for certainty in every if certainty is not Certainty.UNUSED]
    doubtful: Counter[Certainty] = Counter(certainty for certainty in counted if certainty in _DOUBTFUL)
    if doubtful.total() * _TOLERATED <= len(counted):
        return ""
    parts = " and ".join(f"{doubtful[each]} {each}" for each in _DOUBTFUL if doubtful[each])
    return (
        f"approximate: {parts} of the {len(counted)} values that describe {core.title} "
        f"(cyclelens arch show {core.name} lists them)"
    )


def _below(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value, or its parts, each with its name."""
    if value is None or (value == () and name == "schedulers"):
        return
    if isinstance(value, Units):
        for unit in value.all:
            yield from _below(f"{name}.{unit.name}", unit)
    elif isinstance(value, Struct) and not isinstance(value, Unit | UnitSet | Divider | Scheduler):
        for each in value.__struct_fields__:
            yield from _below(f"{name}.{each}", getattr(value, each))
    else:
        yield name, value


def _text(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return "unlimited" if value >= UNLIMITED else str(value)
        case Unit():
            return roles(value)
        case Divider():
            return " ".join(value.units) + (f" through {value.through}" if value.through else "")
        case Scheduler():
            return f"{value.name} {value.entries}"
        case TargetDependency():
            return f"{value.records} {value.cycles}"
        case UnitSet():
            return value.label or "none"
        case Mapping():
            return ", ".join(f"{key}: {each}" for key, each in value.items()) or "none"
        case tuple():
            numbers = all(isinstance(each, int) for each in value)
            return (" " if numbers else "; ").join(map(_text, value)) or "none"
        case _:
            return str(value) or "none"
