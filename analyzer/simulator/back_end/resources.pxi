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


@cython.final
cdef class Resources:
    """Tracks which instructions hold entries. The renamer asks it before it issues an instruction.

    An instruction that needs more entries than exist gets all of them as soon as none is in use.
    """

    cdef Tables tables
    cdef Program program
    cdef bint _wanted
    cdef int _rob_size
    cdef int _load_matrix
    cdef bint limited  # Whether any resource can run out on this block.
    cdef int missing  # The resource that the latest instruction has to wait for, NONE if it has all.
    cdef int[::1] _sizes
    cdef int[::1] used
    cdef int[::1] _needs
    # The resources that can run out, ascending; all but the load matrix are freed at retirement.
    cdef int[::1] _active
    cdef int _active_count
    cdef int _retiring_count
    cdef int[::1] _needy  # Instructions that need any of those.
    cdef PairQueue _holders  # Instructions in flight, oldest first, as (first uop, last uop).
    cdef int[::1] _loads  # Loads that have an entry in the load matrix.

    def __init__(self, Tables tables, microarchitecture, options):
        self.tables = tables
        self.program = tables.program
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
        self.used = ints(_COUNT)
        self._active = ints(_COUNT)
        self._needs = ints(0)
        self._needy = ints(0)
        self._loads = ints(0)
        self._holders = PairQueue()

    cdef int start(self) except -1:
        """Reset: find out which resources can run out on the program; none is in use."""
        self.limited = self._wanted
        if self.limited:
            self._find_limits()

    cdef int _find_limits(self) except -1:
        count = self.program.instructions
        if count > len(self._needy):
            self._needs = ints(2 * _COUNT * count)
            self._needy = ints(2 * count)
        for resource in range(_COUNT):
            self.used[resource] = 0
        for i in range(count):
            self._needy[i] = 0
            for resource in range(_COUNT):
                self._needs[_COUNT * i + resource] = 0
            self._count_needs(i)
        self._active_count = 0
        self._retiring_count = 0
        self._find_active(self._rob_size)
        self.limited = self._active_count > 0
        self._holders.start(self._rob_size + 64)
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
        for resource in range(_COUNT):
            need = 0
            for i in range(self.program.instructions):
                need += self._needs[_COUNT * i + resource]
            if need * rounds > self._sizes[resource]:
                self._active[self._active_count] = resource
                self._active_count += 1
                if resource != _LOAD_MATRIX:
                    self._retiring_count += 1
                for i in range(self.program.instructions):
                    if self._needs[_COUNT * i + resource]:
                        self._needy[i] = 1
            else:
                for i in range(self.program.instructions):
                    self._needs[_COUNT * i + resource] = 0

    cdef bint take(self, int first, int cycle) noexcept nogil:
        """Take all entries for the instruction that begins with this uop; False if one is missing."""
        i = self.tables.uop[first].position
        if not self._needy[i]:
            return True
        if self.tables.instance[self.tables.uop[first].instance].uop0 != first:
            return True  # a uop that the renamer itself puts in front of an instruction
        last = first + self.program.instruction[i].uop_count - 1
        missing = self._missing(i)
        if missing == _LOAD_MATRIX:
            self._release_loads(cycle)
            missing = self._missing(i)
        self.missing = missing
        if missing != NONE:
            return False
        for position in range(self._retiring_count):
            resource = self._active[position]
            self.used[resource] += self._needs[_COUNT * i + resource]
        if self._needs[_COUNT * i + _LOAD_MATRIX]:
            for uop in range(first, last + 1):
                if self.program.uop[self.tables.uop[uop].static].kind == LOAD:
                    self._loads[self.used[_LOAD_MATRIX]] = uop
                    self.used[_LOAD_MATRIX] += 1
        self._holders.push(first, last)
        return True

    cdef bint comes_with_retirement(self) noexcept nogil:
        """Whether the missing resource is freed at retirement and not before."""
        return self.missing != _LOAD_MATRIX

    cdef void eliminate(self, int i) noexcept nogil:
        """The renamer carries out the instruction just issued, which therefore shares its source's
        register."""
        self._give_back(i)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state that does not follow from the uops in flight."""
        self.release()
        for resource in range(_LOAD_MATRIX):
            state.add(self.used[resource])
        for position in range(self._holders.count):
            first = self._holders.firsts[(self._holders.head + position) & self._holders.mask]
            state.add(1 if self.tables.uop[first].port == ELIMINATED else 0)

    cdef int _missing(self, int i) noexcept nogil:
        """The first resource that an instruction has to wait for, NONE if there is none."""
        for position in range(self._active_count):
            resource = self._active[position]
            need = self._needs[_COUNT * i + resource]
            if need and self.used[resource] and self.used[resource] + need > self._sizes[resource]:
                return resource
        return NONE

    cdef void release(self) noexcept nogil:
        """Free the entries of instructions that have retired. Call it before each issue group."""
        cdef Uop *uop
        while (
            self._holders.count > 0
            and self.tables.uop[self._holders.seconds[self._holders.head]].retired != UNKNOWN
        ):
            first = self._holders.firsts[self._holders.head]
            uop = &self.tables.uop[first]
            if uop.port != ELIMINATED:
                self._give_back(uop.position)
            self._holders.pop()

    cdef void _give_back(self, int i) noexcept nogil:
        for position in range(self._retiring_count):
            resource = self._active[position]
            self.used[resource] -= self._needs[_COUNT * i + resource]

    cdef void _release_loads(self, int cycle) noexcept nogil:
        """Free the load-matrix entries of loads that executed before this cycle."""
        cdef Uop *uop
        kept = 0
        for position in range(self.used[_LOAD_MATRIX]):
            number = self._loads[position]
            uop = &self.tables.uop[number]
            if uop.executed == UNKNOWN or uop.executed >= cycle:
                self._loads[kept] = number
                kept += 1
        self.used[_LOAD_MATRIX] = kept
