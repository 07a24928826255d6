# The microcode sequencer: the uops of microcoded instructions beyond the decoded ones (uiCA model, 3.5).


@cython.final
cdef class MicrocodeSequencer:
    """Four IDQ uops per cycle, with empty cycles around a switch."""

    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _width

    def __init__(self, microarchitecture, Queues queues, MicrocodeQueue microcode):
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._width = microarchitecture.ms_width

    cdef void tick(self) noexcept nogil:
        """Simulate one busy cycle."""
        if self._microcode.stall:
            # An empty cycle before the first of its uops or after the last.
            self._shortage.blame(MICROCODE_SWITCH, self._microcode.instruction)
            self._microcode.stall -= 1
            return
        end = min(self._microcode.first + self._width, self._microcode.end)
        for idq_uop in range(self._microcode.first, end):
            self._delivered.push(idq_uop, self._microcode.instance)
        self._microcode.first = end
        if end < self._microcode.end:
            self._shortage.note(LATE_MICROCODE)
        else:
            self._shortage.blame(MICROCODE_SWITCH, self._microcode.instruction)
            self._microcode.stall = self._microcode.post_stall
            self._microcode.post_stall = 0

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._microcode.stall)
        state.add(self._microcode.post_stall)
        if self._microcode.first < self._microcode.end:
            state.add(self._microcode.first)
            state.add(self._microcode.end)
            state.add(self._microcode.instance - state.instance)
