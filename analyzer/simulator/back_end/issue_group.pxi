# Selects the IDQ uops that issue in a cycle, in order (R1 to R4; uiCA model, 3.9).


@cython.final
cdef class IssueGroup:
    """Up to ``issue_width`` fused uops; if there are fewer, it records why."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef Shortage _shortage
    cdef Resources _resources
    cdef Entries _entries
    cdef int _width
    cdef int _rob_size
    cdef bint _unfused  # Whether every uop takes an entry of the ROB.
    cdef int merged_for  # First uop of the instruction whose merge uops were issued last.
    cdef bint _counts_uops  # Whether schedulers or an unfused ROB can end an issue group.
    cdef bint held  # Nothing was issued, and nothing can be until a uop retires.

    def __init__(
        self,
        Tables tables,
        microarchitecture,
        Queues queues,
        Resources resources,
        Entries entries,
        bint unfused,
    ):
        self.tables = tables
        self.program = tables.program
        self._idq = queues.idq
        self._issued = queues.issued
        self._rob = queues.rob
        self._shortage = queues.shortage
        self._resources = resources
        self._entries = entries
        self._width = microarchitecture.issue_width
        self._rob_size = microarchitecture.reorder_buffer_size
        self._unfused = unfused

    cdef void start(self) noexcept nogil:
        """Reset: nothing has issued."""
        self.merged_for = NONE
        self._counts_uops = self._entries.by_uop or self._unfused
        self.held = False

    cdef void stand(self, int cycle) noexcept nogil:
        """Skip a cycle in which nothing is issued because the scheduler or the reorder buffer is full."""
        self._issued.clear()
        if not self.tables.watched:
            return
        if self._idq.count == 0:
            self._starve(cycle)
        elif self._entries.full():
            self._full(cycle)
        else:
            self._wait_for_retirement(cycle, ROB_FULL)

    cdef void select(self, int cycle) noexcept nogil:
        """Fill the issue group of a cycle."""
        slots = 0
        if self._entries.by_uop:
            self._entries.start_group()
        self.tables.refuse(cycle, 0, NONE)
        self.held = False
        while slots < self._width:
            if self._idq.count == 0:
                self._starve(cycle)
                return
            uop = self._idq.firsts[self._idq.head]
            idq_uop = self._idq.seconds[self._idq.head]
            count = self.program.idq_uop[idq_uop].fused_count
            needed = count
            if self.program.holds_issue:
                if self.program.uop[self.tables.uop[uop].static].first and self._holds(uop, cycle):
                    return
            if self.program.has_joins and self.tables.shares_slot(uop):
                needed = 0
            if slots + needed > self._width:
                self.tables.refuse(cycle, ISSUE_GROUP, uop)
                return
            slots += needed
            if self._counts_uops and not self._has_room(uop, idq_uop, cycle):
                return
            if self._resources.limited and not self._resources.take(uop, cycle):
                self._wait_for_retirement(cycle, RESOURCE_FULL + self._resources.missing)
                self.held = self._issued.count == 0 and self._resources.comes_with_retirement()
                return
            self._idq.pop()
            first_fused = self.program.idq_uop[idq_uop].fused0
            place = self._issued.count  # it was empty at the beginning of the cycle
            for fused in range(first_fused, first_fused + count):
                size = self.program.fused_uop[fused].uop_count
                self._issued.firsts[place] = uop
                self._issued.seconds[place] = size
                uop += size
                place += 1
            self._issued.count = place

    cdef void eliminate(self, int number) noexcept nogil:
        """Called when the renamer carries out the move or addition of a uop that has just been issued, in the
        order of the program."""
        if self._resources.limited:
            self._resources.eliminate(number)

    cdef bint _holds(self, int number, int cycle) noexcept nogil:
        """Whether an instruction cannot issue with those before it: it needs a merge uop first, or it
        serializes."""
        cdef Uop *uop = &self.tables.uop[number]
        i = uop.position
        if self.program.instruction[i].merge_count and self.merged_for != number:
            # Merge uops issue alone, in a cycle before their instruction (R1).
            if self._issued.count == 0:
                self.merged_for = number
                first_merge = self.program.instruction[i].merge0
                for merge in range(first_merge, first_merge + self.program.instruction[i].merge_count):
                    static = self.program.merge_uop[self.program.merge[merge].key]
                    self._issued.push(self.tables.new_uop(uop.instance, i, static), 1)
            self.tables.refuse(cycle, REGISTER_MERGE, number)
            return True
        if self.program.instruction[i].serializing:
            for part in range(number, number + self.program.instruction[i].uop_count):
                self.tables.uop[part].held = HELD_BY_FENCE
            if self._rob.count > 0:
                self.tables.refuse(cycle, SERIALIZATION, number)
                self.held = self._issued.count == 0
                return True
        return False

    cdef bint _has_room(self, int uop, int idq_uop, int cycle) noexcept nogil:
        """Whether ROB and schedulers have room for the uops of an IDQ uop."""
        if self._unfused and not self._fits_unfused(self._uops_of(idq_uop)):
            self._wait_for_retirement(cycle, ROB_FULL)
            self.held = self._issued.count == 0
            return False
        if self._entries.by_uop and not self._entries.take(uop, self._uops_of(idq_uop)):
            self._full(cycle)
            return False
        return True

    cdef int _uops_of(self, int idq_uop) noexcept nogil:
        """Number of uops of an IDQ uop."""
        first = self.program.idq_uop[idq_uop].fused0
        last = first + self.program.idq_uop[idq_uop].fused_count - 1
        uops = self.program.fused_uop[last].uop0 - self.program.fused_uop[first].uop0
        return uops + self.program.fused_uop[last].uop_count

    cdef bint _fits_unfused(self, int uops) noexcept nogil:
        """Whether the ROB has an entry for each of these uops; if it is empty, any number fits (as in B5)."""
        held = self._rob.count
        for slot in range(self._issued.count):
            held += self._issued.seconds[slot]
        return held == 0 or held + uops <= self._rob_size

    cdef void _starve(self, int cycle) noexcept nogil:
        """Record that slots stay empty because the IDQ is empty."""
        if self.tables.watched:
            self.tables.refuse(cycle, self._shortage.reason, self._shortage.instruction())

    cdef void _full(self, int cycle) noexcept nogil:
        """Record that slots stay empty because a scheduler is full; its oldest uop gets the blame."""
        if self.tables.watched:
            which = SCHEDULERS * (1 + self._entries.lacking) if self._entries.several else 0
            self.tables.refuse(cycle, RS_FULL + which, self._oldest_waiting())

    cdef int _oldest_waiting(self) noexcept nogil:
        cdef Uop *uop
        for place in range(self._rob.count):
            position = (self._rob.head + place) & self._rob.mask
            first = self._rob.firsts[position]
            for number in range(first, first + self._rob.seconds[position]):
                uop = &self.tables.uop[number]
                unit = uop.port
                if unit >= 0 and uop.dispatched == UNKNOWN and self._entries.in_the_way(unit):
                    return number
        # All of them issue in this cycle.
        return self._issued.firsts[self._issued.head]

    cdef void _wait_for_retirement(self, int cycle, int buffer) noexcept nogil:
        """Record that slots stay empty because a buffer is full that is freed at retirement."""
        if not self.tables.watched:
            return
        uop = self.tables.cycle[cycle - 1].unfinished if cycle > 0 else NONE
        oldest = self._rob.oldest() if self._rob.count > 0 else self._idq.oldest()
        self.tables.refuse_for_retirement(cycle, buffer, uop, oldest)
