# Issue slots that an operation wastes if its last operand comes from an ALU (M14, M15).


cdef class WastedSlots(LateOperands):
    """A uop whose last operand comes from an ALU wastes part of an issue slot (in eighths)."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef int _alus
    cdef int _branch_alus
    cdef int _fresh
    cdef int _fresh_decoded
    cdef int _after_load
    cdef int _in_chain
    cdef int _near
    cdef int _branch_fresh
    cdef int _branch_waiting
    cdef int _to_branch
    cdef int _to_multiplier
    cdef int _to_any
    cdef int _between
    cdef int _address_alu
    cdef int _address_load

    def __init__(self, Tables tables, microarchitecture, Operations operations, InFlight in_flight):
        super().__init__()
        assert microarchitecture.macro_ops is not None
        wasted = microarchitecture.macro_ops.wasted
        assert wasted is not None
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self.flight = in_flight
        self._alus = microarchitecture.units.having(Role.ALU).mask
        self._branch_alus = microarchitecture.units.having(Role.BRANCH).mask
        self._fresh, self._fresh_decoded = wasted.fresh, wasted.fresh_decoded
        self._after_load, self._in_chain, self._near = wasted.after_load, wasted.in_chain, wasted.near_ops
        self._branch_fresh, self._branch_waiting = wasted.branch_alu_fresh, wasted.branch_alu_waiting
        self._to_branch, self._to_multiplier = wasted.to_branch_alu, wasted.to_multiplier
        self._to_any, self._between = wasted.to_any_alu, wasted.between_classes
        self._address_alu, self._address_load = wasted.address_from_alu, wasted.address_from_load

    cdef void weigh(self, int uop, int cycle, int place) noexcept nogil:
        """Set how much issuing a uop will waste if it waits for an ALU's result. ``place``: macro-ops
        dispatched before its instruction."""
        cdef BlockUop *block_uop
        slot = uop & self.flight.uop_mask
        static = self.tables.uop[uop].static
        block_uop = &self.program.uop[static]
        kind = block_uop.kind
        mask = block_uop.port_mask
        own = self.operations.t_traits[static] & OWN_RESULT_TRAIT
        if kind == LOAD:
            self._weigh_load(uop, slot, cycle)
        elif kind != STORE_ADDRESS and mask & self._alus and not own:
            self._weigh_operation(uop, slot, mask, cycle, place)

    cdef void _weigh_load(self, int number, int slot, int cycle) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        first = uop.first_input
        # The store that it forwards from is no part of the address.
        for position in range(first, first + self.program.uop[uop.static].in_count):
            value = self.tables.input[position].value
            ready = self.tables.value[value].ready
            if ready == UNKNOWN or ready > cycle + 1:
                weight = self._address_alu if self._alu_of(value) else self._address_load
                if weight > self.flight.u_waste[slot]:
                    self.flight.u_waste[slot] = weight
                    self.flight.u_waste_value[slot] = value

    cdef void _weigh_operation(self, int uop, int slot, int mask, int cycle, int place) noexcept nogil:
        cdef Value *value
        cdef bint waits
        first = self.tables.uop[uop].first_input
        fresh = 1
        for position in range(first, first + self.flight.u_inputs[slot]):
            row = self.tables.input[position].value
            value = &self.tables.value[row]
            ready = value.ready
            waits = ready == UNKNOWN or ready > cycle + 1
            if waits and fresh == 1:
                fresh = 2
            producer_mask = self._alu_of(row)
            if producer_mask == 0:
                continue
            producer = value.uop
            picked = self.tables.uop[producer].dispatched
            if picked != UNKNOWN and picked < cycle - 1:
                continue
            if waits:
                fresh = 0
            weight = self._weight(producer, producer_mask, mask, place)
            if weight > self.flight.u_waste[slot]:
                self.flight.u_waste[slot] = weight
                self.flight.u_waste_value[slot] = row
        self.flight.u_fresh[slot] = fresh

    cdef int _weight(self, int producer, int producer_mask, int mask, int place) noexcept nogil:
        slot = producer & self.flight.uop_mask
        fresh = self.flight.u_fresh[slot]
        distance = max(1, place - self.flight.u_place[slot])
        if fresh == 2:
            weight = self._after_load
        elif fresh:
            weight = self._fresh_decoded if self.flight.decoded else self._fresh
            if distance > self._near:
                weight = weight * self._near // distance
        else:
            weight = self._in_chain
        if producer_mask == mask:
            return weight
        if mask == self._alus:
            if producer_mask == self._branch_alus:
                return self._branch_fresh if fresh else self._branch_waiting
            return weight * self._to_any // EIGHTHS
        if producer_mask == self._alus:
            share = self._to_branch if mask == self._branch_alus else self._to_multiplier
            return weight * share // EIGHTHS
        return weight * self._between // EIGHTHS

    cdef int _alu_of(self, int row) noexcept nogil:
        """Units of the one-cycle ALU operation that makes a value, 0 if no such operation does."""
        cdef Value *value = &self.tables.value[row]
        cdef BlockUop *block_uop
        producer = value.uop
        if producer == NONE or value.latency != 1:
            return 0
        static = self.tables.uop[producer].static
        block_uop = &self.program.uop[static]
        if block_uop.kind != COMPUTE:
            return 0
        return block_uop.port_mask & self._alus
