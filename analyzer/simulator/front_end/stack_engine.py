"""Entry into the IDQ, and the stack engine, which tracks RSP there: RSP changes by PUSH and POP need no
uops, except sometimes one that synchronises (E1 to E5; uiCA model, 3.8)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import LSD, NONE, STACK_ENGINE
from cyclelens.analyzer.simulator.tables.queues import Queues

_NO_LIMIT = 1 << 30


class StackEngine:
    """Moves delivered IDQ uops into the IDQ; tracks the offset between its RSP and the renamed one."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        self._columns = columns
        self._program = columns.program
        self._delivered = queues.delivered
        self._idq = queues.idq
        self._shortage = queues.shortage
        limit = microarchitecture.stack_offset_limit
        self._most: int = _NO_LIMIT if limit is None else limit
        """Largest offset in bytes. It only limits upward moves: long runs of POP synchronise, runs of PUSH
        never do."""

    def start(self) -> None:
        """Reset: both RSP values agree."""
        self.offset = 0

    def tick(self, source: int, cycle: int) -> None:
        """Move everything delivered in this cycle into the IDQ. Uops from the LSD have passed the stack
        engine before."""
        program = self._program
        columns = self._columns
        delivered = self._delivered
        looks: bool = program.moves_stack != 0 and source != LSD
        plain = 0 if looks or columns.followed else delivered.count
        place = self._idq.head + self._idq.count
        mask = self._idq.mask
        for position in range(plain):
            idq_uop = delivered.firsts[position]
            first = columns.instance_uop0[delivered.seconds[position]] + program.q_uop0[idq_uop]
            self._idq.firsts[place & mask] = first
            self._idq.seconds[place & mask] = idq_uop
            place += 1
        self._idq.count += plain
        for position in range(plain, delivered.count):
            idq_uop = delivered.firsts[position]
            instance = delivered.seconds[position]
            if looks:
                i = program.q_instruction[idq_uop]
                if idq_uop == program.i_idq0[i] and self._passes(i):
                    static = program.f_uop0[program.q_fused0[program.sync_idq]]
                    sync = columns.new_uop(instance, i, static)
                    columns.source[sync] = STACK_ENGINE
                    columns.added[sync] = cycle
                    self._idq.push(sync, program.sync_idq)
            first = columns.instance_uop0[instance] + program.q_uop0[idq_uop]
            self._idq.push(first, idq_uop)
            if columns.followed:
                self._note(idq_uop, first, source, NONE if source == LSD else cycle)
        if delivered.count > 0:
            self._shortage.delivered = delivered.firsts[delivered.count - 1]
        delivered.clear()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state, with the IDQ that it fills."""
        state.add(self.offset)
        queue = self._idq
        state.add(queue.count)
        # If none are added, uop numbers are consecutive.
        for position in range(queue.count if self._program.adds_uops else min(queue.count, 1)):
            index = (queue.head + position) & queue.mask
            state.add(queue.firsts[index] - state.uop)
            state.add(queue.seconds[index])

    def _passes(self, i: int) -> bool:
        """An instruction's first uop passes. Returns True if a synchronisation uop must precede it."""
        program = self._program
        needed = False
        if program.i_adds[i] and program.i_rsp_written[i] and program.i_rsp_explicit[i]:
            return False  # the renamer adds the constant to what it knows of RSP (E6)
        if self.offset and program.i_rsp_explicit[i]:
            needed = True
            self.offset = 0
        self.offset += program.i_rsp_step[i]
        if self.offset > self._most:
            needed = True
            self.offset = 0
        if program.i_rsp_written[i]:
            self.offset = 0
        return needed

    def _note(self, idq_uop: int, uop: int, source: int, cycle: int) -> None:
        """Record source and time of the uops of an IDQ uop: ``uop`` and its successors."""
        program = self._program
        columns = self._columns
        first = program.q_fused0[idq_uop]
        for fused in range(first, first + program.q_fused_count[idq_uop]):
            for _ in range(program.f_uop_count[fused]):
                columns.source[uop] = source
                columns.added[uop] = cycle
                uop += 1
