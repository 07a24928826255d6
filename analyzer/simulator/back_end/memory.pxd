# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int LINE_WORDS
cdef int LOAD
cdef int LOADED
cdef int NONE
cdef int STORE_DATA
cdef int SUM
cdef int UNKNOWN
cdef int _EQUAL
cdef long long _FARTHEST
cdef int _FILL
cdef int _FIRST_FREE
cdef long long _HALF
cdef int _IN_CACHE
cdef long long _NO_SYMBOL
cdef long long _ORIGIN
cdef int _ORIGINS
cdef int _PAGE
cdef int _WORD_BYTES


@cython.final
cdef class Memory:
    cdef bint _lines_matter
    cdef Columns _columns
    cdef Program _program
    cdef bint _one_page
    cdef bint _all_different
    cdef bint _all_equal
    cdef bint _all_words_equal
    cdef long long _word
    cdef bint _stack_apart
    cdef long long[::1] _seen_symbol
    cdef public long long[::1] symbol
    cdef bint _from_store
    cdef public int blocked
    cdef public long long ahead
    cdef public int first_live
    cdef int _seen
    cdef long long _origins
    cdef long long _base
    cdef long long _index
    cdef int _scale
    cdef int _displacement
    cdef int start(self) except -1
    cdef long long _new_origin(self) noexcept
    cdef void _look_at(self, int static_uop) noexcept
    cdef bint _is_number(self, long long symbol) noexcept
    cdef inline int open_store(self, int static_uop) noexcept:
        columns = self._columns
        self._look_at(static_uop)
        store = columns.new_store()
        columns.store_base[store] = self._base
        columns.store_index[store] = self._index
        columns.store_scale[store] = self._scale
        columns.store_displacement[store] = self._displacement
        columns.store_bytes[store] = self._program.u_bytes[static_uop]
        return store
    cdef int newest_store(self, int static_uop, int cycle) noexcept
    @cython.locals(distance=cython.longlong)
    cdef int words(self, int static_uop) noexcept
    cdef int _newest_overlapping(self, int size) noexcept
    cdef bint _finished(self, int store, int cycle) noexcept
    cdef void record(self, Record state, PairQueue in_flight) except *
    cdef int _record_in_flight(self, Record state, PairQueue in_flight) except? -1
    cdef void _record_symbol(self, Record state, long long symbol) except *
    cdef int _number_of(self, long long symbol) except? -1
    cdef inline void copy(self, int source, int target) noexcept:
        self.symbol[target] = self.symbol[source]
    cdef long long continued(self, int i) noexcept
    cdef long long _value(self, int i) noexcept
    cdef inline void move_stack(self, int i) noexcept:
        if self._program.exact_values and self._program.i_rsp_step[i]:
            self.symbol[self._program.rsp] += self._program.i_rsp_step[i]
    cdef void result(self, int key, long long continued) noexcept
