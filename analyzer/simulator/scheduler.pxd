from cyclelens.analyzer.simulator.arrays cimport PairQueue, SequenceHeap
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.fences cimport Fences
from cyclelens.analyzer.simulator.program cimport Program


cdef int ELIMINATED, FOREVER, LOAD, NONE, STORE_ADDRESS, STORE_DATA, UNKNOWN, _ADDRESS_KNOWN, _DATA_KNOWN, _FORWARDING, _MIN_EXECUTION, _PAIRED_STORE_BYTES, _QUEUES, _QUEUE_CAPACITY


cdef class Scheduler:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _issued
    cdef int[::1] _usage
    cdef int _size
    cdef int _issue_width
    cdef int _delay
    cdef int _ports
    cdef bint _slow_256_bit
    cdef public Fences fences
    cdef public int occupancy
    cdef int _ring_size
    cdef int[::1] _ring
    cdef list _queues
    cdef SequenceHeap _divider_queue
    cdef int _ready
    cdef public int divider_blocked
    cdef public int store_data_blocked
    cdef public int[::1] tp_blocked
    cdef int[::1] _dispatched
    cdef public int dispatched_count
    cdef PairQueue _checks
    cdef SequenceHeap _held
    cdef SequenceHeap _candidates
    cpdef bint full(self)
    cpdef void wake(self, int cycle)
    cpdef void tick(self, int cycle)
    cdef SequenceHeap _queue(self, int port)
    cdef void _accept(self)
    cdef void _dispatch(self, int cycle)
    cdef void _leave(self, int uop, int cycle)
    cdef int _skipped_port(self)
    cdef bint _may_pair(self, int one, int other)
    cdef void _complete(self, int cycle)
    cdef bint _store_known(self, int store)
    cdef int _forwarded(self, int store)
    cdef void _forward(self, int store)
    cdef void _finish(self, int uop, int dispatched, int earliest)
    cdef void _check_special(self, int cycle)
    cdef void _fix(self, int uop, int cycle)
