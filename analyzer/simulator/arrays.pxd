cimport cython


@cython.final
cdef class PairQueue:
    cdef public int[::1] firsts
    cdef public int[::1] seconds
    cdef public int mask
    cdef public int head
    cdef public int count
    cdef void push(self, int first, int second) noexcept
    cdef void pop(self) noexcept
    cdef void clear(self) noexcept


@cython.final
cdef class SequenceHeaps:
    cdef public int capacity
    cdef public int[::1] items
    cdef public int[::1] counts
    cdef void push(self, int heap, int item) noexcept
    cdef int oldest(self, int heap) noexcept
    cdef int pop(self, int heap) noexcept
