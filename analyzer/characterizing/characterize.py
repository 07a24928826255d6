"""Measures all properties of instruction variants on one machine."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.characterizing.divisions import Divisions, divides
from cyclelens.analyzer.characterizing.front_end import NOTHING, FrontEnd, FrontEnds
from cyclelens.analyzer.characterizing.gathers import Gathers
from cyclelens.analyzer.characterizing.idioms import Idiom, idiom, with_one_register
from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.latency import Latencies, MeasuredLatency, Pair
from cyclelens.analyzer.characterizing.links import BASE
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun
from cyclelens.analyzer.characterizing.ports import (
    LOAD,
    STORE,
    Blockers,
    UnitNames,
    pool,
    seen,
    stated,
    usage,
)
from cyclelens.analyzer.characterizing.throughput import SLOW, throughput
from cyclelens.analyzer.characterizing.unit_times import UnitTimes
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from msgspec import Struct, field
from msgspec.structs import replace

_AS_SLOW = 0.25
"""Cycles; a chain not slower than independent instances by this much shows throughput, not latency."""


_REMOVED = 0.95
"""Most uops of a move that the renamer eliminates as far as it has room; with more, it has units."""
_TOO_SLOW = f"more than {SLOW} cycles: only throughput was measured"
_NOT_COUNTED = "uops are not counted on this machine"


class VariantRow(Struct, frozen=True):
    """Results for one variant. A figure that could not be determined has a problem instead."""

    facts: InstructionFacts
    """Name, form and operands from the schema. Its figures serve only for comparison."""
    problem: str = ""
    """Why nothing was measured."""
    cycles: float | None = None
    """Throughput in cycles; for a division, with values of few digits."""
    most_cycles: float | None = None
    """Throughput of a division in cycles, with values of many digits."""
    uops: float | None = None
    front_end: FrontEnd = NOTHING
    latencies: Mapping[Pair, MeasuredLatency] = field(default_factory=dict)
    ports: Mapping[UnitNames, int] | None = None
    ports_problem: str = ""
    same_register: RepeatedRun | None = None
    """Run of an instance that uses one register for all operands."""
    idiom: Idiom | None = None


class Characterizer:
    """Characterizes variants on one machine, one after the other.

    ``model``: the core whose tables give the schema and whose store units are known.
    """

    def __init__(self, machine: Machine, store: FactsStore, model: Microarchitecture) -> None:
        self._machine, self._store = machine, store
        self._matcher = Matcher(model.facts_name)
        self._latencies, self._front_ends = Latencies(machine), FrontEnds(machine)
        self._divisions = Divisions(machine, self._latencies.links)
        self._gathers = Gathers(machine, self._latencies.links)
        self._blockers: Blockers | None = None
        self._times: dict[bool, UnitTimes] = {}
        self._load: int | None = None
        self._model = model

    def row(self, facts: InstructionFacts, described: Matcher | None = None) -> VariantRow:
        """All figures that can be determined for a variant.

        ``described``: matcher of the core that describes the variant, if the tables of this one lack it."""
        found = variant(facts, described or self._matcher, self._store)
        if isinstance(found, str):
            return VariantRow(facts, problem=found)
        if divides(found):
            return self._division(found)
        run = throughput(self._machine, found)
        if isinstance(run, str):
            return VariantRow(facts, problem=run)
        if run.cycles > SLOW:
            return VariantRow(facts, cycles=run.cycles, uops=run.uops, ports_problem=_TOO_SLOW)
        every = self._every_latency(found)
        latencies = {pair: _bounded(latency, run.cycles) for pair, latency in every.items()}
        same = with_one_register(self._machine, found)
        row = VariantRow(
            facts,
            cycles=run.cycles,
            uops=run.uops,
            latencies=latencies,
            front_end=self._front_ends.of(found),
            same_register=same,
            idiom=None if found.prepared else idiom(found, latencies, run, same),
        )
        return self._with_ports(row, found)

    def _with_ports(self, row: VariantRow, found: EncodableVariant) -> VariantRow:
        """The row with units, and, if uops are not counted, with the uops that these units execute."""
        slots = row.front_end.slots
        if row.idiom is Idiom.ELIMINATED and (row.uops or 0.0) < _REMOVED:
            return replace(row, ports={}, uops=row.uops or 0.0)
        if row.uops is not None:
            ports = usage(self._machine, found, self._known_blockers(), row.uops)
        elif slots is None:
            return replace(row, ports_problem=_NOT_COUNTED)
        else:
            times = self._unit_times(sse=found.sse)
            only_loads = self._load is not None and _load_latency(row.latencies) == self._load
            ports = times.usage(found, slots, row.cycles or 0.0, only_loads=only_loads)
        if isinstance(ports, str):
            return replace(row, ports_problem=ports)
        return replace(row, ports=ports, uops=sum(ports.values()) if row.uops is None else row.uops)

    def _unit_times(self, *, sse: bool) -> UnitTimes:
        """Figures for blocks of known instructions, with legacy SSE or with AVX.

        The first time, also finds the latency of a load into a general register, which has one uop."""
        if not self._times:
            load = next(each for each in pool(self._store, self._model.facts_name) if each.name == LOAD)
            made = variant(load, self._matcher, self._store)
            self._load = None if isinstance(made, str) else _load_latency(self._latencies.of(made))
        if sse not in self._times:
            # A unit of branches takes nothing that is characterized.
            units = frozenset(each.name for each in self._model.units.all if each.roles != {Role.BRANCH})
            width = self._front_ends.width() or 0.0
            known = self._known_blockers().ascending(sse=sse)
            self._times[sse] = UnitTimes(self._machine, known, units, width)
        return self._times[sse]

    def _every_latency(self, found: EncodableVariant) -> Mapping[Pair, MeasuredLatency]:
        if found.pointers:  # chains do not lead through implicit memory operands
            return {}
        return self._gathers.latencies(found) if found.index_width else self._latencies.of(found)

    def _division(self, found: EncodableVariant) -> VariantRow:
        few, many = (self._divisions.throughput(found, many=each) for each in (False, True))
        if isinstance(few, str):
            return VariantRow(found.facts, problem=few)
        row = VariantRow(
            found.facts,
            cycles=few.cycles,
            most_cycles=None if isinstance(many, str) else many.cycles,
            latencies=self._divisions.latencies(found),
        )
        counted = throughput(self._machine, found)
        if isinstance(counted, str) or counted.uops is None:
            return replace(row, ports_problem=_NOT_COUNTED)
        return self._with_ports(replace(row, uops=counted.uops), found)

    def _known_blockers(self) -> Blockers:
        """Instructions that block units; computed once."""
        if self._blockers is None:
            self._blockers = Blockers()
            for facts in pool(self._store, self._model.facts_name):
                other = variant(facts, self._matcher, self._store)
                alone = other if isinstance(other, str) else throughput(self._machine, other)
                if isinstance(other, str) or isinstance(alone, str):
                    continue
                if facts.name == STORE:
                    self._blockers.offer_stores(other, self._model)
                elif alone.uops is not None:
                    self._blockers.offer(other, alone, seen(alone))
                else:
                    # The tables tell which units; the throughput confirms their number.
                    self._blockers.offer(other, replace(alone, uops=1.0), stated(facts, self._model))
        return self._blockers


def _load_latency(latencies: Mapping[Pair, MeasuredLatency]) -> int | None:
    """Latency from address to the only destination; None if there are several, or only a bound is known."""
    found = [each for (_, _, part), each in latencies.items() if part == BASE]
    return found[0].cycles if len(found) == 1 and not found[0].upper_bound else None


def _bounded(latency: MeasuredLatency, cycles: float) -> MeasuredLatency:
    if not latency.cycles or cycles < latency.cycles - _AS_SLOW:
        return latency
    return replace(latency, upper_bound=True)
