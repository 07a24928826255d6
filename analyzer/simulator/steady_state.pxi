# Detects the period of a run: once the pipeline's state repeats, everything after it repeats.

cdef enum:
    _FIRST_SHOWN = 24
    # Cycles from which on a state becomes an anchor unconditionally: if the period is shown, and if
    # not.
    _FIRST_LONE = 200
    _DIGEST = 2147483647
    _OUTLINES = 64  # Number of outlines kept; a power of two.


cdef class Repeating:
    """Interface of an object whose state may repeat."""

    cdef bint between_instructions(self) noexcept nogil:
        """Whether the present state can be recorded."""
        return True

    cdef long long outline(self) noexcept nogil:
        """A hash of the state."""
        return 0

    cdef int record(self, Record state) except -1 nogil:
        """Record the whole state at the end of a round."""
        pass


@cython.final
cdef class SteadyState:
    """Compares the states at the ends of rounds with a few earlier ones, the anchors.

    States are relative to cycle and round and omit what can no longer matter, so equal states have equal
    futures. While no anchor repeats, a new anchor replaces the oldest at growing intervals. So a state that
    came too early for one anchor is not too late for another, however long the period is.

    If a state repeats, its outline does too. If only the figure is wanted, which is the same for every
    period, an anchor is made when an outline repeats, so most runs need few. If the period is shown, the
    choice of period does not depend on outlines.
    """

    cdef Record _state
    cdef Record _newest
    cdef Record _middle
    cdef Record _oldest
    cdef Record _anchor  # The anchor that repeated.
    cdef int[::1] _outlines  # Some of the outlines so far.
    cdef bint _shown
    cdef int _newest_outline
    cdef int _middle_outline
    # The oldest outline of three anchors; there are only two if the period is shown.
    cdef int _oldest_outline
    cdef int _next_again  # Cycle from which on a repeated outline makes an anchor.
    cdef int _next_lone  # Cycle from which on an anchor is made unconditionally.

    def __init__(self):
        self._state = Record()
        self._newest = Record()
        self._middle = Record()
        self._oldest = Record()
        self._anchor = self._newest
        self._outlines = ints(_OUTLINES)

    cdef void start(self, bint shown) noexcept nogil:
        """Reset: there is no anchor. ``shown``: the caller reads more of the period than the figure."""
        self._shown = shown
        self._newest_outline = NONE
        self._middle_outline = NONE
        self._oldest_outline = NONE
        for slot in range(_OUTLINES):
            self._outlines[slot] = NONE
        self._next_again = 0
        self._next_lone = _FIRST_SHOWN if shown else _FIRST_LONE

    cdef int begin(self) noexcept nogil:
        """The cycle of the anchor that repeated."""
        return self._anchor.cycle

    cdef int round(self) noexcept nogil:
        """The round at whose end the anchor was recorded."""
        return self._anchor.round

    cdef bint found(self, Repeating pipeline, int cycle) except -1 nogil:
        """At the end of a round: whether the pipeline's state equals an anchor."""
        cdef bint again
        if not pipeline.between_instructions():
            return False
        outline = self._digest(pipeline.outline())
        if outline in (self._newest_outline, self._middle_outline, self._oldest_outline):
            with gil:
                if self._equals_anchor(outline, pipeline):
                    return True
        again = self._comes_again(outline)
        if cycle >= (self._next_again if again else self._next_lone):
            self._next_again = cycle + cycle * 3 // 10
            self._next_lone = cycle + cycle // 2 if self._shown else 2 * cycle
            with gil:
                self._anchor = self._oldest
                self._oldest = self._middle
                self._middle = self._newest
                self._newest = self._anchor
            if not self._shown:
                self._oldest_outline = self._middle_outline
            self._middle_outline = self._newest_outline
            self._newest_outline = outline
            pipeline.record(self._newest)
        return False

    cdef int _digest(self, long long outline) noexcept nogil:
        return outline & _DIGEST

    cdef bint _comes_again(self, int outline) noexcept nogil:
        """Insert the outline; true if it was present."""
        cdef bint again
        if self._shown:
            return False
        slot = outline & (_OUTLINES - 1)
        again = self._outlines[slot] == outline
        self._outlines[slot] = outline
        return again

    cdef bint _equals_anchor(self, int outline, Repeating pipeline) except -1:
        """Whether the state equals an anchor with this outline."""
        if outline == self._newest_outline and self._equals(self._newest, pipeline):
            return True
        if outline == self._middle_outline and self._equals(self._middle, pipeline):
            return True
        return outline == self._oldest_outline and self._equals(self._oldest, pipeline)

    cdef bint _equals(self, Record anchor, Repeating pipeline) except -1:
        self._state.compare_with(anchor)
        pipeline.record(self._state)
        self._anchor = anchor
        return self._state.equals_other()
