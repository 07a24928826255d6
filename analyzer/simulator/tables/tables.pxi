# The tables of a run: everything in flight has a row, and its index names it.
#
# A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
# (uiCA model, chapter 0). Tables only grow, by doubling; nothing is allocated per cycle.

cdef enum:
    _AHEAD = 64  # Rows prepared beyond those that one cycle can need.

cdef long long _LATE = 1152921504606846976  # Larger than any other number of a state.
cdef enum:
    _RESULT = 16  # Bits for the number of a result within its uop.
    # Longer tables, of more than a megabyte, are not kept for the next run, because that takes far
    # longer than creating them.
    _MOST_ROWS = 1 << 14


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
    cdef int _instances_ready
    cdef int _uops_room
    cdef int _uops_ready
    cdef int _inputs_room
    cdef int _inputs_ready
    cdef int _values_room
    cdef int _values_ready
    cdef int _stores_room
    cdef int _stores_ready
    cdef int _cycles_room
    cdef int _cycles_ready
    cdef int _most_instances
    cdef int _most_uops
    cdef int _most_inputs
    cdef int _most_values
    cdef int _most_stores

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

    cdef void _forget(self) noexcept nogil:
        """No row is prepared."""
        self._instances_ready = self._uops_ready = self._inputs_ready = 0
        self._values_ready = self._stores_ready = self._cycles_ready = 0

    cdef int _more_instances(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        cdef Instance *row
        if end > self._instances_room:
            size = self._instances_room * sizeof(Instance)
            self.instance = <Instance *> enlarged(self.instance, size, 2 * end * sizeof(Instance))
            self._instances_room = 2 * end
        for number in range(self._instances_ready, end):
            row = &self.instance[number]
            row.predecoded = UNKNOWN
            row.removed = UNKNOWN
        self._instances_ready = end

    cdef int _more_uops(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        cdef Uop *row
        if end > self._uops_room:
            size = self._uops_room * sizeof(Uop)
            self.uop = <Uop *> enlarged(self.uop, size, 2 * end * sizeof(Uop))
            self._uops_room = 2 * end
        for number in range(self._uops_ready, end):
            row = &self.uop[number]
            row.issued = UNKNOWN
            row.ready = UNKNOWN
            row.dispatched = UNKNOWN
            row.executed = UNKNOWN
            row.port = NONE
            row.store = NONE
            row.latency_bonus = 0
            row.blocked = 0
            row.added = UNKNOWN
            row.retired = UNKNOWN
            row.source = NO_SOURCE
            row.held = 0
            row.queued = 0
            row.renamed = 0
            row.collided = 0
        self._uops_ready = end

    cdef int _more_inputs(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        if end > self._inputs_room:
            size = self._inputs_room * sizeof(UopInput)
            self.input = <UopInput *> enlarged(self.input, size, 2 * end * sizeof(UopInput))
            self._inputs_room = 2 * end
        self._inputs_ready = end

    cdef int _more_values(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        cdef Value *row
        if end > self._values_room:
            size = self._values_room * sizeof(Value)
            self.value = <Value *> enlarged(self.value, size, 2 * end * sizeof(Value))
            self._values_room = 2 * end
        for number in range(self._values_ready, end):
            row = &self.value[number]
            row.ready = FOREVER
            row.uop = NONE
            row.latency = 0
            row.zero = 0
            row.waiters = NONE
        self._values_ready = end

    cdef int _more_stores(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        cdef StoreEntry *row
        if end > self._stores_room:
            size = self._stores_room * sizeof(StoreEntry)
            self.store = <StoreEntry *> enlarged(self.store, size, 2 * end * sizeof(StoreEntry))
            self._stores_room = 2 * end
        for number in range(self._stores_ready, end):
            row = &self.store[number]
            row.address = UNKNOWN
            row.data = UNKNOWN
            row.waiters = NONE
            row.uop = NONE
            row.last = NONE
            row.left = UNKNOWN
            row.value = NONE
            row.late = 0
        self._stores_ready = end

    cdef int _more_cycles(self, int end) except -1 nogil:
        """Prepare the rows before ``end``."""
        if end > self._cycles_room:
            size = self._cycles_room * sizeof(CycleRecord)
            self.cycle = <CycleRecord *> enlarged(self.cycle, size, 2 * end * sizeof(CycleRecord))
            self._cycles_room = 2 * end
        self._cycles_ready = end

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
        self._forget()
        self._make_room()

    cpdef bint short(self) noexcept:
        """Whether the tables are short enough to be kept for the next run."""
        return self._uops_room <= _MOST_ROWS

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
        if self.instances + self._margin > self._instances_ready:
            self._more_instances(self.instances + self._margin + _AHEAD)
        if self.uops + self._margin > self._uops_ready:
            self._more_uops(self.uops + self._margin + _AHEAD)
        if self.inputs + self._value_margin > self._inputs_ready:
            self._more_inputs(self.inputs + self._value_margin + _AHEAD)
        if self.values + self._value_margin > self._values_ready:
            self._more_values(self.values + self._value_margin + _AHEAD)
        if self.stores + self._value_margin > self._stores_ready:
            self._more_stores(self.stores + self._value_margin + _AHEAD)
        self._most_instances = self._instances_ready - self._margin
        self._most_uops = self._uops_ready - self._margin
        self._most_inputs = self._inputs_ready - self._value_margin
        self._most_values = self._values_ready - self._value_margin
        self._most_stores = self._stores_ready - self._value_margin

    cdef int reserve_cycles(self, int end) except -1 nogil:
        """Make room for the records of the cycles before ``end``."""
        if self.watched and end > self._cycles_ready:
            self._more_cycles(2 * end + _AHEAD)

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
        # No division per instance and no loop over the few uops of each: those would be the slowest part.
        count = self.program.instructions
        i = self.instances % count
        static = self.program.instruction[i].uop0
        base = self.instances - i
        start = self.address_of(self.instances) - self.program.instruction[i].offset
        first = self.uops - static
        for instance in range(self.instances, instances):
            self.instance[instance].uop0 = first + self.program.instruction[i].uop0
            self.instance[instance].place = i
            self.instance[instance].address = start + self.program.instruction[i].offset
            i += 1
            if i == count:
                i = 0
                first += self.program.uops
                if not self.program.loop:
                    start += self.program.size
        end = first + self.program.instruction[i].uop0
        while self.uops < end:
            last = min(self.program.uops, static + end - self.uops)
            uop = self.uops
            for row in range(static, last):
                i = self.program.uop[row].instruction
                self.uop[uop].instance = base + i
                self.uop[uop].position = i
                self.uop[uop].static = row
                uop += 1
            self.uops = uop
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
        uop = self.uops
        self.uops = uop + 1
        self.uop[uop].instance = instance
        self.uop[uop].position = i
        self.uop[uop].static = static
        return uop

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
        value = self.values
        self.values = value + 1
        self.value[value].ready = UNKNOWN
        self.value[value].uop = uop
        self.value[value].latency = latency
        return value

    cdef int old_value(self, int zero) noexcept nogil:
        """A value without a producing uop: from before the start, or (``zero``) of an instruction without
        uops."""
        value = self.values
        self.values = value + 1
        self.value[value].zero = zero
        return value

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
        store = self.stores
        self.stores = store + 1
        return store
