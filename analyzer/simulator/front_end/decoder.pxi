# The legacy decoders (MITE): instances from the instruction queue to IDQ uops (uiCA model, 3.4).


@cython.final
cdef class Decoder:
    """One complex and three simple decoders."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _instructions
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _decoders
    cdef int _delay
    cdef bint _fusible_waits
    cdef bint _branch_ends
    cdef bint _fusible_on_last
    cdef int _stall
    # Instruction after which another source delivers; NONE if there is none. It ends the decoding
    # of its cycle.
    cdef int end
    # The latest instruction decoded in the latest cycle, NONE if there was none.
    cdef int last_decoded
    # By place of an instruction: whether any decoder takes it and the next one may follow at once.
    cdef int[::1] _plain

    def __init__(self, Tables tables, microarchitecture, Queues queues, MicrocodeQueue microcode):
        self.tables = tables
        self.program = tables.program
        self._instructions = queues.instructions
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._decoders = microarchitecture.decoders
        self._delay = microarchitecture.predecode_to_decode_delay
        self._fusible_waits = microarchitecture.fusible_waits_for_next
        self._branch_ends = microarchitecture.branch_ends_decode_group
        self._fusible_on_last = microarchitecture.fusible_on_last_decoder
        self._stall = microarchitecture.mite_to_ms_stall
        self.end = NONE
        self.last_decoded = NONE
        self._plain = ints(0)

    cdef int start(self, int end) except -1:
        """Reset: nothing was decoded. ``end``: see above; it is a branch, or fused with one."""
        cdef Instruction *instruction
        self.end = end
        self.last_decoded = NONE
        if self.program.instructions > len(self._plain):
            self._plain = ints(2 * self.program.instructions)
        for i in range(self.program.instructions):
            instruction = &self.program.instruction[i]
            self._plain[i] = 1
            if instruction.complex_decoder or instruction.fusible or instruction.ms_uops:
                self._plain[i] = 0
            if instruction.branch or instruction.first:
                self._plain[i] = 0

    cdef void tick(self, int cycle) noexcept nogil:
        """Decode as much as this cycle allows."""
        cdef Instance *instance
        cdef Instruction *instruction
        cdef bint fusible
        slots = self._decoders
        decoded = 0
        self.last_decoded = NONE
        while self._instructions.count > 0:
            number = self._instructions.firsts[self._instructions.head]
            instance = &self.tables.instance[number]
            i = instance.place
            instruction = &self.program.instruction[i]
            if instruction.second:
                instance.removed = cycle
                self._instructions.pop()
                continue
            if self._instructions.seconds[self._instructions.head] + self._delay > cycle:
                break
            if not self._plain[i]:
                if decoded > 0 and instruction.complex_decoder:
                    break
                fusible = self._fusible_waits and instruction.fusible != 0
                if fusible and not self._may_decode_fusible(cycle, decoded):
                    return
            self._instructions.pop()
            instance.removed = cycle
            self.last_decoded = i
            first = instruction.idq0
            split = first + instruction.decoded_count
            for idq_uop in range(first, split):
                self._delivered.push(idq_uop, number)
            slots -= 1
            decoded += 1
            if not self._plain[i]:
                if instruction.ms_uops:
                    end = first + instruction.idq_count
                    self._microcode.hand_over(split, end, number, i, self._stall, self._stall)
                    self._shortage.blame(MICROCODE_SWITCH, i)
                    return
                if instruction.complex_decoder:
                    slots = min(slots, instruction.simple_decoders)
                if i == self.end or (self._branch_ends and (instruction.branch or instruction.first)):
                    break
            if slots <= 0:
                break
        if self._has_next(cycle):
            self._shortage.note(DECODER)
        else:
            self._shortage.starve(cycle - self._delay)

    cdef bint _has_next(self, int cycle) noexcept nogil:
        """Whether the next instruction could be decoded if there were decoders for it."""
        if not self._is_there(0, cycle):
            return False
        place = self.tables.instance[self._instructions.oldest()].place
        fusible = self.program.instruction[place].fusible
        return not (self._fusible_waits and fusible) or self._is_there(1, cycle)

    cdef bint _is_there(self, int place, int cycle) noexcept nogil:
        """Whether the instance at a place of the queue may be decoded by now."""
        index = (self._instructions.head + place) & self._instructions.mask
        return self._instructions.count > place and self._instructions.seconds[index] + self._delay <= cycle

    cdef bint _may_decode_fusible(self, int cycle, int decoded) noexcept nogil:
        """Whether a fusible instruction may be decoded: it waits until its possible partner is there too
        (C4)."""
        if not self._fusible_on_last and decoded == self._decoders - 1:
            self._shortage.note(DECODER)
            return False
        if self._is_there(1, cycle):
            return True
        self._shortage.starve(cycle - self._delay)
        return False
