"""All that is found out about variants on one machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cyclelens.analyzer.characterizing.instances import Variant, variant
from cyclelens.analyzer.characterizing.latency import Latencies, Measured
from cyclelens.analyzer.characterizing.machines import Machine, Run
from cyclelens.analyzer.characterizing.ports import Blockers, UnitNames, seen, usage
from cyclelens.analyzer.characterizing.throughput import throughput
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts

_AS_SLOW = 0.25
"""Cycles: a chain no slower than independent instances shows their throughput, not a latency."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one variant. What could not be found out has a problem instead of a figure."""

    facts: InstructionFacts
    """Of the schema: name, form and operands. Its figures are not used, but may be compared with."""
    problem: str = ""
    """Why nothing was measured."""
    cycles: float | None = None
    """Of throughput."""
    uops: float | None = None
    latencies: Mapping[tuple[int, int], Measured] = field(default_factory=dict)
    ports: Mapping[UnitNames, int] | None = None
    ports_problem: str = ""


def characterize(
    machine: Machine,
    store: FactsStore,
    microarchitecture: str,
    wanted: Iterable[InstructionFacts],
    pool: Iterable[InstructionFacts] = (),
) -> Iterator[Row]:
    """A row for every wanted variant, in the order given. Two passes: the first finds instructions that block
    units, also among ``pool``, the second uses them. ``microarchitecture``: whose tables give the schema."""
    matcher = Matcher(microarchitecture)
    latencies, blockers = Latencies(machine), Blockers()
    made: list[tuple[Variant, Run, Row] | Row] = []
    for facts in pool:
        other = variant(facts, matcher, store)
        seen_alone = other if isinstance(other, str) else throughput(machine, other)
        if not isinstance(other, str) and not isinstance(seen_alone, str):
            blockers.offer(other, seen_alone, seen(seen_alone))
    for facts in wanted:
        found = variant(facts, matcher, store)
        run = found if isinstance(found, str) else throughput(machine, found)
        if isinstance(found, str) or isinstance(run, str):
            made.append(Row(facts, problem=run if isinstance(run, str) else ""))
            continue
        blockers.offer(found, run, seen(run))
        known = {pair: _bounded(latency, run.cycles) for pair, latency in latencies.of(found).items()}
        made.append((found, run, Row(facts, "", run.cycles, run.uops, known)))
    for each in made:
        if isinstance(each, Row):
            yield each
            continue
        found, run, row = each
        if run.uops is None:
            yield replace(row, ports_problem="uops are not counted on this machine")
            continue
        ports = usage(machine, found, blockers, run.uops)
        yield replace(row, ports_problem=ports) if isinstance(ports, str) else replace(row, ports=ports)


def _bounded(latency: Measured, cycles: float) -> Measured:
    if latency.cycles is None or latency.cycles <= 1 or cycles < latency.cycles - _AS_SLOW:
        return latency
    return replace(latency, upper_bound=True)
