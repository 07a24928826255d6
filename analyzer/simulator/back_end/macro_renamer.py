"""Dispatch of a core that counts macro-ops: renames whole instructions, in order, as far as width and room
go, and finds the stores that loads read from (M4, M7, M19)."""

from __future__ import annotations

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Buffer
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands
from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming
from cyclelens.analyzer.simulator.back_end.one_page import LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.scheduler_choice import SchedulerChoice
from cyclelens.analyzer.simulator.tables.arrays import Long, PairQueue, Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    BLOCKED,
    ELIMINATED,
    EMPTY,
    HELD_BY_FENCE,
    ISSUE_GROUP,
    LOAD,
    MISTAKEN,
    NONE,
    RETIRING,
    ROB_FULL,
    SERIALIZATION,
    STORE_ADDRESS,
    STORE_BUFFER_FULL,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues

_VECTOR, _READ_MODIFY_WRITE = int(Trait.VECTOR), int(Trait.READ_MODIFY_WRITE)
_LINE = 64
_PAGE = 4096
_ROOM_STORES = 2
"""What an instruction may need of the store queue; less room than that stops dispatch."""
_LONG_AGO = 1 << 20


class MacroRenamer:
    """Up to ``issue_width`` macro-ops per cycle."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        operations: Operations,
        emulator: Emulator,
        in_flight: InFlight,
        one_page: LinesOfOnePage,
        load_renaming: LoadRenaming,
        elimination: Elimination,
        schedulers: SchedulerChoice,
        late_operands: LateOperands,
        entries: PairQueue,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._emulator = emulator
        self._flight = in_flight
        self._one_page = one_page
        self._load_renaming = load_renaming
        self._elimination = elimination
        self._schedulers = schedulers
        self._late_operands = late_operands
        self._idq = queues.idq
        self._issued = queues.issued
        self._shortage = queues.shortage
        self._entries = entries
        self._width = microarchitecture.issue_width
        self._rob_size = microarchitecture.reorder_buffer_size
        self._set(rules)
        self.value = ints(0)
        """Current value by rename key, NONE if never used."""
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)

    def _set(self, rules: MacroOpRules) -> None:
        self._vector_width = rules.vector_dispatch_width
        self._store_size = rules.store_queue
        self._forwarding = rules.forwarding
        self._vector_forwarding = rules.vector_forwarding
        self._to_integer = rules.vector_to_integer_forwarding
        self._to_vector = rules.integer_to_vector_forwarding
        self._from_address = rules.forwarding_from_address
        self._crossing = rules.line_crossing_cycles
        self._chunk = rules.store_chunk_bytes or _LINE
        self._alike = rules.false_renaming_bytes

    def start(self) -> None:
        """No register was ever written."""
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
        """Macro-ops of the instruction renamed last that are still to be dispatched."""
        self._next_fused = 0
        self._next_uop = 0
        self.dispatched = 0
        """Macro-ops so far."""
        self._schedulers.start()
        self._elimination.start()
        self._load_renaming.start()

    def tick(self, cycle: int) -> None:
        """One cycle."""
        self._issued.clear()
        if not self._program.has_moves:
            self._dispatch(cycle)
            return
        self._elimination.start_cycle()
        self._dispatch(cycle)
        self._elimination.decided()
        self._elimination.end_cycle()

    def _dispatch(self, cycle: int) -> None:
        program = self._program
        operations = self._operations
        columns = self._columns
        queue = self._idq
        columns.refuse(cycle, 0, NONE)
        slots = self._width
        vectors = self._vector_width
        while slots > 0:
            if self.left == 0:
                if queue.count == 0:
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
                    if self._entries.count + self._issued.count > 0:
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
                self._next_uop += size
                self._next_fused += 1
                self.left -= 1
                slots -= 1
            if self.left == 0 and slots > 0 and operations.m_ends_group[last]:
                columns.refuse(cycle, ISSUE_GROUP, self._next_uop - 1)
                return

    def _time(self, uop: int, fused: int, count: int, slots: int, cycle: int) -> None:
        """When the macro-ops of an instruction are dispatched: one after the other from this cycle on, which
        has so many slots left."""
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
        """Whether an instruction of so many macro-ops has room in the reorder buffer, in the store queue and,
        for every uop, in one of the schedulers that feed its units; if not, records where it has none."""
        columns = self._columns
        waiting = self._entries.count + self._issued.count
        # A microcoded instruction may be longer than the buffer: it goes alone.
        if waiting + count > self._rob_size and waiting > 0:
            self._wait_for_retirement(cycle, ROB_FULL)
            return False
        room = 0
        for uop in range(first, first + self._program.i_uop_count[i]):
            mask = self._program.u_port_mask[columns.static[uop]]
            room += mask != 0
            # As if all went to one scheduler, but no more than a group of them: microcode may be longer.
            if mask and not self._schedulers.have_room(mask, min(room, self._width)):
                if columns.watched:
                    self._schedulers.refuse(cycle, mask)
                return False
        if columns.stores - self._flight.oldest_store + _ROOM_STORES > self._store_size:
            self._wait_for_retirement(cycle, STORE_BUFFER_FULL)
            return False
        return True

    def _wait_for_retirement(self, cycle: int, buffer: int) -> None:
        """Slots stay empty because a buffer is full that gives room back at retirement."""
        if not self._columns.watched:
            return
        columns = self._columns
        uop = columns.unfinished[cycle]
        if uop == NONE:
            oldest = self._entries if self._entries.count > 0 else self._idq
            columns.refuse(cycle, buffer + RETIRING, oldest.firsts[oldest.head])
        elif columns.needs_unit(uop):
            columns.refuse(cycle, buffer, uop)
        else:
            columns.refuse(cycle, buffer + RETIRING, uop)

    def _rename(self, first: int, i: int, cycle: int) -> None:
        """A whole instruction."""
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
            if self._elimination.entries > 0:
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
            self._open_store(uop, static)
        elif kind == STORE_DATA:
            columns.store[uop] = columns.stores - 1
            columns.store_uop[columns.stores - 1] = uop
        elif kind == LOAD:
            columns.late_by[uop] = NONE
        if kind == LOAD and program.u_has_address[static]:
            address: Long = self._emulator.address(static, columns.position[uop], columns.instance[uop])
            self._emulator.load_address = address
            self._one_page.read(uop, address)
            crosses = address % _LINE + program.u_bytes[static] > _LINE
            if crosses:
                flight.u_slots[slot] = 2
            alias = self._find_store(uop, static, address)
            if alias < NONE:
                # It forwards from the store: it waits for its address and its data.
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
                flight.u_after_data[slot] = (
                    self._forwarding_latency(store, static) - program.out_latency[operand]
                )
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
                source = columns.old_value(0)
            flight.s_source[columns.store[uop] & flight.store_mask] = source
        self._schedulers.enter(uop, program.u_port_mask[static])

    def _add_input(self, uop: int, value: int) -> int:
        """1 if it is not known yet when the value will be there."""
        columns = self._columns
        position = columns.new_input(uop, value)
        if columns.value_ready[value] != UNKNOWN:
            return 0
        columns.input_next[position] = columns.value_waiters[value]
        columns.value_waiters[value] = position
        return 1

    def _current(self, key: int) -> int:
        value = self.value[key]
        if value == NONE:
            value = self._columns.old_value(0)
            self.value[key] = value
        return value

    def _write(self, key: int, value: int) -> None:
        """A result, visible when the instruction is complete."""
        self.write_key[self.writes] = key
        self.write_value[self.writes] = value
        self.writes += 1

    def buffers(self) -> tuple[Buffer, ...]:
        """All schedulers and the reorder buffer, as dispatch fills them."""
        return (*self._schedulers.buffers(), Buffer("ROB", self._rob_size, self._rob_size - 1))

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        columns = self._columns
        flight = self._flight
        state.add(self.left)
        state.add(self._next_uop - state.uop if self.left else 0)
        self._schedulers.record(state)
        self._load_renaming.record(state)
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
        """Which value it is, when it is there, and what its producer says about waste. Values from before the
        start stay, all others are made anew in every period."""
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

    # -- memory --------------------------------------------------------------------------------------------

    def _open_store(self, uop: int, static: int) -> None:
        columns = self._columns
        program = self._program
        flight = self._flight
        address: Long = self._emulator.address(static, columns.position[uop], columns.instance[uop])
        self._emulator.store_address = address
        store = columns.new_store()
        columns.store[uop] = store
        columns.store_base[store] = address
        columns.store_bytes[store] = program.u_bytes[static]
        slot = store & flight.store_mask
        base = program.u_base[static]
        index = program.u_index[static]
        flight.s_base_key[slot] = base
        flight.s_base_value[slot] = NONE if base < 0 else self._current(base)
        flight.s_index_value[slot] = NONE if index < 0 else self._current(index)
        flight.s_vector[slot] = self._operations.t_traits[static] & _VECTOR
        size = program.u_bytes[static]
        flight.s_crosses[slot] = address % self._chunk + size > self._chunk
        if address % _PAGE + size > _PAGE:
            flight.s_crosses[slot] = 2
        # The value has no latency: it is there when the address is picked.
        flight.s_picked[slot] = columns.new_value(uop, 0)

    def _find_store(self, uop: int, static: int, address: Long) -> int:
        """What a load reads: the value that a store in flight stores, if it is renamed to that; NONE for
        memory; less if it forwards from a store, which ``store`` names."""
        columns = self._columns
        program = self._program
        flight = self._flight
        size = program.u_bytes[static]
        base = NONE if program.u_base[static] < 0 else self._current(program.u_base[static])
        index = NONE if program.u_index[static] < 0 else self._current(program.u_index[static])
        columns.blocked[uop] = columns.renamed[uop] = columns.collided[uop] = 0
        store = columns.stores - 1
        while store >= flight.oldest_store:
            ahead: Long = address - columns.store_base[store]
            other_page = False
            if self._one_page.active and flight.decoded:
                # Loops learn that such accesses do not meet; straight-line code forwards between pages.
                offset: Long = (ahead + _PAGE // 2) % _PAGE - _PAGE // 2
                other_page = offset != ahead
                ahead = offset
            stored = columns.store_bytes[store]
            if -size < ahead < stored:
                columns.store[uop] = store
                if ahead < 0 or ahead + size > stored:
                    columns.blocked[uop] = BLOCKED
                    return NONE
                return self._read_from(uop, store, base, index, ahead == 0 and not other_page)
            if (
                self._alike
                and ahead % self._alike == 0
                and self._load_renaming.mistakes(uop, store, base, index)
            ):
                columns.store[uop] = store
                columns.blocked[uop] = MISTAKEN
                return NONE
            store -= 1
        return NONE

    def _read_from(self, uop: int, store: int, base: int, index: int, begins: bool) -> int:
        """A load that a store covers. ``base``, ``index``: the values of its address."""
        flight = self._flight
        if begins and self._load_renaming.takes_over(uop, store, base, index):
            self._columns.store[uop] = NONE
            self._columns.renamed[uop] = 1
            return flight.s_source[store & flight.store_mask]
        flight.u_after_address[uop & flight.uop_mask] = self._from_address
        return NONE - 1

    def _forwarding_latency(self, store: int, static: int) -> int:
        """From the store's data to the load's result."""
        traits = self._operations.t_traits[static]
        if self._flight.s_vector[store]:
            return self._vector_forwarding if traits & _VECTOR else self._to_integer
        if traits & _VECTOR:
            return self._to_vector
        return self._forwarding - (1 if traits & _READ_MODIFY_WRITE else 0)
