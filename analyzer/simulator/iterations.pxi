# The rounds of a run: which have passed, and which follow once the state repeats.


cdef class Iterations(Repeating):
    """Progress of a run, and the period of its state."""

    cdef object microarchitecture
    cdef object options
    cdef Tables tables
    cdef Program program
    cdef Queues queues
    cdef FrontEnd front_end
    cdef ReorderBuffer reorder_buffer
    cdef SteadyState _steady_state
    cdef int cycle
    # Number of cycles simulated, without those skipped because nothing could happen in them.
    cdef int visited
    cdef bint every_cycle  # Whether to simulate even cycles in which nothing can happen.
    cdef int least_cycles  # Minimum run length in cycles before steady state.
    cdef int period_cycles
    cdef int period_rounds  # Cycles and rounds of the period; 0 if not known.
    cdef int period_begin
    # The cycle and the round at whose end the repeating state was first recorded.
    cdef int period_first_round

    def __init__(self, microarchitecture, options, Tables tables):
        self.microarchitecture = microarchitecture
        self.options = options
        self.queues = Queues(microarchitecture)
        self.tables = tables
        self.program = tables.program
        self._steady_state = SteadyState()

    cdef void start_clock(self, bint shown) noexcept nogil:
        """Reset: no cycle has passed. ``shown``: as in ``SteadyState``."""
        self.cycle = 0
        self.visited = 0
        self.least_cycles = 0
        self.period_cycles = 0
        self.period_rounds = 0
        self.period_begin = 0
        self.period_first_round = 0
        self._steady_state.start(shown)

    cdef int record(self, Record state) except -1 nogil:
        """Record the whole state at the end of a round."""
        round_number = self.reorder_buffer.key_rounds - 1
        instance = round_number * self.program.instructions
        state.start(self.cycle, round_number, instance, self.tables.instance[instance].uop0)
        state.add(self.reorder_buffer.key_position[round_number])
        state.add(self.reorder_buffer.last_round - round_number)
        self.record_stages(state)

    cdef int record_stages(self, Record state) except -1 nogil:
        """Record the state of the stages."""
        pass

    cdef bint stays(self, int rounds, int periods) except -1 nogil:
        """Whether anything outside the recorded state also lets periods of this many rounds follow."""
        return True

    cdef bint repeats(self, int min_rounds, int min_cycles) except -1 nogil:
        """At the end of a round: whether the state equals an earlier one and keeps repeating up to the end
        of a run (5.1). If so, the period is set."""
        if not self._steady_state.found(self, self.cycle):
            return False
        cycles = self.cycle - self._steady_state.begin()
        rounds = self.reorder_buffer.key_rounds - 1 - self._steady_state.round()
        left = max(
            (max(min_cycles, self.least_cycles) - self.cycle) // cycles,
            (min_rounds - self.reorder_buffer.last_round) // rounds,
            0,
        )
        if not self.stays(rounds, left + 2):
            return False
        self.period_begin = self._steady_state.begin()
        self.period_cycles = cycles
        self.period_first_round = self._steady_state.round()
        self.period_rounds = rounds
        return True

    cdef int rounds_retired(self, int min_rounds, int min_cycles) except? -1:
        """Number of rounds with a retired uop at the end of the full run (5.1). If the run stopped because
        its state repeats, the times of the remaining rounds are filled in."""
        if self.period_cycles == 0:
            return self.reorder_buffer.last_round + 1
        return self.reorder_buffer.repeat(
            self.period_first_round,
            self.period_rounds,
            self.period_cycles,
            min_rounds,
            max(min_cycles, self.least_cycles),
        )

    cdef int issue_of_round(self, int round_number) noexcept nogil:
        """The cycle in which the first uop of a round issued."""
        instance = round_number * self.program.instructions + self.program.first_instruction
        return self.tables.uop[self.tables.instance[instance].uop0].issued
