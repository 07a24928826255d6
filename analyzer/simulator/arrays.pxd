cdef class PairQueue:
    cdef int[::1] _firsts
    cdef int[::1] _seconds
    cdef int _mask
    cdef int _head
    cdef public int count
    cpdef void push(self, int first, int second)
    cpdef void pop(self)
    cpdef int first(self, int position)
    cpdef int second(self, int position)
    cpdef void clear(self)
    cdef void _grow(self)


cdef class SequenceHeap:
    cdef int[::1] _items
    cdef public int count
    cpdef void push(self, int item)
    cpdef int oldest(self)
    cpdef int pop(self)
