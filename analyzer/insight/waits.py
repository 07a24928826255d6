"""Reads from a trace what every uop waited for: an input, a port, a full buffer.

Nothing is estimated, and no pipeline rule is repeated: the stages recorded each value's producer and each
wait's cause; a buffer's occupancy follows from the events of all uops.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.simulation import Input, Scheduling, Trace, TraceRow
from msgspec import Struct
from msgspec.structs import replace

_LEAST_ROUNDS = 3
_SLOTS_TAKEN = ("", "issue group")
"""Refusals in a cycle whose usable issue slots were all taken."""


class Wait(Struct, frozen=True):
    """Cycles between two events of a uop, with their cause."""

    begin: int
    end: int
    """Exclusive."""
    cause: str
    """Key of ``Vocabulary.waits``."""
    uop: int | None = None
    """Row of the uop that it waited for; rows of ``Trace.later`` are numbered after the others."""
    value: str = ""
    """Register, flag group, port, buffer or register file."""


class ValueEdge(Struct, frozen=True):
    """A value passed from one uop to another, as row numbers."""

    producer: int
    consumer: int


class Occupancy(Struct, frozen=True):
    """Occupancy of a buffer: instructions in the IQ, front-end uops in the IDQ, unfused uops in a
    scheduler, fused uops in the ROB."""

    buffer: Buffer
    counts: tuple[int, ...]
    """Entries at the start of every cycle."""


class Timeline(Struct, frozen=True):
    """A trace with its explanations, limited to the requested rounds."""

    rows: tuple[TraceRow, ...]
    inputs: tuple[tuple[Input, ...], ...]
    waits: tuple[tuple[Wait, ...], ...]
    chain: frozenset[ValueEdge]
    """The critical chain as it was executed."""
    ports: Mapping[str, Mapping[int, int]]
    """Port -> cycle -> row dispatched to it, including ``later`` rows."""
    occupancy: tuple[Occupancy, ...]
    later: Mapping[int, TraceRow]
    """Rows outside ``rows`` that one of them waited for or that a port took."""

    @property
    def cycles(self) -> int:
        """Cycles until the last row has retired."""
        ends = (row.retired for row in self.rows if row.retired is not None)
        return max(ends, default=-1) + 1

    def row(self, number: int) -> TraceRow:
        """The row with a number from a wait or an input."""
        return self.rows[number] if number < len(self.rows) else self.later[number]


def timeline(prediction: Prediction, most_rows: int | None = None) -> Timeline:
    """The first rounds of a prediction with everything that their uops waited for.

    Includes as many rounds as fit in ``most_rows`` rows, but at least three; by default all. Raises
    ValueError if the simulation was run without a trace.
    """
    trace = prediction.simulation.trace
    if trace is None:
        raise ValueError("the simulation was run without a trace")
    rows = trace.rows
    if most_rows is not None and len(rows) > most_rows:
        end = max(rows[most_rows].round, _LEAST_ROUNDS)
        rows = rows[: bisect_left(rows, end, key=lambda row: row.round)]
    history = _TraceIndex(prediction, trace)
    inputs = trace.inputs[: len(rows)]
    waits = tuple(tuple(history.waits(number)) for number in range(len(rows)))
    last = max(
        (cycle for row in rows for cycle in (row.retired, row.dispatched) if cycle is not None), default=-1
    )
    ports = {
        port: {cycle: row for cycle, row in cycles.items() if cycle <= last}
        for port, cycles in history.ports.items()
    }
    named = {wait.uop for group in waits for wait in group if wait.uop is not None}
    named.update(row for cycles in ports.values() for row in cycles.values())
    return Timeline(
        rows=rows,
        inputs=inputs,
        waits=waits,
        chain=_chain(prediction, rows, inputs),
        ports=ports,
        occupancy=tuple(history.occupancy(last + 1)),
        later={number: history.rows[number] for number in sorted(named) if number >= len(rows)},
    )


def _chain(
    prediction: Prediction, rows: Sequence[TraceRow], inputs: Sequence[Sequence[Input]]
) -> frozenset[ValueEdge]:
    """Edges of the critical chain, and edges within its instructions that lead to it."""
    critical = {
        (edge.producer, edge.consumer, edge.value, edge.carried)
        for edge in dependencies(prediction).edges
        if edge.critical
    }
    edges: set[ValueEdge] = set()
    on_chain: set[int] = set()
    for number, read in enumerate(inputs):
        row = rows[number]
        for value in read:
            if value.producer >= len(rows):
                continue
            other = rows[value.producer]
            step = (other.instruction, row.instruction, value.value, other.round < row.round)
            if step in critical or (not value.value and value.producer in on_chain):
                edges.add(ValueEdge(value.producer, number))
                on_chain.add(number)
    return frozenset(edges)


class _TraceIndex:
    """Index over all uops of a trace: buffers and ports at any cycle."""

    def __init__(self, prediction: Prediction, trace: Trace) -> None:
        self.model = registry.get(prediction.microarchitecture)
        self.rows = trace.rows + trace.later
        self.inputs = trace.inputs or ((),) * len(trace.rows)
        self.scheduling = trace.scheduling or (Scheduling(),) * len(trace.rows)
        self.refusals = trace.refusals
        self.unfinished = trace.unfinished
        self.buffers = trace.buffers
        self.never = trace.cycles
        """Stands for the cycle of events that never happened."""
        self.ports: dict[str, dict[int, int]] = {port: {} for port in self.model.units.names}
        schedulers = self.model.schedulers
        self.scheduler_of = {
            port: schedulers[number].buffer
            for port, number in zip(self.model.units.names, self.model.scheduler_of_units, strict=True)
            if len(schedulers) > 1
        }
        """Scheduler of each port, on cores with several schedulers."""
        self.groups: list[int] = []
        """First row of every issued fused uop."""
        self.group_of: list[int] = []
        """Row -> index in ``groups``."""
        self._read()
        self.issued = [self.rows[first].issued or 0 for first in self.groups]
        self.retired = [self._time(self.rows[first].retired) for first in self.groups]
        self.in_scheduler = [
            number
            for number, row in enumerate(self.rows)
            if row.port and row.port != "elim" and row.issued is not None
        ]
        self.entered = [self.rows[number].issued or 0 for number in self.in_scheduler]
        dispatched = [self._time(self.rows[number].dispatched) for number in self.in_scheduler]
        self.left = sorted(dispatched)

    def _time(self, cycle: int | None) -> int:
        return self.never if cycle is None else cycle

    def _read(self) -> None:
        previous: tuple[int, int, str, int, int] | None = None
        for number, row in enumerate(self.rows):
            key = (row.round, row.instruction, row.kind, row.idq_uop, row.fused_uop)
            if row.issued is not None and (key != previous or row.kind != "uop"):
                self.groups.append(number)
                previous = key
            self.group_of.append(len(self.groups) - 1)
            if row.dispatched is not None and row.port in self.ports:
                self.ports[row.port][row.dispatched] = number

    # -- buffers ---------------------------------------------------------------------------------------------

    def in_rob(self, cycle: int) -> int:
        """Fused uops in the reorder buffer at the start of a cycle."""
        return bisect_left(self.issued, cycle) - bisect_left(self.retired, cycle)

    def in_rs(self, cycle: int) -> int:
        """Uops in the scheduler at the start of a cycle."""
        return bisect_left(self.entered, cycle) - bisect_left(self.left, cycle)

    def occupancy(self, cycles: int) -> Iterator[Occupancy]:
        """Occupancy of all buffers up to a cycle; unused queues are left out."""
        queue, idq = [0] * (cycles + 1), [0] * (cycles + 1)

        def stay(counts: list[int], begin: int | None, end: int | None) -> None:
            if begin is not None and begin + 1 <= cycles:
                counts[begin + 1] += 1
                counts[min(self._time(end) + 1, cycles)] -= 1

        instance: tuple[int, int] | None = None
        for row in self.rows:
            if row.kind != "merge" and (row.round, row.instruction) != instance:
                instance = (row.round, row.instruction)
                stay(queue, row.predecoded, row.removed_from_iq)
            if row.kind == "sync" or (row.kind == "uop" and row.fused_uop == 0 and row.uop == 0):
                stay(idq, row.added_to_idq, row.issued)
        span = range(cycles)
        for buffer in self.buffers:
            match buffer.name:
                case "IQ":
                    if any(queue):
                        yield Occupancy(buffer, tuple(accumulate(queue[:cycles])))
                case "IDQ":
                    if any(idq):
                        yield Occupancy(buffer, tuple(accumulate(idq[:cycles])))
                case "RS":
                    yield Occupancy(buffer, tuple(map(self.in_rs, span)))
                case "ROB":
                    yield Occupancy(buffer, tuple(map(self.in_rob, span)))
                case name:
                    if counts := self._in_one_of_several(name, span):
                        yield Occupancy(buffer, counts)

    def _in_one_of_several(self, scheduler: str, span: range) -> tuple[int, ...]:
        """Uops per cycle in one of several schedulers; empty if the code never uses it."""
        own = [
            number
            for number in self.in_scheduler
            if self.scheduler_of.get(self.rows[number].port) == scheduler
        ]
        entered = [self.rows[number].issued or 0 for number in own]
        left = sorted(self._time(self.rows[number].dispatched) for number in own)
        return tuple(bisect_left(entered, cycle) - bisect_left(left, cycle) for cycle in span) if own else ()

    # -- waiting ---------------------------------------------------------------------------------------------

    def waits(self, number: int) -> Iterator[Wait]:
        """What a row waited for, in order of time. Cycles without a wait are skipped."""
        row = self.rows[number]
        if row.issued is None:  # such as the second half of a fused pair
            return
        taken = row.removed_from_iq or 0
        if row.predecoded is not None and row.predecoded < taken:
            yield Wait(row.predecoded, taken, "decode")
        if row.added_to_idq is not None:
            yield from self._before_issue(row.added_to_idq + 1, row.issued)
        elif self.group_of[number]:
            # The LSD keeps its uops in the IDQ, so the wait starts when this uop became the next one.
            since = self.issued[self.group_of[number] - 1] + 1
            yield from (wait for wait in self._before_issue(since, row.issued) if wait.cause == "full")
        if row.ready is not None:
            yield from self._before_ready(number, row.issued, row.ready)
            if row.dispatched is not None:
                yield from self._before_dispatch(number, row.ready, row.dispatched)
                if row.executed is not None:
                    yield from self._in_execution(number, row.dispatched, row.executed)
        if row.executed is not None and row.retired is not None:
            yield from self._before_retirement(row.executed + 1, row.retired)

    def _before_issue(self, begin: int, end: int) -> Iterator[Wait]:
        """Merges cycles with the same cause into one wait, which names the uop that was in the way last."""
        wait: Wait | None = None
        for cycle in range(begin, end):
            cause, uop, value = self._unissued(cycle)
            if wait is not None and (wait.cause, wait.value) == (cause, value):
                wait = replace(wait, end=cycle + 1, uop=uop)
            else:
                if wait is not None:
                    yield wait
                wait = Wait(cycle, cycle + 1, cause, uop, value)
        if wait is not None:
            yield wait

    def _unissued(self, cycle: int) -> tuple[str, int | None, str]:
        """Why a uop in the IDQ was not issued in a cycle: (cause, row, value)."""
        refusal = self.refusals[cycle]
        if refusal.full:
            return "full", refusal.uop, refusal.what
        if refusal.what not in _SLOTS_TAKEN:
            return "renamer", None, ""
        return "slots", self.groups[bisect_left(self.issued, cycle + 1) - 1], ""

    def _before_ready(self, number: int, issued: int, ready: int) -> Iterator[Wait]:
        recorded = self.scheduling[number]
        begin = ready if recorded.allowed is None else min(recorded.allowed, ready)
        yield Wait(issued, begin, "delay")
        if recorded.last is not None and recorded.inputs_ready is not None:
            last = self.inputs[number][recorded.last]
            end = min(recorded.inputs_ready, ready)
            if end > begin:
                yield Wait(begin, end, "input", last.producer, last.value)
                begin = end
        if ready > begin and recorded.held:
            yield Wait(begin, ready, recorded.held)

    def _before_dispatch(self, number: int, ready: int, dispatched: int) -> Iterator[Wait]:
        """The wait for a port or the divider; names the uop that was in the way last."""
        recorded = self.scheduling[number]
        if dispatched > ready:
            value = "" if recorded.queued == "divider" else self.rows[number].port
            yield Wait(ready, dispatched, recorded.queued, recorded.behind, value)

    def _in_execution(self, number: int, dispatched: int, executed: int) -> Iterator[Wait]:
        stores = [value for value in self.inputs[number] if value.value == "memory"]
        begin = dispatched
        for store in stores:
            known = min(self._time(store.ready), executed)
            if known > dispatched:
                yield Wait(dispatched, known, "store", store.producer, "memory")
                begin = known
        yield Wait(begin, executed, "execution")

    def _before_retirement(self, begin: int, retired: int) -> Iterator[Wait]:
        """Waits for unfinished older uops, then for the retirement width."""
        end = retired
        while end > begin and self.unfinished[end - 1] is None:
            end -= 1
        if end > begin:
            yield Wait(begin, end, "order", self.unfinished[end - 1])
        if retired > max(begin, end):
            yield Wait(max(begin, end), retired, "width")
