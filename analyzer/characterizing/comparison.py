"""What was found out beside what the tables say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclelens.analyzer.characterizing.characterize import Row
from cyclelens.analyzer.characterizing.ports import UnitNames
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind

_REMOVED = 0.95
"""Uops of a move that is removed some of the time."""


@dataclass(slots=True)
class Score:
    """How many figures are equal to those of the tables."""

    equal: int = 0
    different: int = 0
    bounds: int = 0
    """Upper bounds, which tell no more than that the table's figure is not larger."""

    def __str__(self) -> str:
        count = self.equal + self.different
        share = f", {self.equal / count:.1%}" if count else ""
        return f"{self.equal} of {count}{share}" + (f"; {self.bounds} upper bounds" if self.bounds else "")


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that is not that of the tables."""

    name: str
    what: str
    found: str
    table: str


class Comparison:
    """Scores and differences over many rows."""

    def __init__(self, model: Microarchitecture) -> None:
        self._model = model
        self.latencies, self.uops, self.ports = Score(), Score(), Score()
        self.differences: list[Difference] = []

    def add(self, row: Row) -> None:
        """Compare a row; what was not found out, or is not in the tables, does not count."""
        self.differences += self._of(row)

    def _of(self, row: Row) -> Iterator[Difference]:
        facts = row.facts
        for pair, found in row.latencies.items():
            known = facts.latencies.get(pair)
            if found.cycles is None or known is None or known.cycles is None:
                continue
            if found.cycles == known.cycles:
                self.latencies.equal += 1
            elif found.upper_bound and found.cycles > known.cycles:
                self.latencies.bounds += 1
            else:
                self.latencies.different += 1
                what = f"latency {pair[0]} -> {pair[1]}"
                yield Difference(facts.name, what, str(found.cycles), str(known.cycles))
        table = table_ports(facts, self._model)
        if table is None:
            return
        count = sum(table.values())
        if row.uops is not None:
            if count == 0 and row.uops < _REMOVED:
                self.uops.bounds += 1
            elif abs(row.uops - count) < 0.05:
                self.uops.equal += 1
            else:
                self.uops.different += 1
                yield Difference(facts.name, "uops", f"{row.uops:.2f}", str(count))
        if row.ports is not None:
            if dict(row.ports) == table:
                self.ports.equal += 1
            else:
                self.ports.different += 1
                yield Difference(facts.name, "ports", text(row.ports), text(table))


def table_ports(facts: InstructionFacts, model: Microarchitecture) -> dict[UnitNames, int] | None:
    """The units of the tables; None where they say nothing."""
    if facts.base.ports is None:
        return None
    found: dict[UnitNames, int] = {}
    for name, count in facts.base.ports:
        use = model.units.use(name, count)
        if use.kind is not UopKind.EMPTY:
            units = frozenset(use.units.names)
            found[units] = found.get(units, 0) + count
    return found


def text(ports: object) -> str:
    """``1*p0156+2*p5``, as uops.info writes it."""
    assert isinstance(ports, dict)
    parts = sorted((len(units), "".join(sorted(units)), count) for units, count in ports.items())
    return "+".join(f"{count}*p{units}" for _, units, count in parts) or "0"
