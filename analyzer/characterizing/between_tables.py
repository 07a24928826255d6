"""Compares two instruction tables: agreement by class of variants, and all differences.

The method is that of section 7 of the uops.info paper (Abel and Reineke, 2019) for IACA: units are compared
only where the numbers of uops are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cyclelens.analyzer.characterizing.comparison import Score, TableDifference, scored
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import Figures, InstructionFacts, Latency
from msgspec import Struct


class CoreRecords(Struct, frozen=True):
    """The records of one microarchitecture."""

    store: FactsStore
    microarchitecture: str

    def records(self) -> dict[str, InstructionFacts]:
        """Records by name of the variant."""
        return {
            facts.name: facts
            for form in self.store.forms()
            for facts in self.store.candidates(self.microarchitecture, form)
        }


class Agreement:
    """Scores of one class of variants."""

    def __init__(self) -> None:
        self.variants = 0
        self.uops, self.ports, self.latencies = Score(), Score(), Score()


def compare(one: CoreRecords, other: CoreRecords) -> tuple[dict[str, Agreement], list[TableDifference]]:
    """Agreement by class, and every difference (``found``: of the first table).

    Only figures that both tables have are compared."""
    theirs = other.records()
    classes: dict[str, Agreement] = {}
    differences: list[TableDifference] = []
    for name, facts in one.records().items():
        known = theirs.get(name)
        if known is None:
            continue
        agreement = classes.setdefault(_class(facts), Agreement())
        agreement.variants += 1
        differences += _differences(facts, known, agreement)
    return dict(sorted(classes.items())), differences


def _class(facts: InstructionFacts) -> str:
    memory = [each for each in facts.operands if each.kind == "mem"]
    if facts.locked:
        return "locked"
    if any(each.written for each in memory):
        return "stores"
    masked = ", masked" if facts.attributes.get("mask") == "1" else ""
    return ("loads" if memory else "registers") + masked


def _differences(
    one: InstructionFacts, other: InstructionFacts, agreement: Agreement
) -> Iterator[TableDifference]:
    mine, theirs = one.base, other.base
    if mine.uops and theirs.uops:
        yield from scored(agreement.uops, one, "uops", mine.uops, theirs.uops)
        if mine.uops == theirs.uops and mine.ports and theirs.ports:
            yield from scored(agreement.ports, one, "ports", _ports(mine), _ports(theirs))
    for pair in sorted(one.latencies.keys() & other.latencies.keys()):
        for part, cycles, known in _parts(one.latencies[pair], other.latencies[pair]):
            what = f"latency {pair[0]} -> {pair[1]} {part}".rstrip()
            yield from scored(agreement.latencies, one, what, str(cycles), str(known))


def _parts(one: Latency, other: Latency) -> Iterable[tuple[str, int, int]]:
    for part in ("cycles", "address", "address_index", "memory", "same_register"):
        cycles, known = getattr(one, part), getattr(other, part)
        if cycles is not None and known is not None:
            yield part.replace("cycles", ""), cycles, known


def _ports(figures: Figures) -> str:
    return "+".join(f"{count}*{units}" for units, count in sorted(figures.ports or ()))
