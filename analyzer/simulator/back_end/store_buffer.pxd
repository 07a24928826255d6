# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns

cdef int NONE
cdef int UNKNOWN


@cython.final
cdef class StoreBuffer:
    cdef Columns _columns
    cdef int _oldest
    cdef inline void start(self) noexcept:
        self._oldest = 0
    cdef inline void tick(self, int cycle) noexcept:
        if not self.waits():
            self._columns.store_left[self._oldest] = cycle
            self._oldest += 1
    cdef inline bint waits(self) noexcept:
        columns = self._columns
        if self._oldest == columns.stores:
            return True
        data = columns.store_uop[self._oldest]
        return data == -1 or columns.retired[data] == -2
    cdef inline int record(self, Record state) except -1:
        state.add(self._columns.stores - self._oldest)
