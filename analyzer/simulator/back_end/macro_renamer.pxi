# Dispatch on a core that counts macro-ops: renames whole instructions in order, limited by the width and by
# room in the buffers (M4).

cdef enum:
    _ROOM_STORES = 2  # Store-queue entries that an instruction may need; with less room dispatch stops.


@cython.final
cdef class MacroRenamer:
    """Dispatches up to ``issue_width`` macro-ops per cycle."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef MacroMemory _memory
    cdef Elimination _elimination
    cdef SchedulerChoice _schedulers
    cdef LateOperands _late_operands
    cdef LoadQueue _load_queue
    cdef MemoryGroup _memory_group
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef Shortage _shortage
    cdef int _width
    cdef int _rob_size
    cdef int _vector_width
    cdef int _store_size
    cdef int _crossing
    cdef int[::1] value  # Current value by rename key, NONE if never used.
    cdef int[::1] internal
    cdef int[::1] write_key
    cdef int[::1] write_value
    cdef int writes
    cdef int left  # Macro-ops of the latest renamed instruction that are still to be dispatched.
    cdef int _lost  # Slots that the latest renamed instruction still keeps empty behind it.
    cdef int _next_fused
    cdef int _next_uop
    cdef int dispatched  # Macro-ops dispatched so far.
    cdef bint _timed  # Whether dispatch waits for a time that no event announces.
    cdef bint _starved  # Whether the op queue was empty in the latest cycle.

    def __init__(
        self,
        MacroTables macro,
        microarchitecture,
        MacroMemory memory,
        Elimination elimination,
        SchedulerChoice schedulers,
        LateOperands late_operands,
    ):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = macro.tables
        self.program = macro.tables.program
        self.operations = macro.operations
        self.flight = macro.flight
        self._memory = memory
        self._elimination = elimination
        self._schedulers = schedulers
        self._late_operands = late_operands
        self._load_queue = LoadQueue(macro.tables, rules.load_queue)
        self._memory_group = MemoryGroup(macro, microarchitecture)
        self._idq = macro.queues.idq
        self._issued = macro.queues.issued
        self._rob = macro.queues.rob
        self._shortage = macro.queues.shortage
        self._width = microarchitecture.issue_width
        self._rob_size = microarchitecture.reorder_buffer_size
        self._vector_width = rules.vector_dispatch_width
        self._store_size = rules.store_queue
        self._crossing = rules.line_crossing_cycles
        self.value = ints(0)
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)

    cdef int start(self) except -1:
        """Reset: no register was ever written."""
        if self.program.keys > len(self.value):
            self.value = ints(2 * self.program.keys)
        for key in range(self.program.keys):
            self.value[key] = NONE
        outputs = self.program.outputs + self.program.registers + 2
        if outputs > len(self.internal):
            self.internal = ints(2 * outputs)
            self.write_key = ints(2 * outputs)
            self.write_value = ints(2 * outputs)
        self.writes = 0
        self.left = self._lost = 0
        self._next_fused = 0
        self._next_uop = 0
        self.dispatched = 0
        self._starved = False
        self._load_queue.start()
        self._schedulers.start()
        self._memory.start()

    cdef void tick(self, int cycle) noexcept nogil:
        """Simulate one cycle."""
        self._issued.clear()
        self._schedulers.start_cycle()
        self._memory_group.clear()
        self._dispatch(cycle)
        self._schedulers.end_cycle()

    cdef bint waits(self) noexcept nogil:
        """Whether dispatch stays blocked until a uop retires, leaves a scheduler or the store queue, or
        enters the op queue. Only valid if the latest cycle dispatched nothing."""
        return not self._timed and (not self._starved or self._idq.count == 0)

    cdef void _dispatch(self, int cycle) noexcept nogil:
        self.tables.refuse(cycle, 0, NONE)
        self._starved = False
        self._timed = False
        slots = self._without_lost(self._width, cycle)
        vectors = self._vector_width
        while slots > 0:
            if self.left == 0:
                if self._idq.count == 0:
                    self._starved = True
                    self.tables.refuse(cycle, self._shortage.reason, self._shortage.instruction())
                    return
                uop = self._idq.firsts[self._idq.head]
                idq_uop = self._idq.seconds[self._idq.head]
                i = self.tables.uop[uop].position
                count = self.program.idq_uop[idq_uop].fused_count
                if not self._has_room(uop, i, count, cycle):
                    return
                if not self._schedulers.has_group_room(uop, i):
                    self.tables.refuse(cycle, ISSUE_GROUP, uop)
                    return
                needed = self.operations.m_vector_ops[i]
                if needed > vectors and vectors < self._vector_width:
                    self.tables.refuse(cycle, ISSUE_GROUP, uop)
                    return
                if not self._memory_group.take(uop, i):
                    self.tables.refuse(cycle, ISSUE_GROUP, uop)
                    return
                vectors -= needed
                if self.operations.m_serializing[i]:
                    for part in range(uop, uop + self.program.instruction[i].uop_count):
                        self.tables.uop[part].held = HELD_BY_FENCE
                    if self._rob.count + self._issued.count > 0:
                        self.tables.refuse(cycle, SERIALIZATION, uop)
                        return
                self._idq.pop()
                self._time(uop, self.program.idq_uop[idq_uop].fused0, count, slots, cycle)
                self._rename(uop, i, cycle)
                self.left = count
                self._next_fused = self.program.idq_uop[idq_uop].fused0
                self._next_uop = uop
                self.dispatched += count
            last = self.tables.uop[self._next_uop].position
            while self.left > 0 and slots > 0:
                size = self.program.fused_uop[self._next_fused].uop_count
                self._issued.push(self._next_uop, size)
                for uop in range(self._next_uop, self._next_uop + size):
                    if not self.tables.needs_unit(uop):
                        self.tables.uop[uop].executed = cycle + 1  # when the reorder buffer takes it in
                self._next_uop += size
                self._next_fused += 1
                self.left -= 1
                slots -= 1
            if self.left == 0 and slots > 0 and self.operations.m_ends_group[last]:
                self.tables.refuse(cycle, ISSUE_GROUP, self._next_uop - 1)
                return
            if self.left == 0 and self.operations.m_lost_slots[last]:
                self._lost = self.operations.m_lost_slots[last]
                slots = self._without_lost(slots, cycle)

    cdef int _without_lost(self, int slots, int cycle) noexcept nogil:
        """How many of a cycle's slots microcode leaves, which keeps others empty behind it (M39)."""
        if self._lost == 0 or slots == 0:
            return slots
        lost = min(slots, self._lost)
        self._lost -= lost
        self._timed = True
        self.tables.refuse(cycle, ISSUE_GROUP, self._next_uop - 1)
        return slots - lost

    cdef void _time(self, int uop, int fused, int count, int slots, int cycle) noexcept nogil:
        """Set the dispatch times of an instruction's macro-ops: one after the other, beginning in this cycle
        with the given number of free slots."""
        left = slots
        for row in range(fused, fused + count):
            if left == 0:
                left = self._width
                cycle += 1
            left -= 1
            for part in range(uop, uop + self.program.fused_uop[row].uop_count):
                self.tables.uop[part].issued = cycle
            uop += self.program.fused_uop[row].uop_count

    cdef bint _has_room(self, int first, int i, int count, int cycle) noexcept nogil:
        """Whether an instruction of ``count`` macro-ops has room in the reorder buffer, in the store queue
        and, for each uop, in one of the schedulers that feed its units. If not, record what is full."""
        cdef int room
        waiting = self._rob.count + self._issued.count
        # A microcoded instruction may be longer than the buffer: then it goes alone.
        if waiting + count > self._rob_size and waiting > 0:
            self._wait_for_retirement(cycle, ROB_FULL)
            return False
        if not self._load_queue.has_room(first, i, cycle):
            # Time alone frees an entry.
            self._timed = True
            self.tables.refuse(cycle, RESOURCE_FULL, self._load_queue.oldest())
            return False
        room = 0
        for uop in range(first, first + self.program.instruction[i].uop_count):
            mask = self.program.uop[self.tables.uop[uop].static].port_mask
            room += mask != 0
            # As if all uops went to one scheduler, but at most one group: microcode may be longer.
            if mask and not self._schedulers.have_room(mask, min(room, self._width)):
                if self.tables.watched:
                    self._schedulers.refuse(cycle, mask)
                return False
        if self.tables.stores - self.flight.oldest_store + _ROOM_STORES > self._store_size:
            self._wait_for_retirement(cycle, STORE_BUFFER_FULL)
            return False
        return True

    cdef void _wait_for_retirement(self, int cycle, int buffer) noexcept nogil:
        """Record that slots stay empty because a buffer is full that is freed at retirement."""
        if not self.tables.watched:
            return
        uop = self.tables.cycle[cycle].unfinished
        oldest = self._rob.oldest() if self._rob.count > 0 else self._idq.oldest()
        self.tables.refuse_for_retirement(cycle, buffer, uop, oldest)

    cdef void _rename(self, int first, int i, int cycle) noexcept nogil:
        """Rename a whole instruction."""
        cdef Instruction *instruction = &self.program.instruction[i]
        if self.operations.m_pair_source[i] >= 0:
            self.value[self.operations.m_pair_target[i]] = self._current(self.operations.m_pair_source[i])
        self.writes = 0
        eliminated = False
        if instruction.eliminable:
            source = instruction.move_source
            eliminated = self._elimination.decide(self.program.key_class[source])
        if eliminated:
            target = instruction.move_target
            value = self._current(source)
            self.tables.uop[first].port = ELIMINATED
            self._write(target, value)
        else:
            for uop in range(first, first + instruction.uop_count):
                self._rename_uop(uop, self.tables.uop[uop].static, cycle)
        for position in range(self.writes):
            self.value[self.write_key[position]] = self.write_value[position]
        self._memory.execute(i, self.tables.uop[first].instance)

    cdef void _rename_uop(self, int number, int static, int cycle) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop = &self.program.uop[static]
        kind = block_uop.kind
        slot = number & self.flight.uop_mask
        uop.first_input = self.tables.inputs
        self.flight.u_inputs[slot] = block_uop.in_count
        self.flight.u_waste[slot] = 0
        self.flight.u_slots[slot] = 1
        self.flight.u_receives[slot] = 0
        self.flight.u_harness[slot] = 0
        crosses = False
        alias = NONE
        pending = 0
        if kind == EMPTY:
            # It has no unit: its results are known, or copies of its input (M7).
            self.flight.u_inputs[slot] = 0
            value = self.tables.old_value(1)
            if block_uop.in_count:
                value = self._current(self.program.operand[block_uop.in0].key)
            for operand in range(
                block_uop.out0, block_uop.out0 + block_uop.out_count
            ):
                self._write(self.program.result[operand].key, value)
            return
        first_operand = block_uop.in0
        for operand in range(first_operand, first_operand + block_uop.in_count):
            key = self.program.operand[operand].key
            value = self.internal[key] if self.program.operand[operand].internal else self._current(key)
            pending += self._add_input(number, value)
        extra = 0
        if kind == STORE_ADDRESS:
            base = self._address_part(block_uop.base)
            self._memory.open_store(number, static, base, self._address_part(block_uop.index))
        elif kind == STORE_DATA:
            uop.store = self.tables.stores - 1
            self.tables.store[self.tables.stores - 1].uop = number
        elif kind == LOAD:
            uop.late_by = NONE
            self._load_queue.enter(number)
        if kind == LOAD and block_uop.has_address:
            base = self._address_part(block_uop.base)
            alias = self._memory.load(number, static, base, self._address_part(block_uop.index))
            crosses = self._memory.crosses
            if alias < NONE:
                # It forwards from the store: it waits for the store's address and data.
                store = uop.store & self.flight.store_mask
                pending += self._add_input(number, self.flight.s_picked[store])
                pending += self._add_input(number, self.flight.s_source[store])
                self.flight.u_inputs[slot] += 2
                alias = NONE
                extra = 1
        uop.pending = pending
        if pending == 0 and block_uop.port_mask:
            self.flight.fresh.push(number, 0)
        self.flight.u_fresh[slot] = 1
        self.flight.u_place[slot] = self.dispatched
        self._late_operands.weigh(number, cycle, self.dispatched)
        latency = self._crossing if crosses else 0
        uop.first_result = self.tables.values
        for operand in range(block_uop.out0, block_uop.out0 + block_uop.out_count):
            key = self.program.result[operand].key
            value = self.tables.new_value(number, self.program.result[operand].latency + latency)
            if kind == STORE_DATA:
                self.flight.s_source[uop.store & self.flight.store_mask] = value
            if extra:
                store = uop.store & self.flight.store_mask
                forwarding = self._memory.forwarding_latency(store, static)
                self.flight.u_after_data[slot] = forwarding - self.program.result[operand].latency
            if alias != NONE:
                value = alias
            if self.program.result[operand].internal:
                self.internal[key] = value
            else:
                self._write(key, value)
        if kind == STORE_DATA and block_uop.out_count == 0:
            source = NONE
            if block_uop.in_count > 0:
                source = self.tables.input[uop.first_input].value
            else:
                source = self.tables.old_value(1)
            self.flight.s_source[uop.store & self.flight.store_mask] = source
        if block_uop.port_mask:
            self._schedulers.enter(number, block_uop.port_mask)

    cdef int _add_input(self, int uop, int value) noexcept nogil:
        """Connect a uop to an input. Returns 1 if the value's ready time is not known yet, else 0."""
        position = self.tables.new_input(value)
        if self.tables.value[value].ready != UNKNOWN:
            return 0
        self.tables.await_input(uop, position, value)
        return 1

    cdef int _current(self, int key) noexcept nogil:
        value = self.value[key]
        if value == NONE:
            value = self.tables.old_value(0)
            self.value[key] = value
        return value

    cdef int _address_part(self, int key) noexcept nogil:
        """The value of a base or an index, NONE if the address has none."""
        return NONE if key < 0 else self._current(key)

    cdef void _write(self, int key, int value) noexcept nogil:
        """Note a result, which becomes visible when the instruction is complete."""
        self.write_key[self.writes] = key
        self.write_value[self.writes] = value
        self.writes += 1

    cdef object buffers(self):
        """The schedulers and the reorder buffer, as dispatch fills them."""
        return (*self._schedulers.buffers(), Buffer("ROB", self._rob_size, self._rob_size - 1))

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self.left)
        state.add(self._lost)
        state.add(self._next_uop - state.uop if self.left else 0)
        self._schedulers.record(state)
        self._load_queue.record(state)
        state.add(self.flight.forwarding)
        self._memory.record(state)
        for key in range(self.program.keys):
            self._record_value(state, self.value[key])
        state.add(self.tables.stores - self.flight.oldest_store)
        for store in range(self.flight.oldest_store, self.tables.stores):
            if state.differs:
                return 0
            slot = store & self.flight.store_mask
            state.add(self.tables.store[store].uop - state.uop)
            state.add(self.flight.s_crosses[slot])
            self._record_value(state, self.flight.s_base_value[slot])
            self._record_value(state, self.flight.s_index_value[slot])
            self._record_value(state, self.flight.s_source[slot])
            self._record_value(state, self.flight.s_picked[slot])

    cdef int _record_value(self, Record state, int value) except -1 nogil:
        """Record which value it is, when it is ready, and the waste of its producer. Values from before the
        start stay; all others are created anew in every period."""
        if value == NONE:
            state.add(NONE)
            return 0
        producer = self.tables.value[value].uop
        if producer == NONE:
            state.add(value - self.tables.values if self.tables.value[value].zero else value)
            return 0
        state.add(value - self.tables.values)
        self.flight.record_time(state, self.tables.value[value].ready)
        picked = self.tables.uop[producer].dispatched
        if picked == UNKNOWN or picked >= state.cycle - 1:
            state.add(producer - state.uop)
            state.add_time(picked, LONG_AGO)
            state.add(self.flight.u_fresh[producer & self.flight.uop_mask])
            state.add(self.dispatched - self.flight.u_place[producer & self.flight.uop_mask])
