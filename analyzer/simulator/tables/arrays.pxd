# Made by dev/declarations.py; do not edit.
cimport cython

cdef int _LINE
cdef int _PAGE
cdef int _READY
cdef int _SPECIAL


@cython.final
cdef class PairQueue:
    cdef public int mask
    cdef public int head
    cdef public int count
    cdef public int[::1] firsts
    cdef public int[::1] seconds
    cdef int start(self, int capacity) except -1
    cdef void _cut(self, int[::1] table, int size) noexcept
    cdef void push(self, int first, int second) noexcept
    cdef void pop(self) noexcept
    cdef void clear(self) noexcept


@cython.final
cdef class SequenceHeaps:
    cdef public int capacity
    cdef public int[::1] items
    cdef public int[::1] counts
    cdef int start(self, int capacity) except -1
    cdef void push(self, int heap, int item) noexcept
    cdef int oldest(self, int heap) noexcept
    cdef int pop(self, int heap) noexcept


@cython.final
cdef class Record:
    cdef public long long[::1] items
    cdef public int count
    cdef public bint differs
    cdef Record _other
    cdef public int cycle
    cdef public int round
    cdef public int instance
    cdef public int uop
    cdef void start(self, int cycle, int round_number, int instance, int uop) noexcept
    cdef int add(self, long long item) except -1
    cdef int add_time(self, long long cycle, int oldest) except -1
    cdef void compare_with(self, Record other) noexcept
    cdef bint equals_other(self) noexcept
