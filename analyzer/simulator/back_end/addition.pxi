# Interface of the rule by which the renamer carries out additions of constants.


cdef class Addition:
    """Decides which additions need no unit, and tracks the constants owed to registers. This base class
    carries out none; cores without a rule use it."""

    cdef Program program
    cdef bint active  # Whether a constant can ever be owed.
    cdef int[::1] owed  # State of the rule by rename key; 0 if nothing is owed to the register.

    def __init__(self, Program program):
        self.program = program
        self.active = False
        self.owed = ints(0)

    cdef int start(self) except -1:
        """Reset: nothing is owed."""
        keys = self.program.keys
        if keys > len(self.owed):
            self.owed = ints(2 * keys)
        for key in range(keys):
            self.owed[key] = 0

    cdef bint fits(self, int i) noexcept nogil:
        """Whether the constant of instruction ``i`` can be owed as well. If not, its uop is executed."""
        return False

    cdef int owed_then(self, int i) noexcept nogil:
        """State of the target after the renamer carried out instruction ``i``."""
        return 0

    cdef int penalty(self, int i) noexcept nogil:
        """Extra cycles of instruction ``i`` because constants are owed to its operands."""
        return 0
