"""The renamer: connects every uop that issues to the producers of its inputs (W1 to W5; uiCA model, 3.9)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.addition import Addition
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.issue_group import IssueGroup
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.tables.arrays import Long, Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    COMPUTE,
    ELIMINATED,
    FOREVER,
    LOAD,
    NONE,
    STORE_ADDRESS,
    STORE_DATA,
    SYNC,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.queues import Queues

_SETTLED = 5
"""A result that is ready within this many cycles delays nothing that issues from the next cycle on."""


class Renamer:
    """Renames the uops of a cycle's issue group, in order."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        memory: Memory,
        group: IssueGroup,
        elimination: Elimination,
        additions: Addition,
        memory_renaming: MemoryRenaming,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._idq = queues.idq
        self._issued = queues.issued
        self._bound = queues.bound
        self._free = queues.free
        self._group = group
        self._memory = memory
        self._fast_pointer_chasing = microarchitecture.fast_pointer_chasing
        self.elimination: Elimination = elimination
        self.additions: Addition = additions
        self.memory_renaming: MemoryRenaming = memory_renaming
        self.value = ints(0)
        """Current value by rename key, NONE if never used."""
        self.moved_32 = ints(0)
        """Whether the key was set by an eliminated 32-bit move."""
        # Of the current instruction: internal values, and writes that are not yet visible.
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)
        self.write_computed = ints(0)
        self.write_owed = ints(0)
        self._plain = ints(0)
        """By row of a uop: whether it only has to be connected, and needs a unit."""
        self._ends = ints(0)
        """By row of a uop: whether its results can be visible at once if no result of its instruction
        waits."""
        self._moves = ints(0)
        """By row of a uop: whether the renamer may carry out its instruction."""

    def start(self) -> None:
        """Reset: no register was ever written."""
        program = self._program
        self.elimination.start()
        self.additions.start()
        self._direct = not (program.compares_addresses or self.additions.active)
        """Whether results concern only the registers."""
        self._group.start()
        if program.all_uops > len(self._plain):
            self._plain = ints(2 * program.all_uops)
            self._ends = ints(2 * program.all_uops)
            self._moves = ints(2 * program.all_uops)
        self._find_plain()
        if program.keys > len(self.value):
            self.value = ints(2 * program.keys)
            self.moved_32 = ints(2 * program.keys)
        for key in range(program.keys):
            self.value[key] = NONE
            self.moved_32[key] = 0
        outputs = program.outputs + program.registers + 1
        if outputs > len(self.internal):
            self.internal = ints(2 * outputs)
            self.write_key = ints(2 * outputs)
            self.write_value = ints(2 * outputs)
            self.write_computed = ints(2 * outputs)
            self.write_owed = ints(2 * outputs)
        self.writes = 0
        self.writes_moved_32 = 0
        self.open_store = NONE
        self.taken_over = NONE
        """The value that the current load takes over from a store."""
        self.between_instructions = True
        """Whether the latest renamed uop was the last one of its instruction."""

    def _find_plain(self) -> None:
        program = self._program
        for static in range(program.all_uops):
            self._plain[static] = 0
            self._moves[static] = 0
            self._ends[static] = 1 if self._direct and program.u_last[static] else 0
            first = program.u_out0[static]
            for operand in range(first, first + program.u_out_count[static]):
                if program.out_internal[operand]:
                    self._ends[static] = 0
        for i in range(program.instructions):
            for static in range(program.i_uop0[i], program.i_uop0[i] + program.i_uop_count[i]):
                self._moves[static] = program.i_eliminable[i]
            if program.exact_values or program.i_eliminable[i] or program.i_adds[i] or program.i_no_uops[i]:
                continue
            for static in range(program.i_uop0[i], program.i_uop0[i] + program.i_uop_count[i]):
                if program.u_kind[static] == COMPUTE and program.u_port_mask[static]:
                    self._plain[static] = 1

    def stand(self, cycle: int) -> None:
        """Skip a cycle in which nothing is issued because the scheduler or the reorder buffer is full."""
        self._bound.clear()
        self._free.clear()
        self._group.stand(cycle)

    def tick(self, cycle: int) -> None:
        """Simulate one cycle: fill the issue group and rename it."""
        columns = self._columns
        program = self._program
        self._issued.clear()
        self._bound.clear()
        self._free.clear()
        self._group.select(cycle)
        if self._program.has_moves:
            self.elimination.start_cycle()
            self._eliminate()
            self.elimination.decided()
        static = NONE
        for slot in range(self._issued.count):
            first = self._issued.firsts[slot]
            for uop in range(first, first + self._issued.seconds[slot]):
                static = columns.static[uop]
                columns.issued[uop] = cycle
                if self._plain[static]:
                    self._connect(uop, static)
                    if self.writes > 0 and program.u_last[static]:
                        self._make_visible(columns.position[uop], False)
                else:
                    self._rename(uop, static, cycle)
                    if not columns.needs_unit(uop):
                        columns.executed[uop] = cycle
                        continue
                self._bound.push(uop, slot)
                if columns.pending[uop] == 0:
                    self._free.push(uop, slot)
        if static != NONE:
            self.between_instructions = program.u_last[static] != 0
        if self._program.has_moves:
            self.elimination.end_cycle()

    def held(self) -> bool:
        """Whether nothing was issued in the latest cycle and nothing can be until a uop retires."""
        return self._group.held

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles, in which nothing can be issued."""
        if self._program.has_moves:
            self.elimination.pass_by(cycles)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state. Call it only between instructions."""
        columns = self._columns
        program = self._program
        waits: bool = self._idq.count > 0 and self._idq.firsts[self._idq.head] == self._group.merged_for
        state.add(1 if waits else 0)
        for position in range(program.used_keys):
            key = program.used_key[position]
            value = self.value[key]
            state.add(self.moved_32[key])
            if self.additions.active:
                state.add(self.additions.owed[key])
            if value == NONE:
                state.add(NONE)
                continue
            # Keys that hold the same value are named by the first of them.
            same = 0
            while self.value[program.used_key[same]] != value:
                same += 1
            state.add(same)
            state.add(columns.value_zero[value])
            producer = columns.value_uop[value]
            if producer == NONE:
                state.add(NONE)
            else:
                state.add(program.i_pointer_load[columns.position[producer]])
            columns.record_value(state, value, -_SETTLED)
        self.elimination.record(state, self.value)

    def _eliminate(self) -> None:
        """Decide which moves of the group are eliminated (Y1)."""
        program = self._program
        columns = self._columns
        for position in range(self._issued.count):
            first = self._issued.firsts[position]
            for uop in range(first, first + self._issued.seconds[position]):
                if not self._moves[columns.static[uop]]:
                    continue
                i = columns.position[uop]
                if self.elimination.decide(program.key_class[program.i_move_source[i]]):
                    columns.port[uop] = ELIMINATED
                    self._group.eliminate(i)

    def _rename(self, uop: int, static: int, cycle: int) -> None:
        columns = self._columns
        program = self._program
        kind = program.u_kind[static]
        i = columns.position[uop]
        eliminated: bool = columns.port[uop] == ELIMINATED
        if eliminated:
            self._rename_eliminated(i)
        elif program.i_adds[i] and kind == COMPUTE and self.additions.fits(i):
            columns.port[uop] = ELIMINATED
            self._group.eliminate(i)
            self._rename_added(i, static)
        elif kind >= SYNC:
            self._connect(uop, static)
        elif program.i_no_uops[i]:
            # Zero idioms, NOPs, unknown instructions: results without a producer, no flags (W1).
            computed = 1 if program.exact_values else 0
            first_output = program.i_outputs0[i]
            for output in range(first_output, first_output + program.i_outputs_count[i]):
                self._write(program.output_key[output], columns.old_value(1), computed, 0)
        else:
            if kind == STORE_ADDRESS:
                self.open_store = self._memory.open_store(static)
                columns.store[uop] = self.open_store
            elif kind == STORE_DATA:
                columns.store[uop] = self.open_store
                columns.store_uop[self.open_store] = uop
            if kind == LOAD:
                store = self._memory.newest_store(static, cycle)
                columns.store[uop] = store
                columns.blocked[uop] = self._memory.blocked
                columns.renamed[uop] = 0
                columns.collided[uop] = 0
                if program.exact_values:
                    columns.words[uop] = self._memory.words(static)
                if store != NONE and self.memory_renaming.active and self._memory.ahead == 0:
                    self.taken_over = self.memory_renaming.value(uop, i, store)
                    if self.taken_over != NONE:
                        columns.store[uop] = NONE
                        columns.renamed[uop] = 1
                if self._fast_pointer_chasing and self._chases_pointer(static):
                    columns.latency_bonus[uop] = 1
            self._connect(uop, static)
            self.taken_over = NONE
            if kind == STORE_DATA and self.memory_renaming.active and program.u_in_count[static]:
                data = columns.input_value[columns.first_input[uop]]
                operand = program.u_in0[static]
                key = NONE if program.in_internal[operand] else program.in_key[operand]
                owed = 0 if key == NONE else self.additions.owed[key]
                self.memory_renaming.stored(self.open_store, data, key, owed)
        if program.u_last[static] or kind >= SYNC:
            if self.writes > 0:
                self._make_visible(i, eliminated)
            if kind < SYNC:
                self._memory.move_stack(i)

    def _current(self, key: int) -> int:
        value = self.value[key]
        if value == NONE:
            value = self._columns.old_value(0)
            self.value[key] = value
        return value

    def _write(self, key: int, value: int, computed: int, owed: int) -> None:
        """Note a result that becomes visible when its instruction is complete; a later write to the key
        replaces it. ``owed``: as in ``Addition``."""
        position = 0
        while position < self.writes and self.write_key[position] != key:
            position += 1
        if position == self.writes:
            self.writes += 1
        self.write_key[position] = key
        self.write_value[position] = value
        self.write_computed[position] = computed
        self.write_owed[position] = owed

    def _rename_eliminated(self, i: int) -> None:
        """The target takes over the source's value (Y2)."""
        program = self._program
        source = program.i_move_source[i]
        target = program.i_move_target[i]
        value = self._current(source)
        self._write(target, value, 0, self.additions.owed[source])
        self.writes_moved_32 = program.i_move_32[i]
        self.elimination.share(value, source, target)
        self._memory.copy(source, target)

    def _rename_added(self, i: int, static: int) -> None:
        """The target takes over the source's value and owes a constant; flags come with the source's
        value."""
        program = self._program
        source = program.i_move_source[i]
        value = self._columns.old_value(1) if source < 0 else self._current(source)
        first = program.u_out0[static]
        for operand in range(first, first + program.u_out_count[static]):
            key = program.out_key[operand]
            owed = self.additions.owed_then(i) if key == program.i_move_target[i] else 0
            self._write(key, value, 1, owed)

    def _connect(self, uop: int, static: int) -> None:
        """Resolve inputs, create results (W4)."""
        columns = self._columns
        program = self._program
        position = columns.inputs
        columns.first_input[uop] = position
        pending = 0
        latest = FOREVER
        first_operand = program.u_in0[static]
        for operand in range(first_operand, first_operand + program.u_in_count[static]):
            key = program.in_key[operand]
            value = self.internal[key] if program.in_internal[operand] else self._current(key)
            columns.input_value[position] = value
            ready = columns.value_ready[value]
            if ready == UNKNOWN:
                pending += 1
                columns.await_input(uop, position, value)
            elif ready > latest:
                latest = ready
            position += 1
        columns.inputs = position
        columns.pending[uop] = pending
        columns.latest[uop] = latest
        columns.first_result[uop] = columns.values
        first_operand = program.u_out0[static]
        if self._ends[static] and self.writes == 0:
            # The only uop of its instruction that writes: no need to wait for the others.
            shared: Long = self.elimination.members
            for operand in range(first_operand, first_operand + program.u_out_count[static]):
                key = program.out_key[operand]
                if shared and shared & program.key_bit[key] and self.value[key] != NONE:
                    self.elimination.overwrite(self.value[key], key)
                self.value[key] = columns.new_value(uop, program.out_latency[operand])
                self.moved_32[key] = 0
            return
        owed = 0
        computed = 1
        if not self._direct:
            if self.additions.active and program.u_first[static]:
                owed = self.additions.penalty(columns.position[uop])
            if program.exact_values and program.u_kind[static] >= SYNC:
                computed = 0  # the published model treats its result as a new value
        for operand in range(first_operand, first_operand + program.u_out_count[static]):
            value = columns.new_value(uop, program.out_latency[operand] + owed)
            key = program.out_key[operand]
            if not self._direct and self.taken_over != NONE:
                value = self.taken_over
            if program.out_internal[operand]:
                self.internal[key] = value
            else:
                self._write(key, value, computed, 0)

    def _make_visible(self, i: int, eliminated: bool) -> None:
        """The instruction's results become visible to later ones (W5, Y3)."""
        program = self._program
        shared: Long = self.elimination.members
        for position in range(self.writes):
            key = self.write_key[position]
            value = self.write_value[position]
            if shared and shared & program.key_bit[key]:
                old = self.value[key]
                if old != NONE and (not eliminated or old != value):
                    self.elimination.overwrite(old, key)
            self.value[key] = value
            self.moved_32[key] = self.writes_moved_32
            if self.additions.active:
                self.additions.owed[key] = self.write_owed[position]
        if program.compares_addresses:
            # Computed before any result is visible: an instruction may continue a value that it overwrites.
            continued = self._memory.continued(i)
            for position in range(self.writes):
                if self.write_computed[position]:
                    self._memory.result(self.write_key[position], continued)
        self.writes = 0
        self.writes_moved_32 = 0

    def _chases_pointer(self, static: int) -> bool:
        """Whether the load has latency 4 instead of 5 (uiCA model, 3.11.3)."""
        program = self._program
        columns = self._columns
        if not program.u_pointer_chasing[static]:
            return False
        base = program.u_base[static]
        if self.moved_32[base]:
            return False
        producer = columns.value_uop[self._current(base)]
        if producer == NONE:
            return False
        if not program.i_pointer_load[columns.position[producer]]:
            return False
        index = program.u_index[static]
        return index < 0 or columns.value_zero[self._current(index)] != 0
