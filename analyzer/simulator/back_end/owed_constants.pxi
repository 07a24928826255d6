# Additions of constants in the renamer: it gives the target the source's value and notes the constant that
# it owes (V9; measured by tavianator.com/2025/shlxplained.html).

cdef enum:
    # Constants below this use up the range less than once in that many rounds. They are not summed
    # up, so that the pipeline's state can repeat.
    _RARE = 32
    _OWES = 1 << 16  # Added to every sum, so that 0 means that nothing is owed.
    _PENALTY = 2  # Extra cycles of an instruction that cannot use an operand with a constant owed.


cdef class OwedConstants(Addition):
    """``owed``: 0, or ``_OWES`` plus the sum of the constants."""

    cdef int _limit

    def __init__(self, Program program, microarchitecture):
        super().__init__(program)
        self._limit = microarchitecture.add_offset_limit

    cdef int start(self) except -1:
        """Reset: nothing is owed; nothing ever will be without an addition for the renamer."""
        Addition.start(self)
        self.active = False
        for i in range(self.program.instructions):
            self.active = self.active or self.program.instruction[i].adds

    cdef bint fits(self, int i) noexcept nogil:
        """Whether the constant of instruction ``i`` can be owed as well. If not, its uop is executed."""
        total = self.owed_then(i) - _OWES
        return -self._limit <= total < self._limit

    cdef int owed_then(self, int i) noexcept nogil:
        """State of the target after the renamer carried out instruction ``i``."""
        cdef Instruction *instruction = &self.program.instruction[i]
        source = instruction.move_source
        total = _OWES
        if source >= 0 and self.owed[source]:
            total = self.owed[source]
        constant = instruction.added
        if constant >= _RARE or constant <= -_RARE:
            total += constant
        return total

    cdef int penalty(self, int i) noexcept nogil:
        """Extra cycles of instruction ``i`` because constants are owed to its operands."""
        cdef Instruction *instruction = &self.program.instruction[i]
        first = instruction.offset_key0
        second = instruction.offset_key1
        if (first != NONE and self.owed[first]) or (second != NONE and self.owed[second]):
            return _PENALTY
        return 0
