"""Compares measured rows with the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.characterizing.characterize import VariantRow
from cyclelens.analyzer.characterizing.front_end import FrontEnd
from cyclelens.analyzer.characterizing.idioms import Idiom
from cyclelens.analyzer.characterizing.latency import MeasuredLatency, Pair
from cyclelens.analyzer.characterizing.ports import UnitNames, linear_program, table_ports, text
from cyclelens.analyzer.characterizing.truth import SimulatedLatencies
from cyclelens.analyzer.model.facts import NOPS, InstructionFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from msgspec import Struct

_CLOSE = 0.05
_REMOVED = 0.95
"""Most uops of a move that is eliminated some of the time."""


class Score(Struct):
    """Counts of figures that equal those of the tables."""

    equal: int = 0
    different: int = 0
    bounds: int = 0
    """Upper bounds, which show only that the table's figure is not larger."""
    apart: int = 0
    """Figures that follow the simulator's own rules rather than the tables."""

    def __str__(self) -> str:
        count = self.equal + self.different
        share = f", {self.equal / count:.1%}" if count else ""
        bounds = f"; {self.bounds} upper bounds" if self.bounds else ""
        apart = f"; {self.apart} by the simulator's own rules" if self.apart else ""
        return f"{self.equal} of {count}{share}{bounds}{apart}"


class TableDifference(Struct, frozen=True):
    """One figure that differs from the tables."""

    name: str
    what: str
    found: str
    table: str


class TableComparison:
    """Scores and differences over many rows.

    ``simulated``: the latencies of the simulated core, if the machine is a simulator."""

    def __init__(self, model: Microarchitecture, simulated: SimulatedLatencies | None = None) -> None:
        self._model = model
        self._simulated = simulated
        self.latencies, self.uops, self.ports, self.throughput = Score(), Score(), Score(), Score()
        self.same_register = Score()
        self.slots, self.decoders, self.jumps = Score(), Score(), Score()
        self.differences: list[TableDifference] = []

    def add(self, row: VariantRow) -> None:
        """Compare a row; figures missing from the row or the tables do not count."""
        self.differences += self._of(row)

    def _of(self, row: VariantRow) -> Iterator[TableDifference]:
        facts = row.facts
        for pair, found in row.latencies.items():
            known = table_latency(facts, pair)
            if found.cycles is None or known is None:
                continue
            if found.cycles == known:
                self.latencies.equal += 1
            elif self._simulated is not None and self._explained(facts, pair, found):
                self.latencies.apart += 1
            elif found.upper_bound and found.cycles > known:
                self.latencies.bounds += 1
            else:
                self.latencies.different += 1
                what = f"latency {pair[0]} -> {pair[1]} {pair[2]}".rstrip()
                yield TableDifference(facts.name, what, str(found.cycles), str(known))
        table = table_ports(facts, self._model)
        if table is not None and row.uops is not None:
            yield from self._uops(facts, row.uops, sum(table.values()))
        yield from self._front_end(facts, row.front_end)
        if table is not None and row.ports is not None:
            yield from scored(self.ports, facts, "ports", text(row.ports), text(table))
        executed = _executed_with_one_register(row)
        if executed is not None and facts.same_register.uops is not None:
            known = facts.same_register.uops
            yield from scored(self.same_register, facts, "uops, one register", executed, known)
        expected = None if table is None else table_throughput(facts, table, self._model)
        if expected and row.cycles is not None:
            close = abs(row.cycles - expected) <= _CLOSE * expected
            measured = f"{row.cycles:.2f}"
            allowed = measured if close else f"{expected:.2f}"
            yield from scored(self.throughput, facts, "throughput", measured, allowed)

    def _explained(self, facts: InstructionFacts, pair: Pair, found: MeasuredLatency) -> bool:
        """Whether the simulator's own rules explain the figure, or the latency passes through memory."""
        assert self._simulated is not None
        numbers = {each.index for each in facts.operands if each.kind == "mem"}
        own = self._simulated.of(facts, pair)
        if own is None:
            return not numbers.isdisjoint(pair[:2])
        return found.cycles == own or (found.upper_bound and found.cycles is not None and found.cycles > own)

    def _front_end(self, facts: InstructionFacts, found: FrontEnd) -> Iterator[TableDifference]:
        base = facts.base
        yield from self._decoding(facts, found)
        if found.slots is None:
            return
        if base.retire_slots is not None:
            yield from scored(self.slots, facts, "slots", found.slots, base.retire_slots)
        indexed = facts.indexed.retire_slots
        if found.indexed_slots is not None and indexed is not None:
            yield from scored(self.slots, facts, "slots, indexed", found.indexed_slots, indexed)
        if any(each.kind == "flags" and each.flags_written for each in facts.operands):
            fusible = {name.partition(" ")[0] for name in facts.macro_fusible_with}
            jumps = (" ".join(sorted(each)) or "none" for each in (found.fuses_with or (), fusible))
            yield from scored(self.jumps, facts, "jumps that fuse", *jumps)

    def _decoding(self, facts: InstructionFacts, found: FrontEnd) -> Iterator[TableDifference]:
        """Decoders, and where uops come from.

        Microcode takes the first decoder alone, as in the simulator."""
        base = facts.base
        if found.microcode is not None:
            measured = f"{found.decoded} and {found.microcode} of microcode"
            known = f"{base.mite_uops} and {base.ms_uops} of microcode"
            if found.microcode or base.ms_uops:
                yield from scored(self.decoders, facts, "uops delivered", measured, known)
        if found.complex_decoder is not None and base.complex_decoder is not None:
            beside = 0 if base.ms_uops else base.available_simple_decoders
            one = f"one, {found.simple_decoders} beside" if found.complex_decoder else "any"
            other = f"one, {beside} beside" if base.complex_decoder or base.ms_uops else "any"
            yield from scored(self.decoders, facts, "decoders", one, other)

    def _uops(self, facts: InstructionFacts, found: float, known: int) -> Iterator[TableDifference]:
        if known == 0 and found < _REMOVED:
            self.uops.bounds += 1
        elif abs(found - known) < 0.05:
            self.uops.equal += 1
        else:
            yield from scored(self.uops, facts, "uops", f"{found:.2f}", known)


