# The loop stream detector: replays whole rounds from the IDQ (N1 to N4; uiCA model, 3.7).


@cython.final
cdef class Lsd:
    """Refills an empty IDQ with the next rounds."""

    cdef Tables tables
    cdef Program program
    cdef Layout _layout
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef bint _enabled
    cdef int _idq_size
    cdef int[::1] _unroll  # Most rounds per batch, by the number of IDQ uops in a round.
    cdef int round
    # Rounds that are placed in the IDQ at once; 0 if the LSD does not serve this loop.
    cdef int unroll

    def __init__(self, Tables tables, microarchitecture, Layout layout, Queues queues):
        self.tables = tables
        self.program = tables.program
        self._layout = layout
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._enabled = microarchitecture.lsd_enabled
        self._idq_size = microarchitecture.idq_size
        self._unroll = ints(self._idq_size + 1)
        for uops in range(1, self._idq_size + 1):
            self._unroll[uops] = microarchitecture.lsd_unroll.get(uops, 1)
        self.round = 0
        self.unroll = 0

    cdef void start(self) noexcept nogil:
        """Reset: find out whether it serves the program."""
        self.round = 0
        self.unroll = 0
        if self._enabled and self._layout.all_cacheable and self.program.loop:
            uops = self._uops()
            if 0 < uops <= self._idq_size:
                self.unroll = min(self._unroll[uops], self._idq_size // uops)

    cdef int _uops(self) noexcept nogil:
        """IDQ uops of a round, 0 if some instruction keeps the loop out of the LSD (N1)."""
        cdef Instruction *instruction
        uops = 0
        for i in range(self.program.instructions):
            instruction = &self.program.instruction[i]
            if instruction.ms_uops or instruction.rsp_change or instruction.high8_written:
                return 0
            uops += instruction.idq_count
        return uops

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self.round - state.round)

    cdef void tick(self) noexcept nogil:
        """Deliver the next rounds. Call it only when the IDQ is empty."""
        cdef int *uops = &self._delivered.firsts[0]
        cdef int *instances = &self._delivered.seconds[0]
        count = self.program.instructions
        end = (self.round + self.unroll) * count
        self.tables.generate(end)
        first = self.round * count
        place = self._delivered.count  # nothing has been delivered yet in this cycle
        for _ in range(self.unroll):
            for idq_uop in range(self.program.idq_uops):
                uops[place] = idq_uop
                instances[place] = first + self.program.idq_uop[idq_uop].instruction
                place += 1
            first += count
        self._delivered.count = place
        self.round += self.unroll
        self._shortage.note(LATE_LSD)
