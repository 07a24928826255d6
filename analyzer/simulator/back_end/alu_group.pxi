# The ALU operations of a dispatch group: each ALU's scheduler takes one (M30).

cdef enum:
    _MOST_GROUPED = 1 << 12
    _MOST_ALUS = 6
    _ALU_SETS = 1 << _MOST_ALUS


@cython.final
cdef class AluGroup:
    """The operations that were dispatched in a cycle, until they are spread over the schedulers."""

    cdef Tables tables
    cdef Program program
    cdef int _alus
    cdef int _branch_unit  # The unit for branches alone, as a mask; 0 if there is none (M48).
    cdef int _lowest  # The first ALU; the others follow it.
    cdef int _sets
    cdef int[::1] _needed  # Number of operations of the group, by the set of ALUs that can execute them.
    cdef int[::1] _added  # The same with those of an instruction.
    cdef int[::1] uops
    cdef int count

    def __init__(self, Tables tables, alus, branch_units):
        self.tables = tables
        self.program = tables.program
        self._alus = alus.mask
        self._branch_unit = branch_units.mask & ~alus.mask
        self._lowest = (alus.mask & -alus.mask).bit_length() - 1
        number = alus.mask.bit_count()
        if number > _MOST_ALUS or alus.mask >> self._lowest != (1 << number) - 1:
            raise ValueError(f"the ALUs must be adjacent units, and at most {_MOST_ALUS}")
        self._sets = 1 << number
        self._needed = ints(_ALU_SETS)
        self._added = ints(_ALU_SETS)
        self.uops = ints(_MOST_GROUPED)
        self.count = 0

    cdef void clear(self) noexcept nogil:
        """Begin a new group."""
        self.count = 0
        for units in range(self._sets):
            self._needed[units] = 0

    cdef bint takes(self, int mask) noexcept nogil:
        """Whether a uop that needs one of these units is an operation for ALUs, or a branch."""
        return mask != 0 and mask & ~(self._alus | self._branch_unit) == 0

    cdef bint prefers(self, int mask, int units) noexcept nogil:
        """Whether a uop that needs one unit of a mask would rather have one of ``units``: a branch that of
        branches."""
        return mask & units & self._branch_unit != 0

    cdef bint has_room(self, int first, int i) noexcept nogil:
        """Whether each of the group's operations and those of an instruction finds an ALU of its own. An
        instruction of more operations goes alone. Branches always find room, and so do moves, which the
        renamer carries out."""
        cdef int operations
        if self.count == 0 or self._branches(i) or self.program.instruction[i].eliminable:
            return True
        for units in range(self._sets):
            self._added[units] = self._needed[units]
        operations = 0
        for uop in range(first, first + self.program.instruction[i].uop_count):
            mask = self.program.uop[self.tables.uop[uop].static].port_mask
            if mask != 0 and mask & ~self._alus == 0:
                self._added[mask >> self._lowest] += 1
                operations += 1
        return operations == 0 or self._fit()

    cdef bint _branches(self, int i) noexcept nogil:
        """Whether an instruction is a branch, or shares its uop with the branch behind it."""
        following = i + 1
        if self.program.instruction[i].branch:
            return True
        return (
            following < self.program.instructions
            and self.program.instruction[following].branch
            and self.program.instruction[following].uop_count == 0
        )

    cdef bint _fit(self) noexcept nogil:
        """Whether no set of ALUs has to execute more operations than it has ALUs (Hall's theorem)."""
        cdef int operations, units
        for within in range(1, self._sets):
            operations = 0
            for some in range(1, within + 1):
                if some & ~within == 0:
                    operations += self._added[some]
            units = 0
            for unit in range(_MOST_ALUS):
                units += within >> unit & 1
            if operations > units:
                return False
        return True

    cdef void add(self, int uop, int mask) noexcept nogil:
        """An operation of the group is renamed."""
        if not self._branches(self.tables.uop[uop].position):
            self._needed[mask >> self._lowest] += 1
        self.uops[self.count] = uop
        self.count += 1

    cdef void sort(self) noexcept nogil:
        """Put the operations with the fewest ALUs first, the others in program order."""
        for place in range(1, self.count):
            uop = self.uops[place]
            choices = self._choices(uop)
            before = place - 1
            while before >= 0 and self._choices(self.uops[before]) > choices:
                self.uops[before + 1] = self.uops[before]
                before -= 1
            self.uops[before + 1] = uop

    cdef int _choices(self, int uop) noexcept nogil:
        cdef int choices
        mask = self.program.uop[self.tables.uop[uop].static].port_mask
        choices = 0
        while mask:
            mask &= mask - 1
            choices += 1
        return choices
