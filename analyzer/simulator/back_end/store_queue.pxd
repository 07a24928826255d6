# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.commit_rule cimport CommitRule
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight

cdef int NONE
cdef int UNKNOWN


@cython.final
cdef class StoreQueue:
    cdef Columns _columns
    cdef InFlight _flight
    cdef CommitRule _commit
    cdef int _settling
    cdef public int least_cycles
    cdef inline void start(self) noexcept:
        self._commit.start()
        self.least_cycles = 0
    cdef inline int record(self, Record state) except -1:
        self._commit.record(state)
    cdef inline bint waits(self) noexcept:
        columns = self._columns
        store = self._flight.oldest_store
        if store == columns.stores:
            return True
        data = columns.store_uop[store]
        return data == -1 or columns.retired[data] == -2
    cdef inline void skip(self, int cycles) noexcept:
        self._commit.pass_by(cycles)
    cdef void tick(self, int cycle) noexcept
