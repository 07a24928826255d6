# Uops and stores in flight on a core that picks by age, shared by renamer and scheduler: rings, indexed by
# the low bits of a uop's or store's number.

cdef enum:
    _RING_UOPS = 1 << 14
    _RING_STORES = 1 << 8
    _MOST_SCHEDULERS = MOST_UNITS
    # Cycles after which a result delays no consumer: more than the transfer between any two units.
    _SETTLED_VALUES = 64


@cython.final
cdef class InFlight:
    """Rings over uops (``u_``) and stores (``s_``), and the number of waiting uops per queue."""

    cdef int uop_mask
    cdef int store_mask
    # Number of inputs, including those of this instance alone: a store that it forwards from.
    cdef int[::1] u_inputs
    cdef int[::1] u_after_address
    # Cycles from the store's address and from its data to the pick of a load that forwards.
    cdef int[::1] u_after_data
    # 1: all inputs were ready at dispatch; 2: it waits, but not for an ALU; 0: it waits for an ALU.
    cdef int[::1] u_fresh
    cdef int[::1] u_place  # Place in the code, counted in macro-ops.
    cdef int[::1] u_waste  # Slots lost if the value below arrives last, in eighths.
    cdef int[::1] u_waste_value
    cdef int[::1] u_slots  # Slots of the address units, in eighths.
    # Slots of the address units that the measuring harness costs, in eighths.
    cdef int[::1] u_harness
    # 1: a load that is renamed to a store; 2: one that forwards from a store.
    cdef int[::1] u_receives
    cdef int[::1] s_base_value
    cdef int[::1] s_index_value
    cdef int[::1] s_base_key
    cdef int[::1] s_vector
    cdef int[::1] s_source  # The value that is stored.
    cdef int[::1] s_picked  # A value that is ready when the address is.
    cdef int[::1] s_crosses
    cdef int[::1] s_read  # Whether a load received its data before it left.
    cdef int[::1] u_scheduler
    cdef int[::1] u_units  # Mask of the units of that scheduler that it may take.
    cdef int[::1] waiting  # Number of uops in each scheduler.
    cdef int[::1] addresses  # Number of those that wait for its address unit.
    cdef PairQueue vectors  # Vector uops that queue in front of their schedulers, oldest first.
    # Uops of the latest dispatch whose inputs are all known, renamer to scheduler.
    cdef PairQueue fresh
    cdef int forwarding  # Number of loads that forward and have not been picked.
    cdef int oldest_store  # The oldest store that has not been committed.
    cdef bint small_loop
    cdef bint decoded  # Whether the code comes from the decoders.

    def __init__(self):
        self.uop_mask = _RING_UOPS - 1
        self.store_mask = _RING_STORES - 1
        self.u_inputs = ints(_RING_UOPS)
        self.u_after_address = ints(_RING_UOPS)
        self.u_after_data = ints(_RING_UOPS)
        self.u_fresh = ints(_RING_UOPS)
        self.u_place = ints(_RING_UOPS)
        self.u_waste = ints(_RING_UOPS)
        self.u_waste_value = ints(_RING_UOPS)
        self.u_slots = ints(_RING_UOPS)
        self.u_harness = ints(_RING_UOPS)
        self.u_receives = ints(_RING_UOPS)
        self.s_base_value = ints(_RING_STORES)
        self.s_index_value = ints(_RING_STORES)
        self.s_base_key = ints(_RING_STORES)
        self.s_vector = ints(_RING_STORES)
        self.s_source = ints(_RING_STORES)
        self.s_picked = ints(_RING_STORES)
        self.s_crosses = ints(_RING_STORES)
        self.s_read = ints(_RING_STORES)

        self.u_scheduler = ints(_RING_UOPS)
        self.u_units = ints(_RING_UOPS)
        self.waiting = ints(_MOST_SCHEDULERS)
        self.addresses = ints(_MOST_SCHEDULERS)
        self.vectors = PairQueue()

        self.fresh = PairQueue()

    cdef int start(self) except -1:
        """Reset: nothing is in flight."""
        self.fresh.start(_RING_UOPS)
        for scheduler in range(_MOST_SCHEDULERS):
            self.waiting[scheduler] = 0
            self.addresses[scheduler] = 0
        self.vectors.start(_RING_UOPS)
        self.forwarding = 0
        self.oldest_store = 0
        self.small_loop = False
        self.decoded = False

    cdef int record_time(self, Record state, int ready) except -1 nogil:
        """Record when a value is ready, as part of the pipeline's state."""
        state.add_time(ready, _SETTLED_VALUES)
