"""The renamer: picks IDQ uops for issue and connects every uop to the producers of its inputs
(R1 to R4, W1 to W5; uiCA model, 3.9)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.addition import Addition
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    COMPUTE,
    ELIMINATED,
    HELD_BY_FENCE,
    ISSUE_GROUP,
    LOAD,
    NONE,
    REGISTER_MERGE,
    RESOURCE_FULL,
    RETIRING,
    ROB_FULL,
    RS_FULL,
    SCHEDULERS,
    SERIALIZATION,
    STORE_ADDRESS,
    STORE_DATA,
    SYNC,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_SETTLED = 5
"""A result that is ready this many cycles from now holds up nothing that issues from the next cycle on."""


class Renamer:
    """Up to ``issue_width`` fused uops per cycle, in order."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        memory: Memory,
        resources: Resources,
        entries: Entries,
        elimination: Elimination,
        additions: Addition,
        memory_renaming: MemoryRenaming,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._idq = queues.idq
        self._issued = queues.issued
        self._rob = queues.rob
        self._shortage = queues.shortage
        self._memory = memory
        self._resources = resources
        self._entries = entries
        self._width = microarchitecture.issue_width
        self._fast_pointer_chasing = microarchitecture.fast_pointer_chasing
        self.elimination: Elimination = elimination
        self.additions: Addition = additions
        self.memory_renaming: MemoryRenaming = memory_renaming
        self.value = ints(0)
        """Current value by rename key, NONE if never used."""
        self.moved_32 = ints(0)
        """Whether the key was set by an eliminated 32-bit move."""
        # Of the instruction being renamed: internal values, and writes that are not yet visible.
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)
        self.write_computed = ints(0)
        self.write_owed = ints(0)

    def start(self) -> None:
        """No register was ever written."""
        program = self._program
        self.elimination.start()
        self.additions.start()
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
        self.merged_for = NONE
        """First uop of the instruction whose merge uops were issued last."""
        self.open_store = NONE
        self.taken_over = NONE
        """The value that the load in hand takes over from a store."""
        self.between_instructions = True
        """The uop renamed last was the last of its instruction."""

    def stand(self, cycle: int) -> None:
        """A cycle in which nothing is issued because the scheduler or the reorder buffer is full."""
        self._issued.clear()
        if not self._columns.watched:
            return
        if self._idq.count == 0:
            self._starve(cycle)
        elif self._entries.full():
            self._full(cycle)
        else:
            self._wait_for_retirement(cycle, ROB_FULL)

    def tick(self, cycle: int) -> None:
        """One cycle: fill the issue group and rename it."""
        columns = self._columns
        self._issued.clear()
        self._select(cycle)
        if self._program.has_moves:
            self.elimination.start_cycle()
            self._eliminate()
            self.elimination.decided()
        for position in range(self._issued.count):
            first = self._issued.firsts[position]
            for uop in range(first, first + self._issued.seconds[position]):
                columns.issued[uop] = cycle
                self._rename(uop, cycle)
        if self._program.has_moves:
            self.elimination.end_cycle()

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state; to be asked for between instructions only."""
        columns = self._columns
        program = self._program
        waits: bool = self._idq.count > 0 and self._idq.firsts[self._idq.head] == self.merged_for
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
            # Keys that hold the same value: named by the first of them.
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

    def _starve(self, cycle: int) -> None:
        """Slots stay empty because the IDQ is."""
        if self._columns.watched:
            self._columns.refuse(cycle, self._shortage.reason, self._shortage.instruction())

    def _full(self, cycle: int) -> None:
        """Slots stay empty because a scheduler has no room, whose oldest uop is to blame."""
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
        """Slots stay empty because a buffer is full that gives room back at retirement."""
        if not self._columns.watched:
            return
        columns = self._columns
        uop = columns.unfinished[cycle - 1] if cycle > 0 else NONE
        if uop == NONE:
            oldest = self._rob if self._rob.count > 0 else self._idq
            columns.refuse(cycle, buffer + RETIRING, oldest.firsts[oldest.head])
        elif columns.needs_unit(uop):
            columns.refuse(cycle, buffer, uop)
        else:
            columns.refuse(cycle, buffer + RETIRING, uop)

    def _select(self, cycle: int) -> None:
        program = self._program
        columns = self._columns
        queue = self._idq
        issued = self._issued
        slots = 0
        if self._entries.by_uop:
            self._entries.start_group()
        columns.refuse(cycle, 0, NONE)
        while slots < self._width:
            if queue.count == 0:
                self._starve(cycle)
                return
            uop = queue.firsts[queue.head]
            idq_uop = queue.seconds[queue.head]
            if program.holds_issue and program.u_first[columns.static[uop]]:
                i = columns.position[uop]
                if program.i_merge_count[i] and self.merged_for != uop:
                    # Merge uops issue alone, in a cycle before their instruction (R1).
                    if issued.count == 0:
                        self.merged_for = uop
                        first_merge = program.i_merge0[i]
                        for merge in range(first_merge, first_merge + program.i_merge_count[i]):
                            static = program.merge_uop[program.merge_key[merge]]
                            issued.push(columns.new_uop(columns.instance[uop], i, static), 1)
                    columns.refuse(cycle, REGISTER_MERGE, uop)
                    return
                if program.i_serializing[i]:
                    for part in range(uop, uop + program.i_uop_count[i]):
                        columns.held[part] = HELD_BY_FENCE
                    if self._rob.count > 0:
                        columns.refuse(cycle, SERIALIZATION, uop)
                        return
            count = program.q_fused_count[idq_uop]
            needed = 0 if program.has_joins and columns.shares_slot(uop) else count
            if slots + needed > self._width:
                columns.refuse(cycle, ISSUE_GROUP, uop)
                return
            slots += needed
            first_fused = program.q_fused0[idq_uop]
            if self._entries.by_uop:
                last = first_fused + count - 1
                uops = program.f_uop0[last] + program.f_uop_count[last] - program.f_uop0[first_fused]
                if not self._entries.take(uop, uops):
                    self._full(cycle)
                    return
            if self._resources.limited and not self._resources.take(uop, cycle):
                self._wait_for_retirement(cycle, RESOURCE_FULL + self._resources.missing)
                return
            queue.pop()
            for fused in range(first_fused, first_fused + count):
                size = program.f_uop_count[fused]
                issued.push(uop, size)
                uop += size

    def _eliminate(self) -> None:
        """Decide about the group's moves (Y1)."""
        program = self._program
        columns = self._columns
        for position in range(self._issued.count):
            first = self._issued.firsts[position]
            for uop in range(first, first + self._issued.seconds[position]):
                i = columns.position[uop]
                if not program.i_eliminable[i] or program.u_kind[columns.static[uop]] >= SYNC:
                    continue
                if self.elimination.decide(program.key_class[program.i_move_source[i]]):
                    columns.port[uop] = ELIMINATED
                    if self._resources.limited:
                        self._resources.eliminate(i)

    def _rename(self, uop: int, cycle: int) -> None:
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        kind = program.u_kind[static]
        i = columns.position[uop]
        eliminated: bool = columns.port[uop] == ELIMINATED
        if eliminated:
            self._rename_eliminated(i)
        elif program.i_adds[i] and kind == COMPUTE and self.additions.fits(i):
            columns.port[uop] = ELIMINATED
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
        self.between_instructions = program.u_last[static] != 0
        if program.u_last[static] or kind >= SYNC:
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
        """A result that waits for its instruction to be complete; a later write to the key replaces it.
        ``owed``: as in ``Addition``."""
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
        """The target takes over the source's value, to which a constant is owed; flags come from it too."""
        program = self._program
        source = program.i_move_source[i]
        value = self._columns.old_value(1) if source < 0 else self._current(source)
        first = program.u_out0[static]
        for operand in range(first, first + program.u_out_count[static]):
            key = program.out_key[operand]
            owed = self.additions.owed_then(i) if key == program.i_move_target[i] else 0
            self._write(key, value, 1, owed)

    def _connect(self, uop: int, static: int) -> None:
        """Resolve inputs, make results (W4)."""
        columns = self._columns
        program = self._program
        columns.first_input[uop] = columns.inputs
        pending = 0
        first_operand = program.u_in0[static]
        for operand in range(first_operand, first_operand + program.u_in_count[static]):
            key = program.in_key[operand]
            value = self.internal[key] if program.in_internal[operand] else self._current(key)
            position = columns.new_input(uop, value)
            if columns.value_ready[value] == UNKNOWN:
                pending += 1
                columns.input_next[position] = columns.value_waiters[value]
                columns.value_waiters[value] = position
        columns.pending[uop] = pending
        columns.first_result[uop] = columns.values
        owed = 0
        if self.additions.active and program.u_first[static]:
            owed = self.additions.penalty(columns.position[uop])
        # The published model takes what a synchronisation or merge writes for a new value.
        computed = 0 if program.exact_values and program.u_kind[static] >= SYNC else 1
        first_operand = program.u_out0[static]
        for operand in range(first_operand, first_operand + program.u_out_count[static]):
            value = columns.new_value(uop, program.out_latency[operand] + owed)
            key = program.out_key[operand]
            if self.taken_over != NONE:
                value = self.taken_over
            if program.out_internal[operand]:
                self.internal[key] = value
            else:
                self._write(key, value, computed, 0)

    def _make_visible(self, i: int, eliminated: bool) -> None:
        """The instruction's results become visible to later ones (W5, Y3)."""
        shared: bool = self.elimination.entries > 0
        for position in range(self.writes):
            key = self.write_key[position]
            value = self.write_value[position]
            if shared:
                old = self.value[key]
                if old != NONE and (not eliminated or old != value):
                    self.elimination.overwrite(old, key)
            self.value[key] = value
            self.moved_32[key] = self.writes_moved_32
            if self.additions.active:
                self.additions.owed[key] = self.write_owed[position]
        if self._program.compares_addresses:
            # Found before any of the results is there: an instruction may continue what it overwrites.
            continued = self._memory.continued(i)
            for position in range(self.writes):
                if self.write_computed[position]:
                    self._memory.result(self.write_key[position], continued)
        self.writes = 0
        self.writes_moved_32 = 0

    def _chases_pointer(self, static: int) -> bool:
        """Load latency 4 instead of 5 (uiCA model, 3.11.3)."""
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
