"""Selects the IDQ uops that issue in a cycle, in order (R1 to R4; uiCA model, 3.9)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    HELD_BY_FENCE,
    ISSUE_GROUP,
    NONE,
    REGISTER_MERGE,
    RESOURCE_FULL,
    ROB_FULL,
    RS_FULL,
    SCHEDULERS,
    SERIALIZATION,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues


class IssueGroup:
    """Up to ``issue_width`` fused uops; if there are fewer, it records why."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        resources: Resources,
        entries: Entries,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._idq = queues.idq
        self._issued = queues.issued
        self._rob = queues.rob
        self._shortage = queues.shortage
        self._resources = resources
        self._entries = entries
        self._width = microarchitecture.issue_width

    def start(self) -> None:
        """Reset: nothing has issued."""
        program = self._program
        self.merged_for = NONE
        """First uop of the instruction whose merge uops were issued last."""
        self._restricted = (
            program.holds_issue != 0
            or program.has_joins != 0
            or self._entries.by_uop
            or self._resources.limited
        )
        """Whether anything but the width can end an issue group."""
        self.held = False
        """Nothing was issued, and nothing can be until a uop retires."""

    def stand(self, cycle: int) -> None:
        """Skip a cycle in which nothing is issued because the scheduler or the reorder buffer is full."""
        self._issued.clear()
        if not self._columns.watched:
            return
        if self._idq.count == 0:
            self._starve(cycle)
        elif self._entries.full():
            self._full(cycle)
        else:
            self._wait_for_retirement(cycle, ROB_FULL)

    def select(self, cycle: int) -> None:
        """Fill the issue group of a cycle."""
        program = self._program
        columns = self._columns
        queue = self._idq
        issued = self._issued
        slots = 0
        if self._entries.by_uop:
            self._entries.start_group()
        columns.refuse(cycle, 0, NONE)
        self.held = False
        while slots < self._width:
            if queue.count == 0:
                self._starve(cycle)
                return
            uop = queue.firsts[queue.head]
            idq_uop = queue.seconds[queue.head]
            count = program.q_fused_count[idq_uop]
            needed = count
            if self._restricted:
                if program.u_first[columns.static[uop]] and self._holds(uop, cycle):
                    return
                if columns.shares_slot(uop):
                    needed = 0
            if slots + needed > self._width:
                columns.refuse(cycle, ISSUE_GROUP, uop)
                return
            slots += needed
            if self._restricted and not self._has_room(uop, idq_uop, cycle):
                return
            queue.pop()
            first_fused = program.q_fused0[idq_uop]
            place = issued.count  # it was empty at the beginning of the cycle
            for fused in range(first_fused, first_fused + count):
                size = program.f_uop_count[fused]
                issued.firsts[place] = uop
                issued.seconds[place] = size
                uop += size
                place += 1
            issued.count = place

    def eliminate(self, i: int) -> None:
        """Called when the renamer carries out the move or addition that has just been issued."""
        if self._resources.limited:
            self._resources.eliminate(i)

    def _holds(self, uop: int, cycle: int) -> bool:
        """Whether an instruction cannot issue with those before it: it needs a merge uop first, or it
        serializes."""
        program = self._program
        columns = self._columns
        i = columns.position[uop]
        if program.i_merge_count[i] and self.merged_for != uop:
            # Merge uops issue alone, in a cycle before their instruction (R1).
            if self._issued.count == 0:
                self.merged_for = uop
                first_merge = program.i_merge0[i]
                for merge in range(first_merge, first_merge + program.i_merge_count[i]):
                    static = program.merge_uop[program.merge_key[merge]]
                    self._issued.push(columns.new_uop(columns.instance[uop], i, static), 1)
            columns.refuse(cycle, REGISTER_MERGE, uop)
            return True
        if program.i_serializing[i]:
            for part in range(uop, uop + program.i_uop_count[i]):
                columns.held[part] = HELD_BY_FENCE
            if self._rob.count > 0:
                columns.refuse(cycle, SERIALIZATION, uop)
                self.held = self._issued.count == 0
                return True
        return False

    def _has_room(self, uop: int, idq_uop: int, cycle: int) -> bool:
        """Whether the schedulers and the limited resources have room for the uops of an IDQ uop."""
        program = self._program
        if self._entries.by_uop:
            first = program.q_fused0[idq_uop]
            last = first + program.q_fused_count[idq_uop] - 1
            uops = program.f_uop0[last] + program.f_uop_count[last] - program.f_uop0[first]
            if not self._entries.take(uop, uops):
                self._full(cycle)
                return False
        if self._resources.limited and not self._resources.take(uop, cycle):
            self._wait_for_retirement(cycle, RESOURCE_FULL + self._resources.missing)
            self.held = self._issued.count == 0 and self._resources.comes_with_retirement()
            return False
        return True

    def _starve(self, cycle: int) -> None:
        """Record that slots stay empty because the IDQ is empty."""
        if self._columns.watched:
            self._columns.refuse(cycle, self._shortage.reason, self._shortage.instruction())

    def _full(self, cycle: int) -> None:
        """Record that slots stay empty because a scheduler is full; its oldest uop gets the blame."""
        if self._columns.watched:
            which = SCHEDULERS * (1 + self._entries.lacking) if self._entries.several else 0
            self._columns.refuse(cycle, RS_FULL + which, self._oldest_waiting())

    def _oldest_waiting(self) -> int:
        columns = self._columns
        for place in range(self._rob.count):
            position = (self._rob.head + place) & self._rob.mask
            first = self._rob.firsts[position]
            for uop in range(first, first + self._rob.seconds[position]):
                unit = columns.port[uop]
                if unit >= 0 and columns.dispatched[uop] == UNKNOWN and self._entries.in_the_way(unit):
                    return uop
        # All of them issue in this cycle.
        return self._issued.firsts[self._issued.head]

    def _wait_for_retirement(self, cycle: int, buffer: int) -> None:
        """Record that slots stay empty because a buffer is full that is freed at retirement."""
        if not self._columns.watched:
            return
        columns = self._columns
        uop = columns.unfinished[cycle - 1] if cycle > 0 else NONE
        oldest = self._rob if self._rob.count > 0 else self._idq
        columns.refuse_for_retirement(cycle, buffer, uop, oldest.firsts[oldest.head])
