"""Sets of units in the notation of the instruction tables, for tests that build templates by hand."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import NO_UNITS, UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import UopTemplate


def unit_set(text: str, name: str = "SKL") -> UnitSet:
    """The units of one set: ``0156``; none for an empty text."""
    return registry.get(name).units.use(text, 1).units if text else NO_UNITS


def unit_uses(*uses: tuple[str, int], name: str = "SKL") -> tuple[UnitUse, ...]:
    """The units of an instruction, from sets and the number of uops that need one of each."""
    return tuple(registry.get(name).units.use(text, uops) for text, uops in uses)


def texts(uses: Sequence[UnitUse]) -> tuple[tuple[str, int], ...]:
    """The notation of sets, as ``unit_set`` reads it."""
    return tuple((use.units.text, use.uops) for use in uses)


def uops_on(*sets: str, name: str = "SKL") -> list[UopTemplate]:
    """A uop per set, of the kind that the set implies; an empty set makes a uop without a unit."""
    uops = []
    for text in sets:
        kind = registry.get(name).units.use(text, 1).kind if text else UopKind.EMPTY
        uops.append(UopTemplate(kind, unit_set(text, name)))
    return uops
