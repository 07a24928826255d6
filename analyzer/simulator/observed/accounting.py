"""Accounts for every issue slot: used by a uop, or lost, and for what reason.

The renamer offers ``issue_width`` slots in every cycle. Uops issue in order, so each empty slot has one uop
that should have taken it, the next one, and one reason. The stages record both when they refuse (the columns
``refusal`` and ``refused_by``); this file sums them up after the run. For a full buffer it also follows the
chain of waits: from the buffer's uop to the one that this waited for, and so on. The stages recorded the
waits as well (``held``, ``queued``, ``last_input``, ``late_by``). This file only decides which of a uop's
waits made it late: the longest.
"""

from __future__ import annotations

from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import ints, minus_ones
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    HELD_BY_DIVIDER,
    HELD_BY_FENCE,
    HELD_BY_UNIT,
    ISSUE_GROUP,
    LOAD,
    NONE,
    QUEUED_FOR_DIVIDER,
    REFUSALS,
    RETIRING,
    RS_FULL,
    SCHEDULERS,
)

_BUFFERS = REFUSALS[RS_FULL:]
_REASONS = ("dependency", "port", "divider", "unit", "fence", "retirement")
_CAUSES = (
    *(Cause(Area.FRONT_END, what) for what in REFUSALS[1:ISSUE_GROUP]),
    *(Cause(Area.RENAMER, what) for what in REFUSALS[ISSUE_GROUP:RS_FULL]),
    *(Cause(Area.BACK_END, buffer, why) for buffer in _BUFFERS for why in _REASONS),
)
"""All causes: those of the front end and of the renamer in the order of ``REFUSALS``, then for each buffer
one per reason for which its oldest uop may be late. A core with several schedulers has as many further
causes for each of them."""
_CAUSE_COUNT = len(_CAUSES)
_DEPENDENCY, _PORT, _DIVIDER, _UNIT, _FENCE, _RETIREMENT = range(6)
_REASON_COUNT = 6

_SATURATED = 95
"""A port counts as always busy if it takes a uop in this percentage of cycles."""


