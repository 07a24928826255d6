"""What becomes of every issue slot: used by a uop, or lost, and to what.

The renamer offers ``issue_width`` slots in every cycle. Uops are issued in order, so each slot that stays
empty has one uop that should have taken it: the next one. If that uop was not in the IDQ yet, the front end
lost the slot; if it was, the back end had no room for it or a rule of the renamer held it back. All of it is
read off the events of one simulation, so that the parts add up to the whole exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from cyclelens.analyzer.bounds.dependencies import dependency_graph
from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import Simulation, TraceRow
from cyclelens.analyzer.model.uops import Block, InstructionTemplate
from cyclelens.analyzer.simulator.pipeline import simulate

_BUFFERS_FILLED = 4
"""How often a run could fill the reorder buffer: the first half of it, in which the buffers fill up because
uops are issued faster than they retire, is not looked at."""

_SATURATED = 0.95


def account(
    block: Block,
    microarchitecture: Microarchitecture,
    *,
    options: ModelOptions = PUBLISHED,
    cancel: Callable[[], bool] | None = None,
) -> Account:
    """Simulates a block for long enough that uops are issued as fast as they retire, and accounts for it.

    Raises ``Cancelled`` when ``cancel`` turns true.
    """
    rounds = rounds_to_settle(block, microarchitecture)
    simulation = simulate(
        block, microarchitecture, min_rounds=rounds, trace=True, options=options, cancel=cancel
    )
    return account_of(block, microarchitecture, simulation)


def rounds_to_settle(block: Block, microarchitecture: Microarchitecture) -> int:
    """Iterations after which uops are issued as fast as they retire, in the second half of them."""
    uops = sum(len(template.fused_uops) for template in block.instructions)
    return max(10, ceil(_BUFFERS_FILLED * microarchitecture.reorder_buffer_size / max(1, uops)))


def account_of(block: Block, microarchitecture: Microarchitecture, simulation: Simulation) -> Account:
    """The account of a simulation. Raises ValueError if it was run without a trace."""
    if simulation.trace is None:
        raise ValueError("the simulation was run without a trace")
    history = _History(block, microarchitecture, simulation.trace.rows)
    first, last = simulation.first_round, simulation.last_round
    if first == last:
        # A run so long that only one round counts: all that came before belongs to it.
        return _tally(history, 0, history.end_of(last), last + 1)
    return _tally(history, history.end_of(first), history.end_of(last), last - first)


@dataclass(slots=True)
class _Issue:
    """A fused uop."""

    row: TraceRow
    cycle: int
    available: int
    """First cycle in which it could be issued as far as the front end is concerned."""
    source: str


class _History:
    """The trace as a sequence of fused uops, with what was in flight at any time."""

    def __init__(self, block: Block, microarchitecture: Microarchitecture, rows: Sequence[TraceRow]) -> None:
        self.block = block
        self.model = microarchitecture
        self.issues: list[_Issue] = []
        self._never = 1 + max(
            (cycle for row in rows for cycle in row[7:15] if isinstance(cycle, int)), default=0
        )
        self._retired: list[int] = []
        self._scheduled: list[tuple[int, TraceRow]] = []
        """Uops that enter the scheduler, with the number of their fused uop."""
        self._instances: defaultdict[tuple[int, int], list[TraceRow]] = defaultdict(list)
        """The uops that enter the scheduler by round and instruction."""
        self._predecoded: dict[tuple[int, int], int] = {}
        self._read(rows)
        self._scheduled_at = [number for number, _ in self._scheduled]
        self._dispatched = sorted(self._time(row.dispatched) for _, row in self._scheduled)
        self._oldest_waiting = 0
        self._saturated = self._busy_ports()
        lengths = [template.instruction.length for template in block.instructions]
        self._starts = [0, *accumulate(lengths)]
        graph = dependency_graph(block, microarchitecture)
        self._producers: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        """For every instruction those whose results it reads, and how many rounds earlier they ran."""
        for edge in graph.edges:
            start, end = graph.nodes[edge.start].instruction, graph.nodes[edge.end].instruction
            self._producers[end].add((start, edge.delay))
        self._reasons: dict[tuple[int, int], tuple[str, int]] = {}
        self._has_jcc = block.loop and any(template.jcc_erratum for template in block.instructions)

    def _busy_ports(self) -> frozenset[str]:
        """Ports that take a uop in nearly every cycle of the second half of the run."""
        middle = self._never // 2
        dispatched = Counter(row.port for _, row in self._scheduled if self._time(row.dispatched) >= middle)
        least = _SATURATED * (self._never - middle)
        return frozenset(port for port, uops in dispatched.items() if uops >= least)

    def _time(self, cycle: int | None) -> int:
        return self._never if cycle is None else cycle

    def _read(self, rows: Sequence[TraceRow]) -> None:
        previous: tuple[int, int, str, int, int] | None = None
        for row in rows:
            if row.kind != "merge":
                self._predecoded[row.round, row.instruction] = self._time(row.predecoded)
            if row.kind == "fused":
                continue
            key = (row.round, row.instruction, row.kind, row.idq_uop, row.fused_uop)
            # Merge and synchronisation uops are fused uops of their own.
            if key != previous or row.kind != "uop":
                available = self._never if row.added_to_idq is None else row.added_to_idq + 1
                self.issues.append(_Issue(row, self._time(row.issued), available, row.source))
                self._retired.append(self._time(row.retired))
                previous = key
            if row.port and row.port != "elim":
                self._scheduled.append((len(self.issues) - 1, row))
                self._instances[row.round, row.instruction].append(row)
        # What is put in front of an instruction comes with it.
        for number in range(len(self.issues) - 2, -1, -1):
            issue, following = self.issues[number], self.issues[number + 1]
            if issue.row.kind == "merge":
                issue.available = following.available
            if issue.row.kind in ("merge", "sync"):
                issue.source = following.source

    def end_of(self, round_number: int) -> int:
        """Number of fused uops up to the end of a round."""
        return bisect_left(self.issues, round_number + 1, key=lambda issue: issue.row.round)

    def cause(self, number: int, cycle: int, issued: int) -> tuple[Cause, int]:
        """Why a fused uop was not issued in a cycle in which ``issued`` others were, and the instruction
        that is to blame."""
        issue = self.issues[number]
        own = issue.row.instruction
        if issue.available > cycle:
            what, blamed = self._front_end(number, cycle)
            return Cause(Area.FRONT_END, what), blamed
        if issued:
            return Cause(Area.RENAMER, self._held_back(number, cycle)), own
        width = self.model.issue_width
        in_rob = number - bisect_left(self._retired, cycle)
        in_rs = bisect_left(self._scheduled_at, number) - bisect_left(self._dispatched, cycle)
        if in_rs + width > self.model.reservation_station_size:
            why, blamed = self._reason(self._waiting(cycle))
            return Cause(Area.BACK_END, "RS", why), blamed
        if in_rob + width > self.model.reorder_buffer_size:
            why, blamed = self._unretired(cycle)
            return Cause(Area.BACK_END, "ROB", why), blamed
        return Cause(Area.RENAMER, self._held_back(number, cycle)), own

    def _held_back(self, number: int, cycle: int) -> str:
        issue = self.issues[number]
        before = self.issues[number - 1].row
        if issue.row.kind == "merge" or (before.kind == "merge" and before.issued == cycle):
            return "register merge"
        if self.block.instructions[issue.row.instruction].serializing:
            return "serialization"
        return "issue group"

    def _front_end(self, number: int, cycle: int) -> tuple[str, int]:
        """Which part of the front end was late, and because of which instruction."""
        issue = self.issues[number]
        before = self.issues[number - 1] if number else issue
        row = issue.row
        own = row.instruction
        if issue.source == "LSD":
            return "LSD", own
        if issue.source == "MS":
            same = before.row[:2] == row[:2] and before.source == "MS"
            return "MS" if same else "MS switch", own
        if issue.source == "DSB":
            if before.source == "MS":
                return "MS switch", before.row.instruction
            return "DSB switch" if before.source == "MITE" else "DSB", own
        if before.source == "MS" and cycle <= before.available + self.model.mite_to_ms_stall:
            return "MS switch", before.row.instruction
        if self._has_jcc:
            jumps = [i for i, template in enumerate(self.block.instructions) if template.jcc_erratum]
            return "JCC erratum", min(jumps, key=lambda jump: abs(jump - own))
        instances = [(row.round, own)]
        if self.block.instructions[own].macro_fusible:
            # It is decoded only once the decoders have seen what follows it.
            last = own + 1 == len(self.block.instructions)
            instances.append((row.round + 1, 0) if last else (row.round, own + 1))
        predecoded = max(self._predecoded.get(instance, 0) for instance in instances)
        if predecoded + self.model.predecode_to_decode_delay < cycle:
            return "decoder", own
        for instance in instances:
            prefixed = self._prefix_near(*instance)
            if prefixed is not None:
                return "LCP", prefixed
        return "predecoder", own

    def _prefix_near(self, round_number: int, instruction: int) -> int | None:
        """The instruction whose length-changing prefix is in a 16-byte piece that this one lies in."""
        size = self.model.predecode_block_bytes
        base = self.block.alignment + (0 if self.block.loop else round_number * self._starts[-1])
        begin = base + self._starts[instruction]
        end = base + self._starts[instruction + 1] - 1
        pieces = range(begin // size, end // size + 1)
        # Without a loop the neighbouring rounds lie in the same piece.
        shifts = (0,) if self.block.loop else (0, -self._starts[-1], self._starts[-1])
        for position, template in enumerate(self.block.instructions):
            if template.length_changing_prefix:
                opcode = base + self._starts[position] + template.instruction.opcode_offset
                if any((opcode + shift) // size in pieces for shift in shifts):
                    return position
        return None

    def _waiting(self, cycle: int) -> TraceRow:
        """The oldest uop in the scheduler."""
        # Uops that have left never come back, and cycles are asked for in order.
        while self._time(self._scheduled[self._oldest_waiting][1].dispatched) < cycle:
            self._oldest_waiting += 1
        return self._scheduled[self._oldest_waiting][1]

    def _unretired(self, cycle: int) -> tuple[str, int]:
        """What the oldest fused uop of the reorder buffer waits for."""
        number = bisect_left(self._retired, cycle)
        begin, end = (bisect_left(self._scheduled_at, number + offset) for offset in (0, 1))
        rows = [row for _, row in self._scheduled[begin:end]]
        own = self.issues[number].row.instruction
        just_retired = number - bisect_left(self._retired, cycle - 1)
        if not rows or (just_retired == self.model.retire_width and self._last(rows) < cycle):
            return "retirement", own
        return self._reason(max(rows, key=lambda row: self._time(row.executed)))

    def _last(self, rows: Sequence[TraceRow]) -> int:
        return max(self._time(row.executed) for row in rows)

    def _reason(self, row: TraceRow) -> tuple[str, int]:
        """Why a uop is late, and because of which instruction: goes from the uop to the one that it waited
        for longest, and so on, until one had to wait for its port, or the way comes round."""
        origin = (row.round, row.instruction)
        if origin not in self._reasons:
            self._reasons[origin] = self._trace_back(row)
        return self._reasons[origin]

    def _trace_back(self, row: TraceRow) -> tuple[str, int]:
        seen: set[int] = set()
        slowest = (-1, row.instruction)
        while True:
            template = self.block.instructions[row.instruction]
            if template.load_serializing or template.store_serializing or template.serializing:
                return "fence", row.instruction
            ready = self._time(row.ready)
            waited = self._time(row.dispatched) - ready
            latency = self._time(row.executed) - self._time(row.dispatched)
            # How long it was in the scheduler before it was ready.
            blocked = ready - self._time(row.issued) - self.model.issue_to_dispatch_delay
            if waited > max(latency, blocked) or (waited > 0 and row.port in self._saturated):
                return "divider" if _divides(template, row) else "port", row.instruction
            slowest = max(slowest, (latency, row.instruction))
            producer = self._producer(row)
            last = self._never if producer is None else self._time(producer.executed)
            if template.tp is not None and blocked > 0 and last != ready:
                # Its inputs were there: the unit was still busy with the same instruction of before.
                return "divider" if template.divider_cycles else "unit", row.instruction
            if producer is None:
                return "dependency", slowest[1]
            if producer[:2] != row[:2]:
                seen.add(row.instruction)
                if producer.instruction in seen:
                    return "dependency", slowest[1]
            row = producer

    def _producer(self, row: TraceRow) -> TraceRow | None:
        """The uop that finished last of those that this one may have waited for."""
        candidates = [
            other
            for other in self._instances[row.round, row.instruction]
            if other.uop < row.uop or (other.idq_uop, other.fused_uop) < (row.idq_uop, row.fused_uop)
        ]
        for instruction, delay in self._producers[row.instruction]:
            candidates += self._instances.get((row.round - delay, instruction), [])[-1:]
        ready = self._time(row.ready)
        return max(
            (other for other in candidates if self._time(other.executed) <= ready and other != row),
            key=lambda other: (self._time(other.executed), other.round, other.instruction),
            default=None,
        )


def _divides(template: InstructionTemplate, row: TraceRow) -> bool:
    """Whether it is the uop that occupies the divider."""
    if row.kind != "uop":
        return False
    fused = sum(template.idq_uops[: row.idq_uop]) + row.fused_uop
    return template.uops[sum(template.fused_uops[:fused]) + row.uop].divider_cycles > 0


def _tally(history: _History, begin: int, end: int, rounds: int) -> Account:
    """The slots behind fused uop ``begin - 1`` up to fused uop ``end - 1``."""
    width = history.model.issue_width
    used = [0] * len(history.block.instructions)
    lost: defaultdict[tuple[Cause, int], int] = defaultdict(int)
    cycle, taken = -1, width
    if begin:
        cycle = history.issues[begin - 1].cycle
        taken = begin - bisect_left(history.issues, cycle, hi=begin, key=lambda issue: issue.cycle)
    slots = 0
    for number in range(begin, end):
        issue = history.issues[number]
        while cycle < issue.cycle:
            if taken < width:
                lost[history.cause(number, cycle, taken)] += width - taken
                slots += width - taken
            cycle += 1
            taken = 0
        used[issue.row.instruction] += 1
        taken += 1
        slots += 1
    return Account(width, rounds, slots, tuple(used), dict(lost))
