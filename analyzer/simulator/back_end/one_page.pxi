# Extra cost of loads under a harness that maps all pages to one physical page (M22). This is a property of
# the measurement, not of the code.

cdef enum:
    _LINES = PAGE // CODE_LINE

cdef long long _UNKNOWN_PAGE = 4398046511104  # Addresses from here on contain unknown values.


@cython.final
cdef class LinesOfOnePage:
    """The pages through which each line of the physical page was read, the latest first."""

    cdef bint active
    cdef Tables tables
    cdef Program program
    cdef InFlight flight
    cdef int _slots
    cdef int _walking
    cdef int _remembered
    cdef long long[::1] _pages

    def __init__(self, Tables tables, InFlight in_flight, rules, *, active):
        self.active = active and rules is not None
        self.tables = tables
        self.program = tables.program
        self.flight = in_flight
        self._slots = 1 if rules is None else rules.other_page_slots
        self._walking = 0 if rules is None else rules.walking_stack_eighths
        self._remembered = 1 if rules is None else rules.lines_remembered
        self._pages = longs(_LINES * self._remembered)

    cdef void start(self) noexcept nogil:
        """Reset: nothing was read."""
        for place in range(_LINES * self._remembered):
            self._pages[place] = 0

    cdef void read(self, int uop, long long address) noexcept nogil:
        """A load reads this address and may occupy the address units for longer."""
        cdef int line
        cdef long long page
        if not self.active or address >= _UNKNOWN_PAGE:
            return
        line = address // CODE_LINE % _LINES
        page = address // PAGE + 1
        first = line * self._remembered
        if self._pages[first] == page:
            return
        known = False
        for place in range(first, first + self._remembered):
            if self._pages[place] == page:
                known = True
        for place in range(first + self._remembered - 1, first, -1):
            self._pages[place] = self._pages[place - 1]
        self._pages[first] = page
        slot = uop & self.flight.uop_mask
        if known or self.program.instruction[self.tables.uop[uop].position].rsp_change <= 0:
            self.flight.u_slots[slot] = self._slots
        else:
            self.flight.u_harness[slot] = self._walking