class Accounting:
    """The slot records of one run."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        self._columns = columns
        self._program = columns.program
        self._width = microarchitecture.issue_width
        instructions = self._program.instructions
        self.used = ints(instructions)
        """Slots used, by instruction."""
        self.lost = ints((_CAUSE_COUNT + _REASON_COUNT * len(microarchitecture.schedulers)) * instructions)
        """Slots lost, by cause and the instruction to blame: cause * instructions + instruction."""
        self._heads = ints(self._program.all_uops)
        """Whether a uop is the first of a fused one."""
        for fused in range(self._program.all_fused_uops):
            self._heads[self._program.f_uop0[fused]] = 1
        self._taken = ints(0)
        """Slots used, by cycle."""
        self.busy = ints(MOST_UNITS)
        """Whether a port takes a uop in nearly every cycle."""
        # Answers found before, by instance.
        self._why = minus_ones(columns.instances)
        self._whom = ints(columns.instances)
        self._seen = minus_ones(instructions)

    def tally(self, begin: int, end: int) -> int:
        """Account for the slots of the cycles after ``begin`` up to ``end``; returns their number."""
        self._taken = ints(end - begin)
        self._count_uops(begin, end)
        slots = 0
        for cycle in range(begin + 1, end + 1):
            taken = self._taken[cycle - begin - 1]
            slots += max(taken, self._width)
            if taken < self._width:
                self.lost[self._cause(cycle)] += self._width - taken
        return slots

    def _count_uops(self, begin: int, end: int) -> None:
        """Count the used slots, and find the busy ports."""
        columns = self._columns
        for uop in range(columns.uops):
            if (
                begin < columns.issued[uop] <= end
                and self._heads[columns.static[uop]]
                and not columns.shares_slot(uop)
            ):
                self.used[columns.position[uop]] += 1
                self._taken[columns.issued[uop] - begin - 1] += 1
            if columns.port[uop] >= 0 and begin < columns.dispatched[uop] <= end:
                self.busy[columns.port[uop]] += 1
        for port in range(MOST_UNITS):
            self.busy[port] = 100 * self.busy[port] >= _SATURATED * (end - begin)

    def _cause(self, cycle: int) -> int:
        """Why slots of a cycle stayed empty and which instruction is to blame, as an index of ``lost``."""
        columns = self._columns
        refusal = columns.refusal[cycle] % RETIRING
        scheduler = columns.refusal[cycle] // SCHEDULERS
        by = columns.refused_by[cycle]
        if refusal < ISSUE_GROUP:
            return self._lost(refusal - 1, by)
        if refusal < RS_FULL:
            return self._lost(refusal - 1, columns.position[by])
        buffer = RS_FULL - 1 + (refusal - RS_FULL) * _REASON_COUNT
        if columns.refusal[cycle] & RETIRING:
            return self._lost(buffer + _RETIREMENT, columns.position[by])
        if scheduler:
            buffer = _CAUSE_COUNT + (scheduler - 1) * _REASON_COUNT
        return self._reason(buffer, by)

    def _lost(self, cause: int, instruction: int) -> int:
        return cause * self._program.instructions + instruction

    def _reason(self, buffer: int, uop: int) -> int:
        """Why a uop is late, and because of which instruction. Follows the longest waits from uop to uop
        until one had to wait for its port, or the chain closes."""
        instance = self._columns.instance[uop]
        if self._why[instance] == NONE:
            self._trace_back(uop)
        return self._lost(buffer + self._why[instance], self._whom[instance])

    def _trace_back(self, origin: int) -> None:
        columns = self._columns
        answer = columns.instance[origin]
        uop = origin
        slowest = NONE
        slowest_instruction = columns.position[origin]
        why = NONE
        while why == NONE:
            i = columns.position[uop]
            held = columns.held[uop]
            if held == HELD_BY_FENCE:
                why = _FENCE
                break
            ready = columns.ready[uop]
            waited = columns.dispatched[uop] - ready
            latency = columns.executed[uop] - columns.dispatched[uop]
            blocked = ready - columns.allowed[uop]
            if waited > max(latency, blocked) or (waited > 0 and self.busy[columns.port[uop]]):
                why = _DIVIDER if columns.queued[uop] == QUEUED_FOR_DIVIDER else _PORT
                break
            if latency > slowest or (latency == slowest and i > slowest_instruction):
                slowest = latency
                slowest_instruction = i
            producer = self._producer(uop)
            if held == HELD_BY_UNIT or held == HELD_BY_DIVIDER:  # noqa: SIM109 - a tuple would be made
                why = _UNIT if held == HELD_BY_UNIT else _DIVIDER
                break
            if producer == NONE:
                why = _DEPENDENCY
                i = slowest_instruction
                break
            if columns.instance[producer] != columns.instance[uop]:
                self._seen[i] = answer
                if self._seen[columns.position[producer]] == answer:
                    why = _DEPENDENCY
                    i = slowest_instruction
                    break
            uop = producer
        self._why[answer] = why
        self._whom[answer] = i

    def _producer(self, uop: int) -> int:
        """The uop that a uop waited for longest: the store that made a load late after its dispatch, or else
        the producer of the last input. NONE if it waited for none."""
        columns = self._columns
        if self._program.u_kind[columns.static[uop]] == LOAD and columns.late_by[uop] != NONE:
            return columns.late_by[uop]
        last = columns.last_input[uop]
        return NONE if last == NONE else columns.value_uop[columns.input_value[last]]


def account_of(
    columns: Columns, microarchitecture: Microarchitecture, begin: int, end: int, rounds: int
) -> Account:
    """The account of the cycles after ``begin`` up to ``end``, which issue ``rounds`` iterations. All uops
    issued by then have retired."""
    accounting = Accounting(columns, microarchitecture)
    slots = accounting.tally(begin, end)
    count = columns.program.instructions
    causes = (
        *_CAUSES,
        *(
            Cause(Area.BACK_END, scheduler.buffer, why)
            for scheduler in microarchitecture.schedulers
            for why in _REASONS
        ),
    )
    lost = {
        (causes[place // count], place % count): slots for place, slots in enumerate(accounting.lost) if slots
    }
    used = tuple(accounting.used[i] for i in range(count))
    return Account(microarchitecture.issue_width, rounds, slots, used, lost)
