# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int HELD_BY_FENCE
cdef int LOAD
cdef int NEVER
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _MOST_IN_FLIGHT


@cython.final
cdef class FenceOrder:
    cdef Columns _columns
    cdef public PairQueue pending
    cdef public PairQueue accesses
    cdef public bint changed
    cdef inline int start(self) except -1:
        self.changed = False
        self.pending.clear()
        self.accesses.clear()
        if self._columns.program.has_fences:
            self.pending.start(1024)
            self.accesses.start(1024 + 2 * self._columns.program.uops)
    cdef inline bint may_pass(self, int fence, int cycle) noexcept:
        if self.pending.firsts[self.pending.head] != fence:
            return False
        for position in range(self.accesses.count):
            access = self.accesses.firsts[self.accesses.head + position & self.accesses.mask]
            executed = self._columns.executed[access]
            if executed == -2 or executed > cycle:
                return False
        return True
    cdef inline bint blocks(self, int access) noexcept:
        return self.pending.count > 0 and self.pending.firsts[self.pending.head] < access
    cdef inline int record(self, Record state) except -1:
        for position in range(self.pending.count):
            state.add(self.pending.firsts[self.pending.head + position & self.pending.mask] - state.uop)
        for position in range(self.accesses.count):
            access = self.accesses.firsts[self.accesses.head + position & self.accesses.mask]
            state.add_time(self._columns.executed[access], 0)
    cdef inline void tick(self, int cycle) noexcept:
        self.changed = False
        if self.pending.count == 0:
            return
        executed = self._columns.executed[self.pending.firsts[self.pending.head]]
        if executed != -2 and executed <= cycle:
            self.pending.pop()
            self.accesses.clear()
            self.changed = True
    cdef inline int next_event(self, int cycle) noexcept:
        following = 1073741824
        if self.pending.count > 0:
            following = self._later(self.pending.firsts[self.pending.head], cycle, following)
            for position in range(self.accesses.count):
                access = self.accesses.firsts[self.accesses.head + position & self.accesses.mask]
                following = self._later(access, cycle, following)
        return following
    cdef int _later(self, int uop, int cycle, int following) noexcept


@cython.final
cdef class Fences:
    cdef Columns _columns
    cdef Program _program
    cdef public FenceOrder loads
    cdef public FenceOrder stores
    cdef inline int start(self) except -1:
        self.loads.start()
        self.stores.start()
    cdef void bound(self, int uop) noexcept
    cdef bint allow(self, int uop, int cycle) noexcept
    cdef void fixed(self, int uop) noexcept
    cdef inline void tick(self, int cycle) noexcept:
        self.loads.tick(cycle)
        self.stores.tick(cycle)
    cdef inline int next_event(self, int cycle) noexcept:
        if self.loads.changed or self.stores.changed:
            return cycle + 1
        return min(self.loads.next_event(cycle), self.stores.next_event(cycle))
