"""Dispatch on a core that counts macro-ops: renames whole instructions in order, limited by the width and by
room in the buffers (M4)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands
from cyclelens.analyzer.simulator.back_end.macro_memory import MacroMemory
from cyclelens.analyzer.simulator.back_end.scheduler_choice import SchedulerChoice
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.constants import (
    ELIMINATED,
    EMPTY,
    HELD_BY_FENCE,
    ISSUE_GROUP,
    LOAD,
    NONE,
    ROB_FULL,
    SERIALIZATION,
    STORE_ADDRESS,
    STORE_BUFFER_FULL,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.macro_tables import MacroTables

_ROOM_STORES = 2
"""Store-queue entries that an instruction may need; with less room dispatch stops."""
_LONG_AGO = 1 << 20


class MacroRenamer:
    """Dispatches up to ``issue_width`` macro-ops per cycle."""

    def __init__(
        self,
        tables: MacroTables,
        microarchitecture: Microarchitecture,
        memory: MacroMemory,
        elimination: Elimination,
        schedulers: SchedulerChoice,
        late_operands: LateOperands,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = tables.columns
        self._program = tables.columns.program
        self._operations = tables.operations
        self._flight = tables.flight
        self._memory = memory
        self._emulator = memory.emulator
        self._elimination = elimination
        self._schedulers = schedulers
        self._late_operands = late_operands
        self._idq = tables.queues.idq
        self._issued = tables.queues.issued
        self._rob = tables.queues.rob
        self._shortage = tables.queues.shortage
        self._width = microarchitecture.issue_width
        self._rob_size = microarchitecture.reorder_buffer_size
        self._vector_width: int = rules.vector_dispatch_width
        self._store_size: int = rules.store_queue
        self._crossing: int = rules.line_crossing_cycles
        self.value = ints(0)
        """Current value by rename key, NONE if never used."""
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)

    def start(self) -> None:
        """Reset: no register was ever written."""
        program = self._program
        if program.keys > len(self.value):
            self.value = ints(2 * program.keys)
        for key in range(program.keys):
            self.value[key] = NONE
        outputs = program.outputs + program.registers + 2
        if outputs > len(self.internal):
            self.internal = ints(2 * outputs)
            self.write_key = ints(2 * outputs)
            self.write_value = ints(2 * outputs)
        self.writes = 0
        self.left = 0
        """Macro-ops of the latest renamed instruction that are still to be dispatched."""
        self._next_fused = 0
        self._next_uop = 0
        self.dispatched = 0
        """Macro-ops dispatched so far."""
        self._starved = False
        """Whether the op queue was empty in the latest cycle."""
        self._schedulers.start()
        self._elimination.start()
        self._memory.start()

    def tick(self, cycle: int) -> None:
        """Simulate one cycle."""
        self._issued.clear()
        if not self._program.has_moves:
            self._dispatch(cycle)
            return
        self._elimination.start_cycle()
        self._dispatch(cycle)
        self._elimination.decided()
        self._elimination.end_cycle()

    def waits(self) -> bool:
        """Whether dispatch stays blocked until a uop retires, leaves a scheduler or the store queue, or
        enters the op queue. Only valid if the latest cycle dispatched nothing."""
        return not self._starved or self._idq.count == 0

    def pass_by(self, cycles: int) -> None:
        """Skip this many waiting cycles."""
        if self._program.has_moves:
            self._elimination.pass_by(cycles)

    def _dispatch(self, cycle: int) -> None:
        program = self._program
        operations = self._operations
        columns = self._columns
        queue = self._idq
        columns.refuse(cycle, 0, NONE)
        self._starved = False
        slots = self._width
        vectors = self._vector_width
        while slots > 0:
            if self.left == 0:
                if queue.count == 0:
                    self._starved = True
                    columns.refuse(cycle, self._shortage.reason, self._shortage.instruction())
                    return
                uop = queue.firsts[queue.head]
                idq_uop = queue.seconds[queue.head]
                i = columns.position[uop]
                count = program.q_fused_count[idq_uop]
                if not self._has_room(uop, i, count, cycle):
                    return
                needed = operations.m_vector_ops[i]
                if needed > vectors and vectors < self._vector_width:
                    columns.refuse(cycle, ISSUE_GROUP, uop)
                    return
                vectors -= needed
                if operations.m_serializing[i]:
                    for part in range(uop, uop + program.i_uop_count[i]):
                        columns.held[part] = HELD_BY_FENCE
                    if self._rob.count + self._issued.count > 0:
                        columns.refuse(cycle, SERIALIZATION, uop)
                        return
                queue.pop()
                self._time(uop, program.q_fused0[idq_uop], count, slots, cycle)
                self._rename(uop, i, cycle)
                self.left = count
                self._next_fused = program.q_fused0[idq_uop]
                self._next_uop = uop
                self.dispatched += count
            last = columns.position[self._next_uop]
            while self.left > 0 and slots > 0:
                size = program.f_uop_count[self._next_fused]
                self._issued.push(self._next_uop, size)
                for uop in range(self._next_uop, self._next_uop + size):
                    if not columns.needs_unit(uop):
                        columns.executed[uop] = cycle + 1  # when the reorder buffer takes it in
                self._next_uop += size
                self._next_fused += 1
                self.left -= 1
                slots -= 1
            if self.left == 0 and slots > 0 and operations.m_ends_group[last]:
                columns.refuse(cycle, ISSUE_GROUP, self._next_uop - 1)
                return

    def _time(self, uop: int, fused: int, count: int, slots: int, cycle: int) -> None:
        """Set the dispatch times of an instruction's macro-ops: one after the other, beginning in this cycle
        with the given number of free slots."""
        left = slots
        for row in range(fused, fused + count):
            if left == 0:
                left = self._width
                cycle += 1
            left -= 1
            for part in range(uop, uop + self._program.f_uop_count[row]):
                self._columns.issued[part] = cycle
            uop += self._program.f_uop_count[row]

    def _has_room(self, first: int, i: int, count: int, cycle: int) -> bool:
        """Whether an instruction of ``count`` macro-ops has room in the reorder buffer, in the store queue
        and, for each uop, in one of the schedulers that feed its units. If not, record what is full."""
        columns = self._columns
        waiting = self._rob.count + self._issued.count
        # A microcoded instruction may be longer than the buffer: then it goes alone.
        if waiting + count > self._rob_size and waiting > 0:
            self._wait_for_retirement(cycle, ROB_FULL)
            return False
        room: int = 0
        for uop in range(first, first + self._program.i_uop_count[i]):
            mask = self._program.u_port_mask[columns.static[uop]]
            room += mask != 0
            # As if all uops went to one scheduler, but at most one group: microcode may be longer.
            if mask and not self._schedulers.have_room(mask, min(room, self._width)):
                if columns.watched:
                    self._schedulers.refuse(cycle, mask)
                return False
        if columns.stores - self._flight.oldest_store + _ROOM_STORES > self._store_size:
            self._wait_for_retirement(cycle, STORE_BUFFER_FULL)
            return False
        return True

    def _wait_for_retirement(self, cycle: int, buffer: int) -> None:
        """Record that slots stay empty because a buffer is full that is freed at retirement."""
        if not self._columns.watched:
            return
        columns = self._columns
        uop = columns.unfinished[cycle]
        oldest = self._rob if self._rob.count > 0 else self._idq
        columns.refuse_for_retirement(cycle, buffer, uop, oldest.firsts[oldest.head])

    def _rename(self, first: int, i: int, cycle: int) -> None:
        """Rename a whole instruction."""
        columns = self._columns
        program = self._program
        operations = self._operations
        if operations.m_pair_source[i] >= 0:
            self.value[operations.m_pair_target[i]] = self._current(operations.m_pair_source[i])
        self.writes = 0
        eliminated = False
        if program.i_eliminable[i]:
            source = program.i_move_source[i]
            eliminated = self._elimination.decide(program.key_class[source])
        if eliminated:
            target = program.i_move_target[i]
            value = self._current(source)
            columns.port[first] = ELIMINATED
            self._write(target, value)
            self._elimination.share(value, source, target)
        else:
            for uop in range(first, first + program.i_uop_count[i]):
                self._rename_uop(uop, columns.static[uop], cycle)
        for position in range(self.writes):
            key = self.write_key[position]
            if self._elimination.members & program.key_bit[key]:
                old = self.value[key]
                if old != NONE and (not eliminated or old != self.write_value[position]):
                    self._elimination.overwrite(old, key)
            self.value[key] = self.write_value[position]
        self._emulator.execute(i, columns.instance[first])

    def _rename_uop(self, uop: int, static: int, cycle: int) -> None:
        columns = self._columns
        program = self._program
        kind = program.u_kind[static]
        flight = self._flight
        slot = uop & flight.uop_mask
        columns.first_input[uop] = columns.inputs
        flight.u_inputs[slot] = program.u_in_count[static]
        flight.u_waste[slot] = 0
        flight.u_slots[slot] = 1
        flight.u_harness[slot] = 0
        crosses = False
        alias = NONE
        pending = 0
        if kind == EMPTY:
            for operand in range(
                program.u_out0[static], program.u_out0[static] + program.u_out_count[static]
            ):
                self._write(program.out_key[operand], columns.old_value(1))
            return
        first_operand = program.u_in0[static]
        for operand in range(first_operand, first_operand + program.u_in_count[static]):
            key = program.in_key[operand]
            value = self.internal[key] if program.in_internal[operand] else self._current(key)
            pending += self._add_input(uop, value)
        extra = 0
        if kind == STORE_ADDRESS:
            base = self._address_part(program.u_base[static])
            self._memory.open_store(uop, static, base, self._address_part(program.u_index[static]))
        elif kind == STORE_DATA:
            columns.store[uop] = columns.stores - 1
            columns.store_uop[columns.stores - 1] = uop
        elif kind == LOAD:
            columns.late_by[uop] = NONE
        if kind == LOAD and program.u_has_address[static]:
            base = self._address_part(program.u_base[static])
            alias = self._memory.load(uop, static, base, self._address_part(program.u_index[static]))
            crosses = self._memory.crosses
            if alias < NONE:
                # It forwards from the store: it waits for the store's address and data.
                store = columns.store[uop] & flight.store_mask
                pending += self._add_input(uop, flight.s_picked[store])
                pending += self._add_input(uop, flight.s_source[store])
                flight.u_inputs[slot] += 2
                alias = NONE
                extra = 1
        columns.pending[uop] = pending
        if pending == 0:
            flight.fresh.push(uop, 0)
        flight.u_fresh[slot] = 1
        flight.u_place[slot] = self.dispatched
        self._late_operands.weigh(uop, cycle, self.dispatched)
        latency = self._crossing if crosses else 0
        columns.first_result[uop] = columns.values
        for operand in range(program.u_out0[static], program.u_out0[static] + program.u_out_count[static]):
            key = program.out_key[operand]
            value = columns.new_value(uop, program.out_latency[operand] + latency)
            if kind == STORE_DATA:
                flight.s_source[columns.store[uop] & flight.store_mask] = value
            if extra:
                store = columns.store[uop] & flight.store_mask
                forwarding = self._memory.forwarding_latency(store, static)
                flight.u_after_data[slot] = forwarding - program.out_latency[operand]
            if alias != NONE:
                value = alias
            if program.out_internal[operand]:
                self.internal[key] = value
            else:
                self._write(key, value)
        if kind == STORE_DATA and program.u_out_count[static] == 0:
            source = NONE
            if program.u_in_count[static] > 0:
                source = columns.input_value[columns.first_input[uop]]
            else:
                source = columns.old_value(1)
            flight.s_source[columns.store[uop] & flight.store_mask] = source
        self._schedulers.enter(uop, program.u_port_mask[static])

    def _add_input(self, uop: int, value: int) -> int:
        """Connect a uop to an input. Returns 1 if the value's ready time is not known yet, else 0."""
        columns = self._columns
        position = columns.new_input(value)
        if columns.value_ready[value] != UNKNOWN:
            return 0
        columns.await_input(uop, position, value)
        return 1

    def _current(self, key: int) -> int:
        value = self.value[key]
        if value == NONE:
            value = self._columns.old_value(0)
            self.value[key] = value
        return value

    def _address_part(self, key: int) -> int:
        """The value of a base or an index, NONE if the address has none."""
        return NONE if key < 0 else self._current(key)

    def _write(self, key: int, value: int) -> None:
        """Note a result, which becomes visible when the instruction is complete."""
        self.write_key[self.writes] = key
        self.write_value[self.writes] = value
        self.writes += 1

    def buffers(self) -> tuple[Buffer, ...]:
        """The schedulers and the reorder buffer, as dispatch fills them."""
        return (*self._schedulers.buffers(), Buffer("ROB", self._rob_size, self._rob_size - 1))

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        columns = self._columns
        flight = self._flight
        state.add(self.left)
        state.add(self._next_uop - state.uop if self.left else 0)
        self._schedulers.record(state)
        self._memory.record(state)
        self._elimination.record(state, self.value)
        for key in range(self._program.keys):
            self._record_value(state, self.value[key])
        state.add(columns.stores - flight.oldest_store)
        for store in range(flight.oldest_store, columns.stores):
            if state.differs:
                return
            slot = store & flight.store_mask
            state.add(columns.store_uop[store] - state.uop)
            state.add(flight.s_crosses[slot])
            self._record_value(state, flight.s_base_value[slot])
            self._record_value(state, flight.s_index_value[slot])
            self._record_value(state, flight.s_source[slot])
            self._record_value(state, flight.s_picked[slot])

    def _record_value(self, state: Record, value: int) -> None:
        """Record which value it is, when it is ready, and the waste of its producer. Values from before the
        start stay; all others are created anew in every period."""
        columns = self._columns
        flight = self._flight
        if value == NONE:
            state.add(NONE)
            return
        producer = columns.value_uop[value]
        if producer == NONE:
            state.add(value - columns.values if columns.value_zero[value] else value)
            return
        state.add(value - columns.values)
        flight.record_time(state, columns.value_ready[value])
        picked = columns.dispatched[producer]
        if picked == UNKNOWN or picked >= state.cycle - 1:
            state.add(producer - state.uop)
            state.add_time(picked, _LONG_AGO)
            state.add(flight.u_fresh[producer & flight.uop_mask])
            state.add(self.dispatched - flight.u_place[producer & flight.uop_mask])
