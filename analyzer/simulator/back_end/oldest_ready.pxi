# Every free unit takes the oldest ready uop that it can execute, within the limits on all picks of a cycle:
# integer, address and vector units (M9, M11, M14 to M16, M20).

cdef enum:
    # Kinds of uops: for ALUs and branch units, for address units, and for all others.
    _INTEGER = 0
    _ADDRESS = 1
    _VECTOR = 2
    _ROOM = 1024  # Most ready uops of a kind: the schedulers hold no more.


cdef class OldestReady(Picker):
    """Chooses unit and uop together. Vector uops beyond those that can be picked wait in a queue in front."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef int _units, _delay
    cdef int _integer_units, _alus, _alu_count, _special, _address_mask, _vector_mask
    cdef int[::1] _pipes  # Pipes by number, in the order in which they are taken.
    cdef int _loads, _vector_loads, _mixed, _stores
    cdef int _address_units, _mask_operations, _pickable
    cdef int _multiplication, _multiply_mask
    cdef int[::1] _ready  # Ready uops of each scheduler, oldest first.
    cdef int[::1] _counts
    cdef int[::1] _latest  # The uop that each unit took last.
    cdef int[::1] _busy  # Time at which each unit is free again, in eighths of a cycle.
    cdef int[::1] _results  # The same after a transfer, which delays all operations but multiplications.
    cdef int _admitted  # Vector uops in their schedulers; the others queue in front of them.
    cdef int _last_admitted
    # The latest time, in eighths of a cycle, at which an integer unit is free again.
    cdef int _integers_busy
    cdef int _divider_free, _vector_divider_free, _alone_free
    cdef int _integer_debt, _address_debt  # Slots wasted by past picks, in eighths.
    cdef int _received, _change  # Eighths of a slot that a load costs that receives data, or changes memory.
    cdef int _transfer  # Cycles for which a transfer occupies the way of a shifting ALU's results.
    cdef int _transfer_pipes
    cdef int _shifters
    cdef ThirdSources _thirds

    def __init__(self, Tables tables, microarchitecture, Operations operations, InFlight in_flight):
        super().__init__()
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self.flight = in_flight
        units = microarchitecture.units
        self._units = len(units)
        self._delay = microarchitecture.issue_to_dispatch_delay
        branches = units.having(Role.BRANCH).mask
        self._alus = units.having(Role.ALU).mask
        self._alu_count = self._alus.bit_count()
        self._shifters = units.having(Role.SHIFT).mask
        self._multiply_mask = units.having(Role.MULTIPLY).mask
        self._integer_units = self._alus | branches
        self._special = branches | self._multiply_mask | self._shifters
        self._address_mask = units.having(Role.LOAD).mask | units.having(Role.STORE_ADDRESS).mask
        self._vector_mask = 0
        for role in (Role.VECTOR, Role.TRANSFER, Role.FROM_INTEGER):
            self._vector_mask |= units.having(role).mask
        self._pipes = ints(len(rules.pipes))
        for place, name in enumerate(rules.pipes):
            self._pipes[place] = units.names.index(name)
        self._loads = rules.loads_per_cycle
        self._vector_loads = rules.vector_loads_per_cycle
        self._mixed = rules.mixed_memory_ops_per_cycle
        self._stores = rules.stores_per_cycle
        self._address_units = rules.memory_ops_per_cycle
        self._mask_operations = rules.mask_operations_per_cycle
        self._pickable = rules.vector_pickable
        self._multiplication = 0 if rules.wasted is None else rules.wasted.multiplication
        self._received, self._change = rules.forwarded_load_eighths, rules.change_load_eighths
        self._transfer = rules.transfer_alu_cycles
        self._transfer_pipes = units.having(Role.TRANSFER).mask
        self._thirds = ThirdSources(rules.third_source_eighths)
        self.asks_issued = 0 if rules.wasted is None else rules.wasted.address_cycles
        self._ready = ints(3 * _ROOM)
        self._counts = ints(3)
        self._latest = ints(len(units))
        self._busy = ints(len(units))
        self._results = ints(len(units))

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready."""
        for scheduler in range(3):
            self._counts[scheduler] = 0
        for unit in range(self._units):
            self._busy[unit] = 0
            self._results[unit] = 0
            self._latest[unit] = NONE
        self._admitted = 0
        self._last_admitted = NONE
        self._integers_busy = 0
        self._divider_free = 0
        self._vector_divider_free = 0
        self._alone_free = 0
        self._integer_debt = 0
        self._address_debt = 0
        self._thirds.start()
        self.count = 0

    cdef void tick(self, int cycle) noexcept nogil:
        """Let uops leave."""
        self.count = 0
        self._pick_integer(cycle)
        self._pick_addresses(cycle)
        self._pick_vectors(cycle)

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next cycle in which a unit that all ready uops wait for is free, if no uop moves up and no
        slot is lost."""
        if (
            (self.flight.vectors.count > 0 and self._admitted < self._pickable)
            or self._integer_debt >= EIGHTHS
            or self._address_debt >= EIGHTHS
            or self._thirds.waits()
        ):
            return cycle + 1
        following = NEVER
        for scheduler in range(3):
            base = scheduler * _ROOM
            for position in range(base, base + self._counts[scheduler]):
                following = min(following, self._free_for(self._ready[position], scheduler))
                if following <= cycle + 1:
                    return cycle + 1
        return following

    cdef int _free_for(self, int uop, int scheduler) noexcept nogil:
        """The first cycle in which the resources of a ready uop are free, as far as known: 0 if it may need
        none of them, NEVER if other uops have to leave first."""
        static = self.tables.uop[uop].static
        traits = self.operations.t_traits[static]
        units = self.flight.u_units[uop & self.flight.uop_mask]
        if scheduler == _VECTOR:
            if uop > self._last_admitted and not units & ~self._vector_mask:
                return NEVER
            free = self._first_free(units)
            if traits & DIVIDES_TRAIT:
                free = max(free, self._vector_divider_free // EIGHTHS)
            return free
        free = 0
        if traits & ALONE_TRAIT and self.program.uop[static].kind != LOAD:
            free = self._alone_free // EIGHTHS
        if scheduler == _INTEGER:
            free = max(free, self._first_free(units))
            if traits & DIVIDES_TRAIT:
                free = max(free, self._divider_free // EIGHTHS)
        return free

    cdef int _first_free(self, int units) noexcept nogil:
        """The first cycle in which one of these units is free."""
        free = NEVER
        for unit in range(self._units):
            if units >> unit & 1:
                free = min(free, self._busy[unit] // EIGHTHS)
        return free

    cdef int _after(self, int time, int cycle, int static) noexcept nogil:
        """When a resource that is free from ``time`` on, at the latest in this cycle, is free after taking
        this uop."""
        return max(time, EIGHTHS * cycle) + max(self.operations.t_busy[static], EIGHTHS)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._integer_debt)
        state.add(self._address_debt)
        self._thirds.record(state)
        self._record_eighth(state, self._divider_free)
        self._record_eighth(state, self._vector_divider_free)
        self._record_eighth(state, self._alone_free)
        for unit in range(self._units):
            self._record_eighth(state, self._busy[unit])
            self._record_eighth(state, self._results[unit])
        # All vector uops from here on queue in front.
        state.add(self.flight.vectors.count)
        state.add(self.flight.vectors.oldest() - state.uop if self.flight.vectors.count > 0 else 0)

    cdef int _record_eighth(self, Record state, int time) except -1 nogil:
        state.add_time(time // EIGHTHS, 0)
        # Times in the past do not matter.
        state.add(time % EIGHTHS if time // EIGHTHS >= state.cycle else 0)

    cdef void admit(self, int first) noexcept nogil:
        """The uops of a list (``next_uop``) may leave from now on."""
        uop = first
        while uop != NONE:
            self._admit(uop)
            uop = self.tables.uop[uop].next_uop

    cdef void _admit(self, int uop) noexcept nogil:
        """Insert a uop among the ready ones of its kind, by age."""
        cdef BlockUop *block_uop
        static = self.tables.uop[uop].static
        block_uop = &self.program.uop[static]
        kind = block_uop.kind
        scheduler = _VECTOR
        if kind == LOAD or kind == STORE_ADDRESS:
            scheduler = _ADDRESS
        elif block_uop.port_mask & self._integer_units:
            scheduler = _INTEGER
        base = scheduler * _ROOM
        place = self._counts[scheduler]
        while place > 0 and self._ready[base + place - 1] > uop:
            self._ready[base + place] = self._ready[base + place - 1]
            place -= 1
        self._ready[base + place] = uop
        self._counts[scheduler] += 1

    cdef void _pick_integer(self, int cycle) noexcept nogil:
        cdef Uop *uop
        slots = self._alu_count - self._integer_debt // EIGHTHS
        self._integer_debt %= EIGHTHS
        if slots < 0:
            self._integer_debt -= EIGHTHS * slots
            slots = 0
        free = writing = self._integer_units
        end = EIGHTHS * (cycle + 1)
        if self._integers_busy >= end:
            for unit in range(self._units):
                if self._busy[unit] >= end:
                    free &= ~(1 << unit)
                if self._results[unit] >= end:
                    writing &= ~(1 << unit)
        kept = 0
        for position in range(self._counts[_INTEGER]):
            number = self._ready[position]
            uop = &self.tables.uop[number]
            static = uop.static
            traits = self.operations.t_traits[static]
            slot = number & self.flight.uop_mask
            mask = self.flight.u_units[slot] & free
            if self.program.uop[static].port_mask != self._multiply_mask:
                mask &= writing
            if (traits & ALONE_TRAIT and self._alone_free >= end) or (
                traits & DIVIDES_TRAIT and self._divider_free >= end
            ):
                mask = 0
            if slots <= 0:
                mask &= ~self._alus
            if mask == 0:
                self._ready[kept] = number
                kept += 1
                continue
            unit = self._choose(mask)
            free &= ~(1 << unit)
            slots -= self._alus >> unit & 1
            if traits & ALONE_TRAIT:
                self._alone_free = self._after(self._alone_free, cycle, static)
            elif traits & DIVIDES_TRAIT:
                self._divider_free = self._after(self._divider_free, cycle, static)
            elif self.operations.t_busy[static] > EIGHTHS:
                self._busy[unit] = self._after(self._busy[unit], cycle, static)
                self._integers_busy = max(self._integers_busy, self._busy[unit])
            if self.program.uop[static].port_mask == self._multiply_mask:
                self._integer_debt += self._multiplication
            if (
                self.flight.u_waste[slot]
                and self.tables.value[self.flight.u_waste_value[slot]].ready + 1 >= uop.ready
            ):
                self._integer_debt += self._wasted(number, slot, cycle)
            self._take(number, static, unit, cycle)
        self._counts[_INTEGER] = kept

    cdef int _choose(self, int mask) noexcept nogil:
        """The unit of the mask to take: units that no other uop needs first, then the highest number."""
        plain = mask & ~self._special
        if plain:
            mask = plain & -plain
        unit = self._units - 1
        while not mask >> unit & 1:
            unit -= 1
        return unit

    cdef void _pick_addresses(self, int cycle) noexcept nogil:
        cdef BlockUop *block_uop
        cdef bint loads_vector, fits
        used = loads = vectors = integers = stores = others = 0
        free = self._address_mask
        while self._address_debt >= EIGHTHS and used < self._address_units:
            self._address_debt -= EIGHTHS
            used += 1
            loads += 1
        kept = 0
        base = _ADDRESS * _ROOM
        for position in range(self._counts[_ADDRESS]):
            uop = self._ready[base + position]
            static = self.tables.uop[uop].static
            block_uop = &self.program.uop[static]
            traits = self.operations.t_traits[static]
            slot = uop & self.flight.uop_mask
            cost = self.flight.u_slots[slot]
            taken = False
            mask = self.flight.u_units[slot] & free
            loads_vector = traits & VECTOR_TRAIT != 0 and block_uop.kind == LOAD
            most = self._address_units
            if others if loads_vector else vectors:
                most = self._mixed
            if used >= most or mask == 0:
                taken = False
            elif block_uop.kind == LOAD:
                wanted = cost
                if traits & WIDE_TRAIT:
                    wanted = 3 if (loads > 0 and vectors == 0) or integers > 0 else 2
                fits = loads + wanted <= self._loads and used + wanted <= most
                if loads_vector and vectors + cost > self._vector_loads:
                    fits = False
                if fits:
                    taken = True
                    loads += wanted
                    used += wanted
                    if loads_vector:
                        vectors += cost
                    else:
                        integers += 1
                    if self.flight.u_waste[slot] and self._wastes_address(uop, cycle):
                        self._address_debt += self.flight.u_waste[slot]
                    self._address_debt += self.flight.u_harness[slot]
                    if self.flight.u_receives[slot]:
                        self._address_debt += self._received
                    if traits & SHARES_ADDRESS_TRAIT:
                        self._address_debt += self._change + self.operations.t_busy[static]
            elif stores < self._stores and not (
                traits & ALONE_TRAIT and self._alone_free >= EIGHTHS * (cycle + 1)
            ):
                taken = True
                stores += 1
                used += 1
                if traits & ALONE_TRAIT:
                    self._alone_free = self._after(self._alone_free, cycle, static)
            if taken:
                unit = self._lowest(mask)
                free &= ~(1 << unit)
                others += not loads_vector
                self._take(uop, static, unit, cycle)
            else:
                self._ready[base + kept] = uop
                kept += 1
        self._counts[_ADDRESS] = kept

    cdef int _wasted(self, int uop, int slot, int cycle) noexcept nogil:
        """Wasted eighths of a slot. In a chain an operation that had to wait for a unit wastes half a slot
        (M14)."""
        waste = self.flight.u_waste[slot]
        producer = self.tables.value[self.flight.u_waste_value[slot]].uop
        if self.tables.uop[uop].ready < cycle and self.flight.u_fresh[producer & self.flight.uop_mask] == 0:
            waste //= 2
        return waste

    cdef bint _wastes_address(self, int uop, int cycle) noexcept nogil:
        """Whether it wastes address slots: in long loops from the op cache only uops that are picked soon
        do."""
        if self.flight.decoded or self.flight.small_loop:
            return True
        return cycle - self.tables.uop[uop].issued - self._delay <= self.asks_issued

    cdef void _occupy_result(self, int cycle) noexcept nogil:
        """A transfer's result takes the shifting ALU's way that is free first, from the next cycle on."""
        first = NONE
        for unit in range(self._units):
            if self._shifters >> unit & 1 and (first == NONE or self._results[unit] < self._results[first]):
                first = unit
        free = max(self._results[first], EIGHTHS * (cycle + 1)) + EIGHTHS * self._transfer
        self._results[first] = free
        self._integers_busy = max(self._integers_busy, free)

    cdef void _pick_vectors(self, int cycle) noexcept nogil:
        cdef BlockUop *block_uop
        free = 0
        end = EIGHTHS * (cycle + 1)
        for unit in range(self._units):
            if self._busy[unit] < end:
                free |= 1 << unit
        while self.flight.vectors.count > 0 and self._admitted < self._pickable:
            self._last_admitted = self.flight.vectors.firsts[self.flight.vectors.head]
            self.flight.vectors.pop()
            self._admitted += 1
        masks = kept = 0
        self._thirds.start_cycle()
        base = _VECTOR * _ROOM
        for position in range(self._counts[_VECTOR]):
            uop = self._ready[base + position]
            static = self.tables.uop[uop].static
            traits = self.operations.t_traits[static]
            mask = self.flight.u_units[uop & self.flight.uop_mask] & free
            if (
                mask == 0
                or (traits & DIVIDES_TRAIT and self._vector_divider_free >= end)
                or (traits & MASK_TRAIT and masks >= self._mask_operations)
                or (uop > self._last_admitted and mask & self._vector_mask)
                or (traits & THREE_SOURCES_TRAIT and not self._thirds.take())
            ):
                self._ready[base + kept] = uop
                kept += 1
                continue
            unit = self._choose_pipe(mask)
            free &= ~(1 << unit)
            if traits & MASK_TRAIT:
                masks += 1
            if traits & DIVIDES_TRAIT:
                self._vector_divider_free = self._after(self._vector_divider_free, cycle, static)
            elif self.operations.t_busy[static] > EIGHTHS:
                self._busy[unit] = self._after(self._busy[unit], cycle, static)
            if mask & self._vector_mask:
                self._admitted -= 1
            block_uop = &self.program.uop[static]
            if block_uop.port_mask & self._transfer_pipes:
                self._thirds.store()
                if traits & TO_FLAGS_TRAIT:
                    self._integer_debt += EIGHTHS * self._transfer
                elif self._transfer and block_uop.kind == COMPUTE:
                    self._occupy_result(cycle)
            self._take(uop, static, unit, cycle)
        self._counts[_VECTOR] = kept

    cdef int _choose_pipe(self, int mask) noexcept nogil:
        for place in range(len(self._pipes)):
            if mask >> self._pipes[place] & 1:
                return self._pipes[place]
        return self._lowest(mask)

    cdef int _lowest(self, int mask) noexcept nogil:
        unit = 0
        while not mask >> unit & 1:
            unit += 1
        return unit

    cdef void _take(self, int number, int static, int unit, int cycle) noexcept nogil:
        """Dispatch a uop to a unit."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef bint taken
        before = self._latest[unit]
        if uop.ready < cycle:
            # Lost cycles are not always due to another uop: picks waste slots (M14).
            taken = before != NONE and self.tables.uop[before].dispatched == cycle - 1
            queued = QUEUED_FOR_DIVIDER if block_uop.divider > 1 else QUEUED_FOR_PORT
            self.tables.queue(number, queued, before if taken else NONE)
        self._latest[unit] = number
        uop.port = unit
        uop.dispatched = cycle
        scheduler = self.flight.u_scheduler[number & self.flight.uop_mask]
        self.flight.waiting[scheduler] -= 1
        kind = block_uop.kind
        if kind == LOAD or kind == STORE_ADDRESS:
            self.flight.addresses[scheduler] -= 1
        self.dispatched[self.count] = number
        self.count += 1
