# Intel's front end: decoders (MITE), microcode sequencer (MS), uop cache (DSB) and loop stream detector
# (LSD), and which of them delivers next (S1 to S3, F1).


cdef class MiteDsbLsd(FrontEnd):
    """One source delivers at a time; microcode has priority over all others."""

    cdef Program program
    cdef Layout _layout
    cdef Queues _queues
    cdef MicrocodeQueue _microcode
    cdef Shortage _shortage
    cdef CodeFetch _fetch
    cdef Predecoder _predecoder
    cdef Decoder _decoder
    cdef MicrocodeSequencer _sequencer
    cdef Dsb _dsb
    cdef Lsd _lsd
    cdef StackEngine _stack_engine
    cdef int _lsd_rest
    cdef int _idq_size
    cdef int _idq_limit
    cdef int _after_microcode  # Instruction whose microcode interrupts the DSB.
    cdef int source

    def __init__(self, Tables tables, microarchitecture, Queues queues):
        super().__init__()
        program = tables.program
        layout = Layout(program, microarchitecture)
        microcode = MicrocodeQueue()
        self.program = program
        self._layout = layout
        self._queues = queues
        self._microcode = microcode
        self._shortage = queues.shortage
        self._fetch = CodeFetch(tables, layout, queues)
        self._predecoder = Predecoder(tables, microarchitecture, queues)
        self._decoder = Decoder(tables, microarchitecture, queues, microcode)
        self._sequencer = MicrocodeSequencer(microarchitecture, queues, microcode)
        self._dsb = Dsb(tables, microarchitecture, layout, queues, microcode)
        self._lsd = Lsd(tables, microarchitecture, layout, queues)
        self._stack_engine = StackEngine(tables, microarchitecture, queues)
        self._lsd_rest = 0 if microarchitecture.lsd_has_borders else microarchitecture.issue_width
        self._idq_size = microarchitecture.idq_size
        self._idq_limit = microarchitecture.idq_size - microarchitecture.dsb_width

    cdef int start(self) except -1:
        """Prepare a run over the program."""
        self._layout.start()
        self._microcode.start()
        self._fetch.start()
        self._predecoder.start()
        self._dsb.start()
        self._lsd.start()
        self._stack_engine.start()
        self._decoder.start(self._last_before_dsb())
        self._after_microcode = NONE
        self.lsd_unroll = self._lsd.unroll
        if self._lsd.unroll:
            self.source = LSD
            self._lsd.tick()
            self._stack_engine.tick(LSD, 0)
        elif self._layout.cached[0]:
            self.source = DSB
            self._shortage.note(LATE_DSB)
        else:
            self.source = MITE
            self._note_uncached()
        if self.program.loop and self.source != LSD:
            # The code of the first round is already fetched when the clock starts.
            self._fetch.tick()

    cdef int idle(self) noexcept nogil:
        """Cycles in which the IDQ may not have room for a delivery, or a stall of microcode or predecoder
        lasts."""
        if self._rests() or (self.source == LSD and self._queues.idq.count > self._lsd_rest):
            return NEVER
        if self._microcode.busy():
            return max(0, self._microcode.stall - 1)
        if self.source == MITE and self._queues.instructions.count == 0:
            return max(0, self._predecoder.stall - 1)
        return 0

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many of these cycles."""
        if self._rests() or self.source == LSD:
            return
        if self._microcode.busy():
            self._microcode.stall -= cycles
        else:
            self._predecoder.stall -= cycles

    cdef bint _rests(self) noexcept nogil:
        """Whether the IDQ may not have room for a full delivery of the DSB."""
        return self._queues.idq.count > self._idq_limit

    cdef int tick(self, int cycle) except -1 nogil:
        """Let one of the sources deliver."""
        if not self._rests():
            if self.source != LSD:
                self._from_code(cycle)
            elif self._queues.idq.count <= self._lsd_rest:
                self._lsd.tick()
                self._stack_engine.tick(LSD, cycle)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self.source)
        state.add(self._after_microcode)
        if self.source == LSD:
            self._lsd.record(state)
        else:
            self._fetch.record(state)
            self._predecoder.record(state)
            self._sequencer.record(state)
            self._dsb.record(state)
        self._stack_engine.record(state)

    cdef int outline(self) noexcept nogil:
        """A hash of the state."""
        return (self._queues.instructions.count << 16) ^ self._stack_engine.offset

    cdef object buffers(self):
        """Instruction queue and IDQ."""
        return (self._predecoder.buffer(), Buffer("IDQ", self._idq_size, self._idq_limit))

    cdef object placement(self):
        """Addresses within lines, which code is cached, and everything that decoding the rest depends on."""
        return self._layout.key()

    cdef void _from_code(self, int cycle) noexcept nogil:
        """Deliver from microcode, decoders or DSB."""
        self._fetch.tick()
        if self._microcode.busy():
            self._sequencer.tick()
            self._stack_engine.tick(MS, cycle)
            if self._after_microcode != NONE and not self._microcode.busy():
                self._after_dsb(self._after_microcode)
                self._after_microcode = NONE
        elif self.source == MITE:
            self._predecoder.tick(cycle)
            self._decoder.tick(cycle)
            self._stack_engine.tick(MITE, cycle)
            if self._layout.erratum != NONE and not self._microcode.busy():
                self._shortage.blame(JCC, self._layout.erratum)
            self._after_decoder()
        else:
            self._dsb.tick()
            self._stack_engine.tick(DSB, cycle)
            if self._microcode.busy():
                # The published simulator leaves this switch undefined; here it happens after the microcode.
                self._after_microcode = self._dsb.last_instruction
            elif self._dsb.finished:
                self._after_dsb(self._dsb.last_instruction)
                if self.source == MITE:
                    self._note_uncached()

    cdef void _after_decoder(self) noexcept nogil:
        """Switch from MITE to DSB after the last instruction of a round (S2)."""
        if self._decoder.last_decoded == self._decoder.end != NONE:
            self.source = DSB
            if not self._microcode.busy():
                self._shortage.note(DSB_SWITCH)

    cdef int _last_before_dsb(self) noexcept nogil:
        """The last instruction of a round if the code after it is cached; NONE otherwise (S2)."""
        cdef Instruction *instruction
        last = self.program.key_instruction
        instruction = &self.program.instruction[last]
        switches = self._layout.cached[0] and (instruction.branch or instruction.first)
        return last if switches else NONE

    cdef void _after_dsb(self, int instruction) noexcept nogil:
        """Switch from DSB to MITE if the following code is not cached (S3)."""
        if not self._layout.next_is_cached(instruction):
            self.source = MITE

    cdef void _note_uncached(self) noexcept nogil:
        """Record that the next delivery is late because its code is not cached."""
        if self._layout.erratum == NONE:
            self._shortage.note(PREDECODER)
        else:
            self._shortage.blame(JCC, self._layout.erratum)
