# The queues between the stages; each is one edge of the pipeline.

cdef enum:
    _STALLS = 16  # More than the cycles from predecoder to decoder.


@cython.final
cdef class Queues:
    """All edges of one pipeline; a stage receives those it reads and writes."""

    cdef int _queue_size
    cdef int _idq_size
    cdef int _issue_width
    cdef PairQueue blocks  # Code fetch to predecoder: 16-byte blocks as (first instance, end).
    cdef PairQueue lines  # Code fetch to DSB: (line number, round).
    # The IQ, predecoder to decoder: (instance, cycle in which it was predecoded).
    cdef PairQueue instructions
    cdef PairQueue delivered  # Front end to IDQ within one cycle: (static IDQ uop, instance).
    cdef PairQueue idq  # The IDQ: (first uop, static IDQ uop).
    # Renamer to ROB within one cycle: (first uop, number of uops) of fused uops.
    cdef PairQueue issued
    # The issued uops that need a unit, renamer to binding and scheduler: (uop, issue slot).
    cdef PairQueue bound
    # The bound uops whose inputs are all known, renamer to scheduler: the same pairs.
    cdef PairQueue free
    # Contents of the ROB, oldest first: the same pairs as ``issued``. Only the ROB adds pairs;
    # other stages read.
    cdef PairQueue rob
    cdef Shortage shortage  # Front end to renamer: why the IDQ has no more uops.

    def __init__(self, microarchitecture):
        self._queue_size = microarchitecture.instruction_queue_size
        self._idq_size = microarchitecture.idq_size
        self._issue_width = microarchitecture.issue_width
        self.blocks = PairQueue()
        self.lines = PairQueue()
        self.instructions = PairQueue()
        self.delivered = PairQueue()
        self.idq = PairQueue()
        self.issued = PairQueue()
        self.bound = PairQueue()
        self.free = PairQueue()
        self.rob = PairQueue()
        self.shortage = Shortage()

    cdef int start(self, Program program) except -1:
        """Reset to empty for a run of the program."""
        # Code fetch stops at four blocks and two lines, but takes whole rounds.
        self.blocks.start(4 * program.instructions + 16)
        self.lines.start(2 * program.instructions + 16)
        self.instructions.start(self._queue_size + 8)
        group = 0
        if program.simple_front_end:
            # It takes all that starts within 64 bytes, with at most one synchronisation per instruction.
            group = (2 + CODE_LINE // program.size) * (program.idq_uops + program.instructions)
        self.delivered.start(2 * self._idq_size + program.idq_uops + group)
        self.idq.start(4 * self._idq_size + 2 * program.idq_uops + group)
        # Beside the uops of each slot there is room for one that joins them (A4).
        most_issued = (2 if program.has_joins else 1) * self._issue_width + program.most_merges
        self.issued.start(most_issued)
        self.bound.start(most_issued * program.most_fused)
        self.free.start(most_issued * program.most_fused)
        self.shortage.start(program)


@cython.final
cdef class Shortage:
    """Why the front end delivered no more in its latest cycle. Its stages set the reason when they stop; the
    renamer reads it when the IDQ is empty."""

    # The predecoder's latest stalls in rings: the cycle, and the instruction whose prefix caused
    # it.
    cdef int[::1] _stall_cycle
    cdef int[::1] _stall_instruction
    cdef Program program
    cdef int delivered  # Row of the program's IDQ uop that was delivered last.
    cdef int reason  # One of ``REFUSALS``, up to ``JCC``.
    cdef int _instruction

    def __init__(self):
        self._stall_cycle = ints(_STALLS)
        self._stall_instruction = ints(_STALLS)

    cdef void start(self, Program program) noexcept:
        """Reset: nothing has been delivered."""
        self.program = program
        self.delivered = NONE
        self.reason = PREDECODER
        self._instruction = NONE
        for slot in range(_STALLS):
            self._stall_cycle[slot] = NONE

    cdef void note(self, int reason) noexcept nogil:
        """The instruction whose uop is to be delivered next is late."""
        self.reason = reason
        self._instruction = NONE

    cdef void blame(self, int reason, int instruction) noexcept nogil:
        """The next delivery is late because of another instruction."""
        self.reason = reason
        self._instruction = instruction

    cdef int instruction(self) noexcept nogil:
        """Place of the instruction to blame."""
        if self._instruction != NONE:
            return self._instruction
        following = self.delivered + 1
        return self.program.idq_uop[following if following < self.program.idq_uops else 0].instruction

    cdef void stall(self, int cycle, int instruction) noexcept nogil:
        """The predecoder stalls in this cycle because of an instruction's length-changing prefix."""
        self._stall_cycle[cycle & _STALLS - 1] = cycle
        self._stall_instruction[cycle & _STALLS - 1] = instruction

    cdef void starve(self, int cycle) noexcept nogil:
        """The decoders starve because the predecoder had not finished the next instruction by this cycle."""
        slot = cycle & _STALLS - 1
        if cycle >= 0 and self._stall_cycle[slot] == cycle:
            self.blame(LCP, self._stall_instruction[slot])
        else:
            self.note(PREDECODER)


@cython.final
cdef class MicrocodeQueue:
    """IDQ uops handed to the microcode sequencer, and the stalls around them in cycles."""

    cdef int first
    cdef int end
    cdef int instance
    cdef int instruction  # The instruction of the instance.
    cdef int stall
    cdef int post_stall

    cdef void start(self) noexcept nogil:
        """Reset: no uops are queued."""
        self.first = 0
        self.end = 0
        self.instance = 0
        self.instruction = NONE
        self.stall = 0
        self.post_stall = 0

    cdef void hand_over(
        self, int first, int end, int instance, int instruction, int stall, int post_stall
    ) noexcept nogil:
        """Hand the sequencer the IDQ uops ``first`` .. ``end`` (possibly none) of an instance (MS1)."""
        self.instruction = instruction
        self.first = first
        self.end = end
        self.instance = instance
        self.stall = stall
        self.post_stall = post_stall

    cdef bint busy(self) noexcept nogil:
        """Whether the sequencer is busy or stalled (MS2)."""
        return self.first < self.end or self.stall > 0
