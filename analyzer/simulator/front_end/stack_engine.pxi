# Entry into the IDQ, and the stack engine, which tracks RSP there: RSP changes by PUSH and POP need no
# uops, except sometimes one that synchronises (E1 to E5; uiCA model, 3.8).

cdef enum:
    _NO_LIMIT = 1 << 30


@cython.final
cdef class StackEngine:
    """Moves delivered IDQ uops into the IDQ; tracks the offset between its RSP and the renamed one."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _delivered
    cdef PairQueue _idq
    cdef Shortage _shortage
    # Largest offset in bytes. It only limits upward moves: long runs of POP synchronise, runs of
    # PUSH never do.
    cdef int _most
    cdef int offset

    def __init__(self, Tables tables, microarchitecture, Queues queues):
        self.tables = tables
        self.program = tables.program
        self._delivered = queues.delivered
        self._idq = queues.idq
        self._shortage = queues.shortage
        limit = microarchitecture.stack_offset_limit
        self._most = _NO_LIMIT if limit is None else limit

    cdef void start(self) noexcept nogil:
        """Reset: both RSP values agree."""
        self.offset = 0

    cdef void tick(self, int source, int cycle) noexcept nogil:
        """Move everything delivered in this cycle into the IDQ. Uops from the LSD have passed the stack
        engine before."""
        cdef Uop *uop
        cdef bint looks
        looks = self.program.moves_stack != 0 and source != LSD
        plain = 0 if looks or self.tables.followed else self._delivered.count
        place = self._idq.head + self._idq.count
        mask = self._idq.mask
        for position in range(plain):
            idq_uop = self._delivered.firsts[position]
            first = self.tables.instance[self._delivered.seconds[position]].uop0
            first += self.program.idq_uop[idq_uop].uop0
            self._idq.firsts[place & mask] = first
            self._idq.seconds[place & mask] = idq_uop
            place += 1
        self._idq.count += plain
        for position in range(plain, self._delivered.count):
            idq_uop = self._delivered.firsts[position]
            instance = self._delivered.seconds[position]
            if looks:
                i = self.program.idq_uop[idq_uop].instruction
                if idq_uop == self.program.instruction[i].idq0 and self._passes(i):
                    static = self.program.fused_uop[self.program.idq_uop[self.program.sync_idq].fused0].uop0
                    sync = self.tables.new_uop(instance, i, static)
                    uop = &self.tables.uop[sync]
                    uop.source = STACK_ENGINE
                    uop.added = cycle
                    self._idq.push(sync, self.program.sync_idq)
            first = self.tables.instance[instance].uop0 + self.program.idq_uop[idq_uop].uop0
            self._idq.push(first, idq_uop)
            if self.tables.followed:
                self._note(idq_uop, first, source, NONE if source == LSD else cycle)
        if self._delivered.count > 0:
            self._shortage.delivered = self._delivered.firsts[self._delivered.count - 1]
        self._delivered.clear()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state, with the IDQ that it fills."""
        state.add(self.offset)
        state.add(self._idq.count)
        # If none are added, uop numbers are consecutive.
        for position in range(self._idq.count if self.program.adds_uops else min(self._idq.count, 1)):
            index = (self._idq.head + position) & self._idq.mask
            state.add(self._idq.firsts[index] - state.uop)
            state.add(self._idq.seconds[index])

    cdef bint _passes(self, int i) noexcept nogil:
        """An instruction's first uop passes. Returns True if a synchronisation uop must precede it."""
        cdef Instruction *instruction = &self.program.instruction[i]
        needed = False
        if instruction.adds and instruction.rsp_written and instruction.rsp_explicit:
            return False  # the renamer adds the constant to what it knows of RSP (E6)
        if self.offset and instruction.rsp_explicit:
            needed = True
            self.offset = 0
        self.offset += instruction.rsp_step
        if self.offset > self._most:
            needed = True
            self.offset = 0
        if instruction.rsp_written:
            self.offset = 0
        return needed

    cdef void _note(self, int idq_uop, int uop, int source, int cycle) noexcept nogil:
        """Record source and time of the uops of an IDQ uop: ``uop`` and its successors."""
        first = self.program.idq_uop[idq_uop].fused0
        for fused in range(first, first + self.program.idq_uop[idq_uop].fused_count):
            for _ in range(self.program.fused_uop[fused].uop_count):
                self.tables.uop[uop].source = source
                self.tables.uop[uop].added = cycle
                uop += 1