def _executed_with_one_register(row: VariantRow) -> int | None:
    """Uops of an instance that uses one register for all operands; None if unknown."""
    if row.idiom is Idiom.ZERO:
        return 0
    if row.same_register is None or row.same_register.uops is None:
        return None
    return round(row.same_register.uops)


def scored(
    score: Score, facts: InstructionFacts, what: str, found: object, known: object
) -> Iterator[TableDifference]:
    """Count a figure as equal or different; yields the difference, if any."""
    if found == known:
        score.equal += 1
    else:
        score.different += 1
        yield TableDifference(facts.name, what, str(found), str(known))


def table_latency(facts: InstructionFacts, pair: Pair) -> int | None:
    """Latency in the tables, in cycles; None if they have none."""
    source, target, part = pair
    known = facts.latencies.get((source, target))
    return None if known is None else getattr(known, part or "cycles")


def table_throughput(
    facts: InstructionFacts, ports: Mapping[UnitNames, int], model: Microarchitecture
) -> float | None:
    """Throughput in cycles per instance, by the linear program of section 5.3.2 of the paper.

    It covers the units of the tables, the divider and the issue width. Where a NOP shares the slot of the
    instruction before it, so do two NOPs."""
    divider = facts.base.divider_cycles or 0
    slots = (facts.base.retire_slots or 0) / model.issue_width
    if facts.category in NOPS and model.macro_ops is not None and model.macro_ops.fuses_nops:
        slots /= 2
    return max(linear_program(ports), divider, slots, facts.base.tp or 0) or None
