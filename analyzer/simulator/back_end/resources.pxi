# The buffers and register files that an instruction needs besides reorder buffer and scheduler (optional;
# B1 to B6 of docs/pipeline.md 7).
#
# The rules are those of UFS (Palomares, Wong, Kuck, Jalby, "Evaluating Out-of-Order Engine Limitations Using
# Uop Flow Simulation"). An instruction takes all its entries when its first uop issues, in order, and frees
# them when its last uop has retired. The load matrix is freed as soon as the load has executed.

cdef enum:
    _COUNT = 7
    _LOAD_BUFFER = 0
    _STORE_BUFFER = 1
    _BRANCH_BUFFER = 2
    _INTEGER_REGISTERS = 3
    _ALL_REGISTERS = 5
    _LOAD_MATRIX = 6
    _UNLIMITED = 1 << 20
    _MOST_AHEAD = 64  # Most instructions that take their entries without a look.


@cython.final
cdef class Resources:
    """Tracks which instructions hold entries. The renamer asks it before it issues an instruction.

    Instructions take and free their entries in order, so those that hold some are a range of instances, and
    its ends say how many entries are in use. Nothing is counted when an instruction takes or frees its own.
    An instruction that needs more entries than exist gets all of them as soon as none is in use.
    """

    cdef Tables tables
    cdef Program program
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef bint _wanted
    cdef int _rob_size
    cdef int _load_matrix
    cdef bint limited  # Whether any resource can run out on this block.
    cdef int missing  # The resource that the latest instruction has to wait for, NONE if it has all.
    cdef int[::1] _sizes
    cdef int[::1] _needs  # By instruction and resource.
    # What the instructions before this one in its round need, in the same order; at the end a whole
    # round.
    cdef int[::1] _before
    cdef int[::1] _largest  # The largest need of an instruction, by resource.
    # The resources that can run out and are freed at retirement: all but the load matrix.
    cdef int[::1] _active
    cdef int _active_count
    cdef int[::1] _needy  # Instructions that need any resource that can run out.
    cdef int _spare  # Number of instructions that find all entries whatever they are.
    cdef int _next_round  # First instance of the round of the instruction that took entries last, ...
    cdef int _next  # ... and the place behind that instruction.
    # The instructions in flight that the renamer carries out, oldest first: (instance, place). They share
    # their source's register.
    cdef PairQueue _eliminated
    cdef int[::1] _given_back  # What they would hold, by resource.
    cdef bint _counts_loads  # Whether the load matrix can run out.
    cdef int[::1] _loads  # Loads that have an entry in the load matrix.
    cdef int _loads_count

    def __init__(self, Tables tables, microarchitecture, Queues queues, options):
        self.tables = tables
        self.program = tables.program
        self._issued = queues.issued
        self._rob = queues.rob
        self._wanted = options.limited
        self._rob_size = microarchitecture.reorder_buffer_size
        self._load_matrix = microarchitecture.load_matrix_size or 0
        self.limited = False
        self.missing = NONE
        self._sizes = ints(_COUNT)
        sizes = (
            microarchitecture.load_buffer_size,
            microarchitecture.store_buffer_size,
            microarchitecture.branch_buffer_size,
            microarchitecture.integer_registers,
            microarchitecture.vector_registers,
            microarchitecture.all_registers,
            microarchitecture.load_matrix_size,
        )
        for resource, size in enumerate(sizes):
            self._sizes[resource] = _UNLIMITED if size is None else size
        self._active = ints(_COUNT)
        self._largest = ints(_COUNT)
        self._given_back = ints(_COUNT)
        self._needs = ints(0)
        self._before = ints(0)
        self._needy = ints(0)
        self._loads = ints(0)
        self._eliminated = PairQueue()

    cdef int start(self) except -1:
        """Reset: find out which resources can run out on the program; none is in use."""
        self.limited = self._wanted
        if self.limited:
            self._find_limits()

    cdef int _find_limits(self) except -1:
        count = self.program.instructions
        if count > len(self._needy):
            self._needs = ints(2 * _COUNT * count)
            self._before = ints(2 * _COUNT * (count + 1))
            self._needy = ints(2 * count)
        for i in range(count):
            self._needy[i] = 0
            for resource in range(_COUNT):
                self._needs[_COUNT * i + resource] = 0
            self._count_needs(i)
        self._find_active(self._rob_size)
        self._sum_up()
        self.limited = self._active_count > 0 or self._counts_loads
        self._spare = 0
        self._next_round = 0
        self._next = 0
        self._loads_count = 0
        self._eliminated.start(self._rob_size + 64 + _MOST_AHEAD)
        if self._load_matrix + self.program.uops > len(self._loads):
            self._loads = ints(self._load_matrix + 2 * self.program.uops)

    cdef void _count_needs(self, int i) noexcept nogil:
        """Count the entries of each resource that an instruction takes."""
        cdef BlockUop *block_uop
        cdef Instruction *instruction = &self.program.instruction[i]
        first = _COUNT * i
        for uop in range(instruction.uop0, instruction.uop0 + instruction.uop_count):
            block_uop = &self.program.uop[uop]
            if block_uop.kind == LOAD:
                self._needs[first + _LOAD_BUFFER] += 1
            elif block_uop.kind == STORE_ADDRESS:
                self._needs[first + _STORE_BUFFER] += 1
        # A macro-fused pair takes the branch's entry too.
        if instruction.branch or instruction.first:
            self._needs[first + _BRANCH_BUFFER] = 1
        outputs = instruction.outputs_count
        if instruction.no_uops:
            outputs = 0  # zero idioms and NOPs produce no value of their own
        for output in range(instruction.outputs0, instruction.outputs0 + outputs):
            register_class = self.program.key_class[self.program.output[output].key]
            if register_class >= 0:
                self._needs[first + _INTEGER_REGISTERS + register_class] += 1
                self._needs[first + _ALL_REGISTERS] += 1
        if self._sizes[_LOAD_MATRIX] < _UNLIMITED:
            self._needs[first + _LOAD_MATRIX] = self._needs[first + _LOAD_BUFFER]

    cdef void _find_active(self, int rob_size) noexcept nogil:
        """Leave out resources that never run out before the reorder buffer does: saves much of the cost."""
        fused = 0
        for idq_uop in range(self.program.idq_uops):
            fused += self.program.idq_uop[idq_uop].fused_count
        # Whole rounds, the partial rounds at both ends, and the instruction that asks.
        rounds = rob_size // fused + 3
        self._active_count = 0
        self._counts_loads = False
        for resource in range(_COUNT):
            need = 0
            for i in range(self.program.instructions):
                need += self._needs[_COUNT * i + resource]
            if need * rounds > self._sizes[resource]:
                if resource == _LOAD_MATRIX:
                    self._counts_loads = True
                else:
                    self._active[self._active_count] = resource
                    self._active_count += 1
                for i in range(self.program.instructions):
                    if self._needs[_COUNT * i + resource]:
                        self._needy[i] = 1

    cdef void _sum_up(self) noexcept nogil:
        """Sum up what the instructions of a round need."""
        for resource in range(_COUNT):
            self._given_back[resource] = 0
            self._largest[resource] = 1
            self._before[resource] = 0
            for i in range(self.program.instructions):
                place = _COUNT * i + resource
                if self.program.instruction[i].uop_count == 0:
                    self._needs[place] = 0  # the second one of a pair takes nothing
                self._largest[resource] = max(self._largest[resource], self._needs[place])
                self._before[place + _COUNT] = self._before[place] + self._needs[place]

    cdef bint take(self, int first, int cycle) noexcept nogil:
        """Take all entries for the instruction that begins with this uop; False if one is missing."""
        cdef Uop *uop = &self.tables.uop[first]
        i = uop.position
        if not self._needy[i]:
            return True
        if self.tables.instance[uop.instance].uop0 != first:
            return True  # a uop that the renamer itself puts in front of an instruction
        self.missing = NONE
        if self._spare == 0:
            self._look(uop.instance, i)
        if self.missing == NONE and self._counts_loads:
            self._take_loads(first, i, cycle)
        if self.missing != NONE:
            return False
        self._spare -= 1
        self._next_round = uop.instance - i
        self._next = i + 1
        return True

    cdef bint comes_with_retirement(self) noexcept nogil:
        """Whether the missing resource is freed at retirement and not before."""
        return self.missing != _LOAD_MATRIX

    cdef void eliminate(self, int number) noexcept nogil:
        """The renamer carries out the instruction of a uop just issued, which therefore shares its source's
        register. Call it in the order of the program."""
        cdef Uop *uop = &self.tables.uop[number]
        if self._needy[uop.position]:
            self._eliminated.push(uop.instance, uop.position)
            self._give_back(uop.position, 1)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state that does not follow from the uops in flight."""
        if self._rob.count > 0:
            self._forget(self.tables.uop[self._rob.oldest()].instance)
        else:
            self._forget(self._next_round + self._next)
        for position in range(self._eliminated.count):
            index = (self._eliminated.head + position) & self._eliminated.mask
            state.add(self._eliminated.firsts[index] - state.instance)

    cdef void _look(self, int instance, int i) noexcept nogil:
        """Find out which resource this instruction has to wait for (``missing``) and, if none, how many
        instructions surely find all entries, this one included."""
        oldest = instance
        if self._rob.count > 0:
            oldest = self.tables.uop[self._rob.oldest()].instance
        elif self._issued.count > 0:
            oldest = self.tables.uop[self._issued.oldest()].instance
        self._forget(oldest)
        spare = _MOST_AHEAD - 1
        place = oldest % self.program.instructions
        rounds = (self._next_round - (oldest - place)) // self.program.instructions
        for position in range(self._active_count):
            resource = self._active[position]
            used = rounds * self._before[_COUNT * self.program.instructions + resource]
            used += self._before[_COUNT * self._next + resource] - self._before[_COUNT * place + resource]
            used -= self._given_back[resource]
            need = self._needs[_COUNT * i + resource]
            room = self._sizes[resource] - used - need
            if need and used and room < 0:
                self.missing = resource
                return
            spare = min(spare, max(room, 0) // self._largest[resource])
        self._spare = 1 + spare

    cdef void _forget(self, int oldest) noexcept nogil:
        """All instances before the oldest one have retired."""
        while self._eliminated.count > 0 and self._eliminated.oldest() < oldest:
            i = self._eliminated.seconds[self._eliminated.head]
            self._give_back(i, -1)
            self._eliminated.pop()

    cdef void _give_back(self, int i, int times) noexcept nogil:
        for position in range(self._active_count):
            resource = self._active[position]
            self._given_back[resource] += times * self._needs[_COUNT * i + resource]

    cdef void _take_loads(self, int first, int i, int cycle) noexcept nogil:
        """Take the entries of the load matrix, or say that they are missing."""
        need = self._needs[_COUNT * i + _LOAD_MATRIX]
        if need == 0:
            return
        if self._lacks_loads(need):
            self._release_loads(cycle)
            if self._lacks_loads(need):
                self.missing = _LOAD_MATRIX
                return
        for uop in range(first, first + self.program.instruction[i].uop_count):
            if self.program.uop[self.tables.uop[uop].static].kind == LOAD:
                self._loads[self._loads_count] = uop
                self._loads_count += 1

    cdef bint _lacks_loads(self, int need) noexcept nogil:
        return self._loads_count > 0 and self._loads_count + need > self._sizes[_LOAD_MATRIX]

    cdef void _release_loads(self, int cycle) noexcept nogil:
        """Free the load-matrix entries of loads that executed before this cycle."""
        cdef Uop *uop
        kept = 0
        for position in range(self._loads_count):
            number = self._loads[position]
            uop = &self.tables.uop[number]
            if uop.executed == UNKNOWN or uop.executed >= cycle:
                self._loads[kept] = number
                kept += 1
        self._loads_count = kept
