# A front end without limits, for ablation studies: the IDQ never runs empty (uiCA model, 3.14).


cdef class SimpleFrontEnd(FrontEnd):
    """Delivers groups of 64 bytes of unrolled code while the IDQ holds less than an issue group. The block
    must have been built for it: every uop is an IDQ uop of its own."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _delivered
    cdef PairQueue _idq
    cdef StackEngine _stack_engine
    cdef int _width
    cdef int _idq_size
    cdef int _instance  # Next instance to deliver.

    def __init__(self, Tables tables, microarchitecture, Queues queues):
        super().__init__()
        self.tables = tables
        self.program = tables.program
        self._delivered = queues.delivered
        self._idq = queues.idq
        self._stack_engine = StackEngine(tables, microarchitecture, queues)
        self._width = microarchitecture.issue_width
        self._idq_size = microarchitecture.idq_size

    cdef int start(self) except -1:
        """Reset to the beginning of the code."""
        self._stack_engine.start()
        self._instance = 0

    cdef int idle(self) noexcept nogil:
        """NEVER while the IDQ holds an issue group."""
        return NEVER if self._rests() else 0

    cdef object buffers(self):
        """The IDQ."""
        return (Buffer("IDQ", self._idq_size, self._width - 1),)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state, with the IDQ."""
        state.add(self._instance - state.instance)
        state.add(self.tables.address_of(self._instance) % CODE_LINE)
        self._stack_engine.record(state)

    cdef int tick(self, int cycle) except -1 nogil:
        """Deliver groups until there are enough uops for one cycle's issue."""
        while not self._rests():
            self.tables.reserve()
            self._deliver()
            self._stack_engine.tick(NO_SOURCE, cycle)

    cdef bint _rests(self) noexcept nogil:
        return self._idq.count >= self._width

    cdef void _deliver(self) noexcept nogil:
        cdef Instruction *instruction
        line = self.tables.address_of(self._instance) // CODE_LINE
        end = self._instance
        while self.tables.address_of(end) // CODE_LINE == line:
            end += 1
        self.tables.generate(end)
        for instance in range(self._instance, end):
            i = instance % self.program.instructions
            instruction = &self.program.instruction[i]
            for idq_uop in range(instruction.idq0, instruction.idq0 + instruction.idq_count):
                self._delivered.push(idq_uop, instance)
        self._instance = end
