# Load and store fences: which accesses wait for which fence (uiCA model, 3.13).

cdef enum:
    _MOST_IN_FLIGHT = 1024


@cython.final
cdef class FenceOrder:
    """Pending fences of one kind, and the accesses since the last one."""

    cdef Tables tables
    cdef PairQueue pending
    cdef PairQueue accesses
    cdef bint changed  # Whether the oldest fence left in the latest cycle.

    def __init__(self, Tables tables):
        self.tables = tables
        self.pending = PairQueue()
        self.accesses = PairQueue()
        self.changed = False

    cdef int start(self) except -1:
        """Reset: no fence is pending."""
        self.changed = False
        self.pending.clear()
        self.accesses.clear()
        if self.tables.program.has_fences:
            self.pending.start(_MOST_IN_FLIGHT)
            # Accesses behind a pending fence wait, so a list holds at most those of two rounds.
            self.accesses.start(_MOST_IN_FLIGHT + 2 * self.tables.program.uops)

    cdef bint may_pass(self, int fence, int cycle) noexcept nogil:
        """Whether the fence is the oldest and every access before it is complete."""
        if self.pending.firsts[self.pending.head] != fence:
            return False
        for position in range(self.accesses.count):
            access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
            executed = self.tables.uop[access].executed
            if executed == UNKNOWN or executed > cycle:
                return False
        return True

    cdef bint blocks(self, int access) noexcept nogil:
        """Whether a fence older than the access is pending."""
        return self.pending.count > 0 and self.pending.firsts[self.pending.head] < access

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        for position in range(self.pending.count):
            state.add(self.pending.firsts[(self.pending.head + position) & self.pending.mask] - state.uop)
        for position in range(self.accesses.count):
            access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
            state.add_time(self.tables.uop[access].executed, 0)

    cdef void tick(self, int cycle) noexcept nogil:
        """Remove the oldest fence once it has completed."""
        self.changed = False
        if self.pending.count == 0:
            return
        executed = self.tables.uop[self.pending.firsts[self.pending.head]].executed
        if executed != UNKNOWN and executed <= cycle:
            self.pending.pop()
            self.accesses.clear()
            self.changed = True

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next known cycle in which the oldest fence may pass or leaves; NEVER if there is none."""
        following = NEVER
        if self.pending.count > 0:
            following = self._later(self.pending.firsts[self.pending.head], cycle, following)
            for position in range(self.accesses.count):
                access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
                following = self._later(access, cycle, following)
        return following

    cdef int _later(self, int uop, int cycle, int following) noexcept nogil:
        """The earlier of ``following`` and the uop's completion, if that is still to come."""
        executed = self.tables.uop[uop].executed
        return executed if cycle < executed < following else following


@cython.final
cdef class Fences:
    """MFENCE orders loads and (until it leaves) holds back later stores; LFENCE loads; SFENCE stores."""

    cdef Tables tables
    cdef Program program
    cdef FenceOrder loads
    cdef FenceOrder stores

    def __init__(self, Tables tables):
        self.tables = tables
        self.program = tables.program
        self.loads = FenceOrder(tables)
        self.stores = FenceOrder(tables)

    cdef int start(self) except -1:
        """Reset: no access is ordered."""
        self.loads.start()
        self.stores.start()

    cdef void bound(self, int number) noexcept nogil:
        """Called when a uop was bound to a port."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef Instruction *instruction
        i = uop.position
        instruction = &self.program.instruction[i]
        if instruction.load_fence or instruction.store_fence:
            uop.held = HELD_BY_FENCE
        if not self.program.uop[uop.static].first:
            return
        if instruction.load_fence:
            self.loads.pending.push(number, 0)
        if instruction.store_fence:
            self.stores.pending.push(number, 0)

    cdef bint allow(self, int number, int cycle) noexcept nogil:
        """Whether the uop's ready time may be fixed in this cycle."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop
        cdef Instruction *instruction
        static = uop.static
        block_uop = &self.program.uop[static]
        i = uop.position
        instruction = &self.program.instruction[i]
        if instruction.load_fence:
            return not block_uop.first or self.loads.may_pass(number, cycle)
        if instruction.store_fence:
            return not block_uop.first or self.stores.may_pass(number, cycle)
        kind = block_uop.kind
        if kind == LOAD:
            return not self.loads.blocks(number)
        if kind == STORE_ADDRESS or kind == STORE_DATA:
            return not self.stores.blocks(number)
        return True

    cdef void fixed(self, int uop) noexcept nogil:
        """Called when a uop's ready time was fixed."""
        if not self.program.has_fences:
            return
        kind = self.program.uop[self.tables.uop[uop].static].kind
        if kind == LOAD:
            self.loads.accesses.push(uop, 0)
        elif kind == STORE_ADDRESS or kind == STORE_DATA:
            self.stores.accesses.push(uop, 0)

    cdef void tick(self, int cycle) noexcept nogil:
        """End of a cycle."""
        self.loads.tick(cycle)
        self.stores.tick(cycle)

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next known cycle in which a fence may pass or leaves; NEVER if there is none."""
        if self.loads.changed or self.stores.changed:
            return cycle + 1
        return min(self.loads.next_event(cycle), self.stores.next_event(cycle))
