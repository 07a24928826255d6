"""The renamer: picks IDQ uops for issue and connects every uop to the producers of its inputs
(R1 to R4, W1 to W5; uiCA model, 3.9)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import UopKind
from cyclelens.analyzer.simulator.columns import ELIMINATED, NONE, UNKNOWN, Columns
from cyclelens.analyzer.simulator.memory import Memory
from cyclelens.analyzer.simulator.move_elimination import MoveElimination
from cyclelens.analyzer.simulator.queues import DecodeQueue, IssueGroup

_LOAD = int(UopKind.LOAD)
_STORE_ADDRESS = int(UopKind.STORE_ADDRESS)
_STORE_DATA = int(UopKind.STORE_DATA)
_SYNC = int(UopKind.SYNC)
_MERGE = int(UopKind.MERGE)


class Renamer:
    """Up to ``issue_width`` fused uops a cycle, in order."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        idq: DecodeQueue,
        issue: IssueGroup,
        memory: Memory,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._idq = idq
        self._issue = issue
        self._memory = memory
        self._width = microarchitecture.issue_width
        self._fast_pointer_chasing = microarchitecture.fast_pointer_chasing
        self._elimination = MoveElimination(microarchitecture)
        self._merged_for = NONE
        """First uop of the instruction whose merge uops were issued last."""
        self._open_store = NONE
        # Current value by rename key (NONE: never used), and "set by an eliminated 32-bit move".
        self._value = [NONE] * self._program.keys
        self._moved_32 = [False] * self._program.keys
        # Of the instruction being renamed: internal values and writes not yet visible.
        self._internal: dict[int, int] = {}
        self._writes: dict[int, int] = {}
        self._writes_moved_32 = False
        self._computed: list[int] = []

    def tick(self, cycle: int, rob_empty: bool) -> None:
        """One cycle: fill the issue group and rename it."""
        fused = self._issue.fused
        fused.clear()
        self._select(rob_empty)
        elimination = self._elimination
        elimination.start_cycle()
        program = self._program
        columns = self._columns
        for first, count in fused:
            for uop in range(first, first + count):
                columns.issued[uop] = cycle
                i = columns.instance[uop] % program.instructions
                kind = program.u_kind[columns.static[uop]]
                if (
                    program.i_eliminable[i]
                    and kind not in (_SYNC, _MERGE)
                    and elimination.decide(program.key_class[program.i_move_source[i]])
                ):
                    columns.port[uop] = ELIMINATED
        elimination.decided()
        for first, count in fused:
            for uop in range(first, first + count):
                self._rename(uop)
        elimination.end_cycle()

    def _select(self, rob_empty: bool) -> None:
        program = self._program
        columns = self._columns
        queue = self._idq.uops
        fused = self._issue.fused
        while queue:
            uop, idq_uop = queue[0]
            i = columns.instance[uop] % program.instructions
            if program.u_first[columns.static[uop]]:
                if program.i_merges[i] and self._merged_for != uop:
                    # Merge uops issue alone, a cycle before their instruction at the latest (R1).
                    if not fused:
                        self._merged_for = uop
                        for key in program.i_merges[i]:
                            static = program.f_uop0[program.q_fused0[program.merge_idq[key]]]
                            merge = columns.new_uop(columns.instance[uop], static)
                            fused.append((merge, 1))
                    return
                if program.i_serializing[i] and not rob_empty:
                    return
            count = program.q_fused_count[idq_uop]
            if len(fused) + count > self._width:
                return
            queue.popleft()
            first_fused = program.q_fused0[idq_uop]
            for number in range(first_fused, first_fused + count):
                size = program.f_uop_count[number]
                fused.append((uop, size))
                uop += size

    def _rename(self, uop: int) -> None:
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        kind = program.u_kind[static]
        i = columns.instance[uop] % program.instructions
        if columns.port[uop] == ELIMINATED:
            self._rename_eliminated(i)
        elif kind in (_SYNC, _MERGE):
            self._connect(uop, static)
        elif program.i_no_uops[i]:
            # Zero idioms, NOPs, unknown instructions: results without a producer, no flags (W1).
            for key in program.i_register_outputs[i]:
                self._writes[key] = columns.old_value(zero=True)
        else:
            if kind == _STORE_ADDRESS:
                self._open_store = self._memory.open_store(static)
                columns.store[uop] = self._open_store
            elif kind == _STORE_DATA:
                columns.store[uop] = self._open_store
            elif kind == _LOAD:
                columns.store[uop] = self._memory.newest_store(static)
                if self._fast_pointer_chasing and self._chases_pointer(static):
                    columns.latency_bonus[uop] = 1
            self._connect(uop, static)
        if program.u_last[static] or kind in (_SYNC, _MERGE):
            self._make_visible(i, eliminated=columns.port[uop] == ELIMINATED)

    def _current(self, key: int) -> int:
        value = self._value[key]
        if value == NONE:
            value = self._value[key] = self._columns.old_value()
        return value

    def _rename_eliminated(self, i: int) -> None:
        """The target takes over the source's value (Y2)."""
        program = self._program
        source, target = program.i_move_source[i], program.i_move_target[i]
        value = self._current(source)
        self._writes[target] = value
        self._writes_moved_32 = program.i_move_32[i]
        self._elimination.share(program.key_class[source], value, source, target)
        self._memory.copy(source, target)

    def _connect(self, uop: int, static: int) -> None:
        """Resolve inputs, make results (W4)."""
        columns = self._columns
        program = self._program
        columns.first_input[uop] = len(columns.input_value)
        pending = 0
        for operand in range(program.u_in0[static], program.u_in0[static] + program.u_in_count[static]):
            key = program.in_key[operand]
            value = self._internal[key] if program.in_internal[operand] else self._current(key)
            position = len(columns.input_value)
            columns.input_value.append(value)
            columns.input_uop.append(uop)
            if columns.value_ready[value] == UNKNOWN:
                pending += 1
                columns.input_next.append(columns.value_waiters[value])
                columns.value_waiters[value] = position
            else:
                columns.input_next.append(NONE)
        columns.pending[uop] = pending
        columns.first_result[uop] = len(columns.value_ready)
        for operand in range(program.u_out0[static], program.u_out0[static] + program.u_out_count[static]):
            value = columns.new_value(uop, program.out_latency[operand])
            key = program.out_key[operand]
            if program.out_internal[operand]:
                self._internal[key] = value
            else:
                self._writes[key] = value
                self._computed.append(key)

    def _make_visible(self, i: int, *, eliminated: bool) -> None:
        """The instruction's results become visible to later ones (W5, Y3)."""
        elimination = self._elimination
        key_class = self._program.key_class
        for key, value in self._writes.items():
            old = self._value[key]
            if old != NONE and (not eliminated or old != value):
                elimination.overwrite(key_class[key], old, key)
            self._value[key] = value
            self._moved_32[key] = self._writes_moved_32
        if self._computed:
            self._memory.results(i, self._computed)
            self._computed = []
        self._writes.clear()
        self._writes_moved_32 = False
        self._internal.clear()

    def _chases_pointer(self, static: int) -> bool:
        """Load latency 4 instead of 5 (uiCA model, 3.11.3)."""
        program = self._program
        columns = self._columns
        if not program.u_pointer_chasing[static]:
            return False
        base = program.u_base[static]
        if self._moved_32[base]:
            return False
        producer = columns.value_uop[self._current(base)]
        if producer == NONE:
            return False
        if not program.i_pointer_load[columns.instance[producer] % program.instructions]:
            return False
        index = program.u_index[static]
        return index < 0 or columns.value_zero[self._current(index)]
