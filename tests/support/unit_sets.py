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
    """What an instruction needs, from sets and how many uops need one of each."""
    return tuple(registry.get(name).units.use(text, uops) for text, uops in uses)


def texts(uses: Sequence[UnitUse]) -> tuple[tuple[str, int], ...]:
    """The other way round."""
    return tuple((use.units.text, use.uops) for use in uses)


def uops_on(*sets: str, name: str = "SKL") -> list[UopTemplate]:
    """A uop for each set, of the kind that the set tells; an empty one is a uop without a unit."""
    uops = []
    for text in sets:
        kind = registry.get(name).units.use(text, 1).kind if text else UopKind.EMPTY
        uops.append(UopTemplate(kind, unit_set(text, name)))
    return uops
