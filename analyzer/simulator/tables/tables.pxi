# The tables of a run: everything in flight has a row, and its index names it.
#
# A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
# (uiCA model, chapter 0). Tables only grow, by doubling; nothing is allocated per cycle.

cdef long long _LATE = 1152921504606846976  # Larger than any other number of a state.
cdef enum:
    _RESULT = 16  # Bits for the number of a result within its uop.
    # Longer tables, of more than a megabyte, are kept only while runs are of the same core, ...
    _MOST_ROWS = 1 << 14
    # ... and only if they are no longer than a run of 10,000 cycles makes them.
    _MOST_ROWS_NEXT = 1 << 17


@cython.final
cdef class Tables:
    """The shared state of one simulation. Stages read and write rows; they never call each other.

    Dynamic instructions are numbered round by round: instance = round * instructions + position.
    """

    cdef Program program
    cdef int _margin
    cdef int _value_margin
    cdef bint watched  # Whether stages also record why they refuse.
    # Whether the sources of uops and their times of entry into the IDQ are recorded.
    cdef bint followed
    cdef bint stamped  # Whether retirement times are recorded.
    cdef int instances
    cdef int uops
    cdef int inputs
    cdef int values
    cdef int stores
    cdef Instance *instance  # dynamic instructions
    cdef Uop *uop  # by sequence number
    cdef UopInput *input  # of uops, in the order of renaming
    cdef Value *value  # results
    cdef StoreEntry *store  # entries of the store buffer
    cdef CycleRecord *cycle  # only if the run is watched
    cdef int _instances_room
    cdef int _uops_room
    cdef int _inputs_room
    cdef int _values_room
    cdef int _stores_room
    cdef int _cycles_room
    cdef int _most_instances
    cdef int _most_uops
    cdef int _most_inputs
    cdef int _most_values
    cdef int _most_stores
    cdef Uop *_round  # the uops of a round as they are made
    cdef int _round_room

    def __init__(self, Program program):
        self.program = program
        self._margin = 0
        self._value_margin = 0

    def __dealloc__(self):
        free(self.instance)
        free(self.uop)
        free(self.input)
        free(self.value)
        free(self.store)
        free(self.cycle)
        free(self._round)

    cdef int start(self, bint watched, bint followed, bint stamped) except -1:
        """Reset for a run of the program, which may have been refilled."""
        self.watched = watched
        self.followed = followed or self.program.has_joins != 0
        self.stamped = followed or stamped
        # What one cycle can add: code fetch takes up to five groups of 64 bytes or four rounds, the LSD up
        # to eight rounds; the renamer takes some instructions and every key that it sees for the first time.
        rounds = 10 if self.program.loop else 2 + 5 * CODE_LINE // self.program.size
        self._margin = 64 + rounds * max(self.program.uops, self.program.instructions)
        renamed = 2 + 12 // self.program.instructions
        self._value_margin = 64 + renamed * (self.program.outputs + self.program.inputs) + self.program.keys
        self.instances = 0
        self.uops = 0
        self.inputs = 0
        self.values = 0
        self.stores = 0
        self._make_room()
        self._round = <Uop *> with_room(self._round, &self._round_room, self.program.uops, sizeof(Uop))
        for row in range(self.program.uops):
            self._make(&self._round[row], self.program.uop[row].instruction, row)

    cpdef bint short(self) noexcept:
        """Whether the tables are short enough to be kept for any later run."""
        return self._uops_room <= _MOST_ROWS

    cdef bint fits_next(self) noexcept:
        """Whether the tables are short enough to be kept for the next run."""
        return self._uops_room <= _MOST_ROWS_NEXT

    cdef int reserve(self) except -1 nogil:
        """Make room for everything that one cycle can add. Call it before each cycle."""
        if (
            self.instances > self._most_instances
            or self.uops > self._most_uops
            or self.inputs > self._most_inputs
            or self.values > self._most_values
            or self.stores > self._most_stores
        ):
            self._make_room()

    cdef int _make_room(self) except -1 nogil:
        """Grow the tables, and set the numbers beyond which there is no room for another cycle."""
        self.instance = <Instance *> with_room(
            self.instance, &self._instances_room, self.instances + self._margin, sizeof(Instance)
        )
        self.uop = <Uop *> with_room(self.uop, &self._uops_room, self.uops + self._margin, sizeof(Uop))
        self.input = <UopInput *> with_room(
            self.input, &self._inputs_room, self.inputs + self._value_margin, sizeof(UopInput)
        )
        self.value = <Value *> with_room(
            self.value, &self._values_room, self.values + self._value_margin, sizeof(Value)
        )
        self.store = <StoreEntry *> with_room(
            self.store, &self._stores_room, self.stores + self._value_margin, sizeof(StoreEntry)
        )
        self._most_instances = self._instances_room - self._margin
        self._most_uops = self._uops_room - self._margin
        self._most_inputs = self._inputs_room - self._value_margin
        self._most_values = self._values_room - self._value_margin
        self._most_stores = self._stores_room - self._value_margin

    cdef int reserve_cycles(self, int end) except -1 nogil:
        """Make room for the records of the cycles before ``end``."""
        if self.watched:
            self.cycle = <CycleRecord *> with_room(self.cycle, &self._cycles_room, end, sizeof(CycleRecord))

    cdef void refuse(self, int cycle, int refusal, int by) noexcept nogil:
        """Record why issue slots of a cycle stay empty (``REFUSALS``), and which uop or instruction caused
        it."""
        if self.watched:
            self.cycle[cycle].refusal = refusal
            self.cycle[cycle].refused_by = by

    cdef void refuse_for_retirement(self, int cycle, int buffer, int unfinished, int oldest) noexcept nogil:
        """Record that a buffer is full until a uop retires: because of the uop ``unfinished`` or, if that is
        NONE, because of the oldest one."""
        if unfinished == NONE:
            self.refuse(cycle, buffer + RETIRING, oldest)
        elif self.needs_unit(unfinished):
            self.refuse(cycle, buffer, unfinished)
        else:
            self.refuse(cycle, buffer + RETIRING, unfinished)

    cdef void queue(self, int uop, int queued, int behind) noexcept nogil:
        """Record why a ready uop does not leave in this cycle (``QUEUED_NAMES``), and because of which other
        uop."""
        self.uop[uop].queued = queued
        self.uop[uop].behind = behind

    cdef bint shares_slot(self, int uop) noexcept nogil:
        """Whether the uops of an instruction take no issue slot of their own: they fuse with those of the
        previous instruction if both come from the cache together (A4)."""
        return self.program.instruction[self.uop[uop].position].joins != 0 and self.uop[uop].source != MITE

    cdef bint younger(self, int input_row, int other) noexcept nogil:
        """Whether an input's producer is younger than another uop: the younger counts if both results arrive
        together."""
        return other == NONE or (
            self.value[self.input[input_row].value].uop > self.value[self.input[other].value].uop
        )

    cdef bint needs_unit(self, int uop) noexcept nogil:
        """Whether a renamed uop has to be executed."""
        return self.uop[uop].port != ELIMINATED and self.program.uop[self.uop[uop].static].port_mask != 0

    cdef void generate(self, int instances) noexcept nogil:
        """Create the uops of all instances up to (not including) this number (L5)."""
        cdef Instance *made
        cdef Instruction *instruction
        # No division per instance and no loop over the few uops of each: those would be the slowest part. So
        # would be setting every member of every uop.
        count = self.program.instructions
        i = self.instances % count
        static = self.program.instruction[i].uop0
        base = self.instances - i
        start = self.address_of(self.instances) - self.program.instruction[i].offset
        first = self.uops - static
        for number in range(self.instances, instances):
            made = &self.instance[number]
            instruction = &self.program.instruction[i]
            made.uop0 = first + instruction.uop0
            made.place = i
            made.address = start + instruction.offset
            made.predecoded = UNKNOWN
            made.removed = UNKNOWN
            i += 1
            if i == count:
                i = 0
                first += self.program.uops
                if not self.program.loop:
                    start += self.program.size
        end = first + self.program.instruction[i].uop0
        while self.uops < end:
            last = min(self.program.uops, static + end - self.uops)
            memcpy(&self.uop[self.uops], &self._round[static], (last - static) * sizeof(Uop))
            for number in range(self.uops, self.uops + last - static):
                self.uop[number].instance = base + self.uop[number].position
            self.uops += last - static
            static = 0
            base += count
        if instances > self.instances:
            self.instances = instances

    cdef int address_of(self, int instance) noexcept nogil:
        """Address of an instance, created or not; in a loop every round has the same addresses (L2)."""
        place = instance % self.program.instructions
        address = self.program.alignment + self.program.instruction[place].offset
        if self.program.loop:
            return address
        return address + instance // self.program.instructions * self.program.size

    cdef int new_uop(self, int instance, int i, int static) noexcept nogil:
        """A new uop of the instance, whose instruction is at place ``i``; returns its index."""
        number = self.uops
        self.uops = number + 1
        self._make(&self.uop[number], i, static)
        self.uop[number].instance = instance
        return number

    cdef void _make(self, Uop *uop, int i, int static) noexcept nogil:
        """A uop that was just made, of the instruction at place ``i``."""
        uop.position = i
        uop.static = static
        uop.issued = UNKNOWN
        uop.ready = UNKNOWN
        uop.dispatched = UNKNOWN
        uop.executed = UNKNOWN
        uop.port = NONE
        uop.store = NONE
        uop.latency_bonus = 0
        uop.blocked = 0
        uop.added = UNKNOWN
        uop.retired = UNKNOWN
        uop.source = NO_SOURCE
        uop.held = 0
        uop.queued = 0
        uop.renamed = 0
        uop.collided = 0

    cdef int new_input(self, int value) noexcept nogil:
        """An input of a uop that is being renamed; returns its index."""
        position = self.inputs
        self.inputs = position + 1
        self.input[position].value = value
        return position

    cdef void await_input(self, int uop, int position, int value) noexcept nogil:
        """Let the uop wait for this input, a value whose ready time is not known yet."""
        self.input[position].uop = uop
        self.input[position].next = self.value[value].waiters
        self.value[value].waiters = position

    cdef int new_value(self, int uop, int latency) noexcept nogil:
        """A result of a uop that is being renamed; its ready time is unknown until dispatch."""
        return self._created(UNKNOWN, uop, latency, 0)

    cdef int old_value(self, int zero) noexcept nogil:
        """A value without a producing uop: from before the start, or (``zero``) of an instruction without
        uops."""
        return self._created(FOREVER, NONE, 0, zero)

    cdef int _created(self, int ready, int uop, int latency, int zero) noexcept nogil:
        """A new value; returns its index."""
        cdef Value *value
        number = self.values
        self.values = number + 1
        value = &self.value[number]
        value.ready = ready
        value.uop = uop
        value.latency = latency
        value.zero = zero
        value.waiters = NONE
        return number

    cdef int record_value(self, Record state, int value, int oldest) except -1 nogil:
        """Record a value as part of the pipeline's state: when it is ready, or which uop will produce it."""
        cdef long long place
        ready = self.value[value].ready
        if ready == UNKNOWN:
            producer = self.value[value].uop
            place = producer - state.uop
            state.add((place << _RESULT) + value - self.uop[producer].first_result - _LATE)
        else:
            state.add(max(ready - state.cycle, -oldest))

    cdef int new_store(self) noexcept nogil:
        """A new store-buffer entry; the caller fills in the address."""
        cdef StoreEntry *store
        number = self.stores
        self.stores = number + 1
        store = &self.store[number]
        store.address = UNKNOWN
        store.data = UNKNOWN
        store.waiters = NONE
        store.uop = NONE
        store.last = NONE
        store.left = UNKNOWN
        store.value = NONE
        store.late = 0
        return number
