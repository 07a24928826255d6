# The renamer: connects every uop that issues to the producers of its inputs (W1 to W5; uiCA model, 3.9).

cdef enum:
    # A result that is ready within this many cycles delays nothing that issues from the next cycle
    # on.
    _SETTLED_RESULTS = 5


@cython.final
cdef class Renamer:
    """Renames the uops of a cycle's issue group, in order."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _bound
    cdef PairQueue _free
    cdef IssueGroup _group
    cdef Memory _memory
    cdef bint _fast_pointer_chasing
    cdef Elimination elimination
    cdef Addition additions
    cdef MemoryRenaming memory_renaming
    cdef int[::1] value  # Current value by rename key, NONE if never used.
    cdef int[::1] moved_32  # Whether the key was set by an eliminated 32-bit move.
    cdef int[::1] internal
    cdef int[::1] write_key
    cdef int[::1] write_value
    cdef int[::1] write_computed
    cdef int[::1] write_owed
    cdef int[::1] _plain  # By row of a uop: whether it only has to be connected, and needs a unit.
    # By row of a uop: whether its results can be visible at once if no result of its instruction
    # waits.
    cdef int[::1] _ends
    cdef int[::1] _moves  # By row of a uop: whether the renamer may carry out its instruction.
    cdef bint _direct  # Whether results concern only the registers.
    cdef int writes
    cdef int writes_moved_32
    cdef int open_store
    cdef int taken_over  # The value that the current load takes over from a store.
    # Whether the latest renamed uop was the last one of its instruction.
    cdef bint between_instructions

    def __init__(
        self,
        Tables tables,
        microarchitecture,
        Queues queues,
        Memory memory,
        IssueGroup group,
        Elimination elimination,
        Addition additions,
        MemoryRenaming memory_renaming,
    ):
        self.tables = tables
        self.program = tables.program
        self._idq = queues.idq
        self._issued = queues.issued
        self._bound = queues.bound
        self._free = queues.free
        self._group = group
        self._memory = memory
        self._fast_pointer_chasing = microarchitecture.fast_pointer_chasing
        self.elimination = elimination
        self.additions = additions
        self.memory_renaming = memory_renaming
        self.value = ints(0)
        self.moved_32 = ints(0)
        # Of the current instruction: internal values, and writes that are not yet visible.
        self.internal = ints(0)
        self.write_key = ints(0)
        self.write_value = ints(0)
        self.write_computed = ints(0)
        self.write_owed = ints(0)
        self._plain = ints(0)
        self._ends = ints(0)
        self._moves = ints(0)

    cdef int start(self) except -1:
        """Reset: no register was ever written."""
        self.elimination.start()
        self.additions.start()
        self._direct = not (self.program.compares_addresses or self.additions.active)
        self._group.start()
        if self.program.all_uops > len(self._plain):
            self._plain = ints(2 * self.program.all_uops)
            self._ends = ints(2 * self.program.all_uops)
            self._moves = ints(2 * self.program.all_uops)
        self._find_plain()
        if self.program.keys > len(self.value):
            self.value = ints(2 * self.program.keys)
            self.moved_32 = ints(2 * self.program.keys)
        for key in range(self.program.keys):
            self.value[key] = NONE
            self.moved_32[key] = 0
        outputs = self.program.outputs + self.program.registers + 1
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
        self.between_instructions = True

    cdef void _find_plain(self) noexcept nogil:
        cdef Instruction *instruction
        cdef bint direct, plain
        for static in range(self.program.uops, self.program.all_uops):
            self._plain[static] = 0
            self._moves[static] = 0
            self._ends[static] = self._direct
        for i in range(self.program.instructions):
            instruction = &self.program.instruction[i]
            direct = not (self.program.compares_addresses and instruction.makes_address)
            plain = not (
                instruction.eliminable
                or instruction.adds
                or instruction.no_uops
                or (self.program.exact_values and instruction.rsp_step)
            )
            for static in range(instruction.uop0, instruction.uop0 + instruction.uop_count):
                self._moves[static] = instruction.eliminable
                self._plain[static] = (
                    plain and self.program.uop[static].kind == COMPUTE and self.program.uop[static].port_mask
                )
                self._ends[static] = direct and self.program.uop[static].last
                first = self.program.uop[static].out0
                for operand in range(first, first + self.program.uop[static].out_count):
                    if self.program.result[operand].internal:
                        self._ends[static] = 0

    cdef void stand(self, int cycle) noexcept nogil:
        """Skip a cycle in which nothing is issued because the scheduler or the reorder buffer is full."""
        self._bound.clear()
        self._free.clear()
        self._group.stand(cycle)

    cdef void tick(self, int cycle) noexcept nogil:
        """Simulate one cycle: fill the issue group and rename it."""
        cdef Uop *uop
        self._issued.clear()
        self._bound.clear()
        self._free.clear()
        self._group.select(cycle)
        if self.program.has_moves:
            self.elimination.start_cycle()
            self._eliminate()
            self.elimination.decided()
        static = NONE
        for slot in range(self._issued.count):
            first = self._issued.firsts[slot]
            for number in range(first, first + self._issued.seconds[slot]):
                uop = &self.tables.uop[number]
                static = uop.static
                uop.issued = cycle
                if self._plain[static]:
                    self._connect(number, static)
                    if self.writes > 0 and self.program.uop[static].last:
                        self._make_visible(uop.position, False)
                else:
                    self._rename(number, static, cycle)
                    if not self.tables.needs_unit(number):
                        uop.executed = cycle
                        continue
                self._bound.push(number, slot)
                if uop.pending == 0:
                    self._free.push(number, slot)
        if static != NONE:
            self.between_instructions = self.program.uop[static].last != 0
        if self.program.has_moves:
            self.elimination.end_cycle()

    cdef bint held(self) noexcept nogil:
        """Whether nothing was issued in the latest cycle and nothing can be until a uop retires."""
        return self._group.held

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which nothing can be issued."""
        if self.program.has_moves:
            self.elimination.pass_by(cycles)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state. Call it only between instructions."""
        cdef bint waits
        waits = self._idq.count > 0 and self._idq.firsts[self._idq.head] == self._group.merged_for
        state.add(1 if waits else 0)
        for position in range(self.program.used_keys):
            key = self.program.used_key[position]
            value = self.value[key]
            state.add(self.moved_32[key])
            if self.additions.active:
                state.add(self.additions.owed[key])
            if value == NONE:
                state.add(NONE)
                continue
            # Keys that hold the same value are named by the first of them.
            same = 0
            while self.value[self.program.used_key[same]] != value:
                same += 1
            state.add(same)
            state.add(self.tables.value[value].zero)
            producer = self.tables.value[value].uop
            if producer == NONE:
                state.add(NONE)
            else:
                state.add(self.program.instruction[self.tables.uop[producer].position].pointer_load)
            self.tables.record_value(state, value, -_SETTLED_RESULTS)
        self.elimination.record(state, self.value)

    cdef void _eliminate(self) noexcept nogil:
        """Decide which moves of the group are eliminated (Y1)."""
        cdef Uop *uop
        for position in range(self._issued.count):
            first = self._issued.firsts[position]
            for number in range(first, first + self._issued.seconds[position]):
                uop = &self.tables.uop[number]
                if not self._moves[uop.static]:
                    continue
                i = uop.position
                if self.elimination.decide(self.program.key_class[self.program.instruction[i].move_source]):
                    uop.port = ELIMINATED

    cdef void _rename(self, int number, int static, int cycle) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef Instruction *instruction
        cdef bint eliminated
        kind = block_uop.kind
        i = uop.position
        instruction = &self.program.instruction[i]
        eliminated = uop.port == ELIMINATED
        if eliminated:
            self._group.eliminate(number)
            self._rename_eliminated(i)
        elif instruction.adds and kind == COMPUTE and self.additions.fits(i):
            uop.port = ELIMINATED
            self._group.eliminate(number)
            self._rename_added(i, static)
        elif kind == EMPTY and block_uop.in_count:
            self._copy(uop, block_uop)
        elif kind >= SYNC:
            self._connect(number, static)
        elif instruction.no_uops:
            # Zero idioms, NOPs, unknown instructions: results without a producer, no flags (W1).
            computed = 1 if self.program.exact_values else 0
            first_output = instruction.outputs0
            for output in range(first_output, first_output + instruction.outputs_count):
                self._write(self.program.output[output].key, self.tables.old_value(1), computed, 0)
        else:
            if kind == STORE_ADDRESS:
                self.open_store = self._memory.open_store(static)
                uop.store = self.open_store
            elif kind == STORE_DATA:
                uop.store = self.open_store
                self.tables.store[self.open_store].uop = number
            if kind == LOAD:
                store = self._memory.newest_store(static, cycle)
                uop.store = store
                uop.blocked = self._memory.blocked
                uop.renamed = 0
                uop.collided = 0
                if self.program.exact_values:
                    uop.words = self._memory.words(static)
                if store != NONE and self.memory_renaming.active and self._memory.ahead == 0:
                    self.taken_over = self.memory_renaming.value(number, i, store)
                    if self.taken_over != NONE:
                        uop.store = NONE
                        uop.renamed = 1
                if self._fast_pointer_chasing and self._chases_pointer(static):
                    uop.latency_bonus = 1
            self._connect(number, static)
            self.taken_over = NONE
            if kind == STORE_DATA and self.memory_renaming.active and block_uop.in_count:
                data = self.tables.input[uop.first_input].value
                operand = block_uop.in0
                key = NONE if self.program.operand[operand].internal else self.program.operand[operand].key
                owed = 0 if key == NONE else self.additions.owed[key]
                self.memory_renaming.stored(self.open_store, data, key, owed)
        if block_uop.last or kind >= SYNC:
            if self.writes > 0:
                self._make_visible(i, eliminated)
            if kind < SYNC:
                self._memory.move_stack(i)

    cdef int _current(self, int key) noexcept nogil:
        value = self.value[key]
        if value == NONE:
            value = self.tables.old_value(0)
            self.value[key] = value
        return value

    cdef void _write(self, int key, int value, int computed, int owed) noexcept nogil:
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

    cdef void _rename_eliminated(self, int i) noexcept nogil:
        """The target takes over the source's value (Y2)."""
        cdef Instruction *instruction = &self.program.instruction[i]
        source = instruction.move_source
        target = instruction.move_target
        value = self._current(source)
        self._write(target, value, 0, self.additions.owed[source])
        self.writes_moved_32 = instruction.move_32
        self.elimination.share(value, source, target)
        self._memory.copy(source, target)

    cdef void _copy(self, Uop *uop, BlockUop *block_uop) noexcept nogil:
        """The result is the value of the input, without an operation (U13)."""
        uop.first_input = self.tables.inputs
        uop.first_result = self.tables.values
        uop.pending = 0
        uop.latest = FOREVER
        value = self._current(self.program.operand[block_uop.in0].key)
        for operand in range(block_uop.out0, block_uop.out0 + block_uop.out_count):
            self._write(self.program.result[operand].key, value, 0, 0)

    cdef void _rename_added(self, int i, int static) noexcept nogil:
        """The target takes over the source's value and owes a constant; flags come with the source's
        value."""
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef Instruction *instruction = &self.program.instruction[i]
        source = instruction.move_source
        value = self.tables.old_value(1) if source < 0 else self._current(source)
        first = block_uop.out0
        for operand in range(first, first + block_uop.out_count):
            key = self.program.result[operand].key
            owed = self.additions.owed_then(i) if key == instruction.move_target else 0
            self._write(key, value, 1, owed)

    cdef void _connect(self, int number, int static) noexcept nogil:
        """Resolve inputs, create results (W4)."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef long long shared
        position = self.tables.inputs
        uop.first_input = position
        pending = 0
        latest = FOREVER
        first_operand = block_uop.in0
        for operand in range(first_operand, first_operand + block_uop.in_count):
            key = self.program.operand[operand].key
            value = self.internal[key] if self.program.operand[operand].internal else self._current(key)
            self.tables.input[position].value = value
            ready = self.tables.value[value].ready
            if ready == UNKNOWN:
                pending += 1
                self.tables.await_input(number, position, value)
            elif ready > latest:
                latest = ready
            position += 1
        self.tables.inputs = position
        uop.pending = pending
        uop.latest = latest
        uop.first_result = self.tables.values
        owed = 0
        if self.additions.active and block_uop.first:
            owed = self.additions.penalty(uop.position)
        first_operand = block_uop.out0
        if self._ends[static] and self.writes == 0 and self.taken_over == NONE:
            # The only uop of its instruction that writes: no need to wait for the others.
            shared = self.elimination.members
            for operand in range(first_operand, first_operand + block_uop.out_count):
                key = self.program.result[operand].key
                if shared and shared & self.program.key_bit[key] and self.value[key] != NONE:
                    self.elimination.overwrite(self.value[key], key)
                self.value[key] = self.tables.new_value(number, self.program.result[operand].latency + owed)
                self.moved_32[key] = 0
                if self.additions.active:
                    self.additions.owed[key] = 0
            return
        computed = 1
        if self.program.exact_values and block_uop.kind >= SYNC:
            computed = 0  # the published model treats its result as a new value
        for operand in range(first_operand, first_operand + block_uop.out_count):
            value = self.tables.new_value(number, self.program.result[operand].latency + owed)
            key = self.program.result[operand].key
            if not self._direct and self.taken_over != NONE:
                value = self.taken_over
            if self.program.result[operand].internal:
                self.internal[key] = value
            else:
                self._write(key, value, computed, 0)

    cdef void _make_visible(self, int i, bint eliminated) noexcept nogil:
        """The instruction's results become visible to later ones (W5, Y3)."""
        cdef long long shared
        shared = self.elimination.members
        for position in range(self.writes):
            key = self.write_key[position]
            value = self.write_value[position]
            if shared and shared & self.program.key_bit[key]:
                old = self.value[key]
                if old != NONE and (not eliminated or old != value):
                    self.elimination.overwrite(old, key)
            self.value[key] = value
            self.moved_32[key] = self.writes_moved_32
            if self.additions.active:
                self.additions.owed[key] = self.write_owed[position]
        if self.program.compares_addresses and self.program.instruction[i].makes_address:
            # Computed before any result is visible: an instruction may continue a value that it overwrites.
            continued = self._memory.continued(i)
            for position in range(self.writes):
                if self.write_computed[position]:
                    self._memory.result(self.write_key[position], continued)
        self.writes = 0
        self.writes_moved_32 = 0

    cdef bint _chases_pointer(self, int static) noexcept nogil:
        """Whether the load has latency 4 instead of 5 (uiCA model, 3.11.3)."""
        cdef BlockUop *block_uop = &self.program.uop[static]
        if not block_uop.pointer_chasing:
            return False
        base = block_uop.base
        if self.moved_32[base]:
            return False
        producer = self.tables.value[self._current(base)].uop
        if producer == NONE:
            return False
        if not self.program.instruction[self.tables.uop[producer].position].pointer_load:
            return False
        index = block_uop.index
        return index < 0 or self.tables.value[self._current(index)].zero != 0
