"""Every free unit takes the oldest ready uop that it can execute, within the limits on all picks of a cycle:
integer, address and vector units (M9, M11, M14 to M16, M20)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    LOAD,
    NEVER,
    NONE,
    QUEUED_FOR_DIVIDER,
    QUEUED_FOR_PORT,
    STORE_ADDRESS,
)
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations

_INTEGER, _ADDRESS, _VECTOR = 0, 1, 2
"""Kinds of uops: for ALUs and branch units, for address units, and for all others."""
_ROOM = 1024
"""Most ready uops of a kind: the schedulers hold no more."""
_VECTOR_TRAIT, _WIDE, _MASK_TRAIT, _ALONE, _DIVIDES = (
    int(Trait.VECTOR),
    int(Trait.WIDE),
    int(Trait.MASK),
    int(Trait.ALONE),
    int(Trait.DIVIDES),
)
_EIGHTHS = 8


class OldestReady(Picker):
    """Chooses unit and uop together. Vector uops beyond those that can be picked wait in a queue in front."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        in_flight: InFlight,
    ) -> None:
        super().__init__()
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight
        units = microarchitecture.units
        self._units = len(units)
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._integer_units: int = units.having(Role.ALU).mask | units.having(Role.BRANCH).mask
        self._special = (
            units.having(Role.BRANCH).mask | units.having(Role.MULTIPLY).mask | units.having(Role.SHIFT).mask
        )
        self._address_mask: int = units.having(Role.LOAD).mask | units.having(Role.STORE_ADDRESS).mask
        self._vector_mask: int = 0
        for role in (Role.VECTOR, Role.TRANSFER, Role.FROM_INTEGER):
            self._vector_mask |= units.having(role).mask
        self._pipes = ints(len(rules.pipes))
        """Pipes by number, in the order in which they are taken."""
        for place, name in enumerate(rules.pipes):
            self._pipes[place] = units.names.index(name)
        self._integer_count: int = self._integer_units.bit_count()
        self._loads = rules.loads_per_cycle
        self._vector_loads = rules.vector_loads_per_cycle
        self._mixed = rules.mixed_memory_ops_per_cycle
        self._stores = rules.stores_per_cycle
        self._address_units = rules.memory_ops_per_cycle
        self._mask_operations = rules.mask_operations_per_cycle
        self._pickable = rules.vector_pickable
        self._multiplication = 0 if rules.wasted is None else rules.wasted.multiplication
        self._multiply_mask = microarchitecture.units.having(Role.MULTIPLY).mask
        self.asks_issued = 0 if rules.wasted is None else rules.wasted.address_cycles
        self._ready = ints(3 * _ROOM)
        """Ready uops of each scheduler, oldest first."""
        self._counts = ints(3)
        self._latest = ints(len(units))
        """The uop that each unit took last."""
        self._busy = ints(len(units))
        """Time at which each unit is free again, in eighths of a cycle."""

    def start(self, most: int) -> None:
        """Reset: no uop is ready."""
        for scheduler in range(3):
            self._counts[scheduler] = 0
        for unit in range(self._units):
            self._busy[unit] = 0
            self._latest[unit] = NONE
        self._admitted = 0
        """Vector uops in their schedulers; the others queue in front of them."""
        self._last_admitted = NONE
        self._integers_busy = 0
        """The latest time, in eighths of a cycle, at which an integer unit is free again."""
        self._divider_free = 0
        self._vector_divider_free = 0
        self._alone_free = 0
        self._integer_debt = 0
        """Slots wasted by past picks, in eighths."""
        self._address_debt = 0
        self.count = 0

    def tick(self, cycle: int) -> None:
        """Let uops leave."""
        self.count = 0
        self._pick_integer(cycle)
        self._pick_addresses(cycle)
        self._pick_vectors(cycle)

    def next_event(self, cycle: int) -> int:
        """The next cycle in which a unit that all ready uops wait for is free, if no uop moves up and no
        slot is lost."""
        if (
            (self._flight.vectors.count > 0 and self._admitted < self._pickable)
            or self._integer_debt >= _EIGHTHS
            or self._address_debt >= _EIGHTHS
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

    def _free_for(self, uop: int, scheduler: int) -> int:
        """The first cycle in which the resources of a ready uop are free, as far as known: 0 if it may need
        none of them, NEVER if other uops have to leave first."""
        static = self._columns.static[uop]
        traits = self._operations.t_traits[static]
        units = self._flight.u_units[uop & self._flight.uop_mask]
        if scheduler == _VECTOR:
            if uop > self._last_admitted and not units & ~self._vector_mask:
                return NEVER
            free = self._first_free(units)
            if traits & _DIVIDES:
                free = max(free, self._vector_divider_free // _EIGHTHS)
            return free
        free = 0
        if traits & _ALONE and self._program.u_kind[static] != LOAD:
            free = self._alone_free // _EIGHTHS
        if scheduler == _INTEGER:
            free = max(free, self._first_free(units))
            if traits & _DIVIDES:
                free = max(free, self._divider_free // _EIGHTHS)
        return free

    def _first_free(self, units: int) -> int:
        """The first cycle in which one of these units is free."""
        free = NEVER
        for unit in range(self._units):
            if units >> unit & 1:
                free = min(free, self._busy[unit] // _EIGHTHS)
        return free

    def _after(self, time: int, cycle: int, static: int) -> int:
        """When a resource that is free from ``time`` on, at the latest in this cycle, is free after taking
        this uop."""
        return max(time, _EIGHTHS * cycle) + max(self._operations.t_busy[static], _EIGHTHS)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._integer_debt)
        state.add(self._address_debt)
        self._record_eighth(state, self._divider_free)
        self._record_eighth(state, self._vector_divider_free)
        self._record_eighth(state, self._alone_free)
        for unit in range(self._units):
            self._record_eighth(state, self._busy[unit])
        # All vector uops from here on queue in front.
        queue = self._flight.vectors
        state.add(queue.count)
        state.add(queue.firsts[queue.head] - state.uop if queue.count > 0 else 0)

    def _record_eighth(self, state: Record, time: int) -> None:
        state.add_time(time // _EIGHTHS, 0)
        # Times in the past do not matter.
        state.add(time % _EIGHTHS if time // _EIGHTHS >= state.cycle else 0)

    def admit(self, first: int) -> None:
        """The uops of a list (``next_uop``) may leave from now on."""
        uop = first
        while uop != NONE:
            self._admit(uop)
            uop = self._columns.next_uop[uop]

    def _admit(self, uop: int) -> None:
        """Insert a uop among the ready ones of its kind, by age."""
        static = self._columns.static[uop]
        kind = self._program.u_kind[static]
        scheduler = _VECTOR
        if kind == LOAD or kind == STORE_ADDRESS:  # noqa: SIM109 - a tuple would be made each time
            scheduler = _ADDRESS
        elif self._program.u_port_mask[static] & self._integer_units:
            scheduler = _INTEGER
        base = scheduler * _ROOM
        place = self._counts[scheduler]
        while place > 0 and self._ready[base + place - 1] > uop:
            self._ready[base + place] = self._ready[base + place - 1]
            place -= 1
        self._ready[base + place] = uop
        self._counts[scheduler] += 1

    def _pick_integer(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        program = self._program
        slots = self._integer_count - self._integer_debt // _EIGHTHS
        self._integer_debt %= _EIGHTHS
        if slots < 0:
            self._integer_debt -= _EIGHTHS * slots
            slots = 0
        free = self._integer_units
        end = _EIGHTHS * (cycle + 1)
        if self._integers_busy >= end:
            for unit in range(self._units):
                if self._busy[unit] >= end:
                    free &= ~(1 << unit)
        kept = 0
        for position in range(self._counts[_INTEGER]):
            uop = self._ready[position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            slot = uop & flight.uop_mask
            mask = flight.u_units[slot] & free
            if (traits & _ALONE and self._alone_free >= end) or (
                traits & _DIVIDES and self._divider_free >= end
            ):
                mask = 0
            if slots <= 0 or mask == 0:
                self._ready[kept] = uop
                kept += 1
                continue
            unit = self._choose(mask)
            free &= ~(1 << unit)
            slots -= 1
            if traits & _ALONE:
                self._alone_free = self._after(self._alone_free, cycle, static)
            elif traits & _DIVIDES:
                self._divider_free = self._after(self._divider_free, cycle, static)
            elif self._operations.t_busy[static] > _EIGHTHS:
                self._busy[unit] = self._after(self._busy[unit], cycle, static)
                self._integers_busy = max(self._integers_busy, self._busy[unit])
            if program.u_port_mask[static] == self._multiply_mask:
                self._integer_debt += self._multiplication
            if (
                flight.u_waste[slot]
                and columns.value_ready[flight.u_waste_value[slot]] + 1 >= columns.ready[uop]
            ):
                self._integer_debt += self._wasted(uop, slot, cycle)
            self._take(uop, static, unit, cycle)
        self._counts[_INTEGER] = kept

    def _choose(self, mask: int) -> int:
        """The unit of the mask to take: units that no other uop needs first, then the highest number."""
        plain = mask & ~self._special
        if plain:
            mask = plain & -plain
        unit = self._units - 1
        while not mask >> unit & 1:
            unit -= 1
        return unit

    def _pick_addresses(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        used = loads = vectors = integers = stores = others = 0
        free = self._address_mask
        while self._address_debt >= _EIGHTHS and used < self._address_units:
            self._address_debt -= _EIGHTHS
            used += 1
            loads += 1
        kept = 0
        base = _ADDRESS * _ROOM
        for position in range(self._counts[_ADDRESS]):
            uop = self._ready[base + position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            slot = uop & flight.uop_mask
            cost = flight.u_slots[slot]
            taken = False
            mask = flight.u_units[slot] & free
            loads_vector: bool = traits & _VECTOR_TRAIT != 0 and self._program.u_kind[static] == LOAD
            most = self._address_units
            if others if loads_vector else vectors:
                most = self._mixed
            if used >= most or mask == 0:
                taken = False
            elif self._program.u_kind[static] == LOAD:
                wanted = cost
                if traits & _WIDE:
                    wanted = 3 if (loads > 0 and vectors == 0) or integers > 0 else 2
                fits: bool = loads + wanted <= self._loads and used + wanted <= most
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
                    if flight.u_waste[slot] and self._wastes_address(uop, cycle):
                        self._address_debt += flight.u_waste[slot]
                    self._address_debt += flight.u_harness[slot]
            elif stores < self._stores and not (
                traits & _ALONE and self._alone_free >= _EIGHTHS * (cycle + 1)
            ):
                taken = True
                stores += 1
                used += 1
                if traits & _ALONE:
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

    def _wasted(self, uop: int, slot: int, cycle: int) -> int:
        """Wasted eighths of a slot. In a chain an operation that had to wait for a unit wastes half a slot
        (M14)."""
        columns = self._columns
        flight = self._flight
        waste = flight.u_waste[slot]
        producer = columns.value_uop[flight.u_waste_value[slot]]
        if columns.ready[uop] < cycle and flight.u_fresh[producer & flight.uop_mask] == 0:
            waste //= 2
        return waste

    def _wastes_address(self, uop: int, cycle: int) -> bool:
        """Whether it wastes address slots: in long loops from the op cache only uops that are picked soon
        do."""
        if self._flight.decoded or self._flight.small_loop:
            return True
        return cycle - self._columns.issued[uop] - self._delay <= self.asks_issued

    def _pick_vectors(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        free = 0
        end = _EIGHTHS * (cycle + 1)
        for unit in range(self._units):
            if self._busy[unit] < end:
                free |= 1 << unit
        while flight.vectors.count > 0 and self._admitted < self._pickable:
            self._last_admitted = flight.vectors.firsts[flight.vectors.head]
            flight.vectors.pop()
            self._admitted += 1
        masks = kept = 0
        base = _VECTOR * _ROOM
        for position in range(self._counts[_VECTOR]):
            uop = self._ready[base + position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            mask = flight.u_units[uop & flight.uop_mask] & free
            if (
                mask == 0
                or (traits & _DIVIDES and self._vector_divider_free >= end)
                or (traits & _MASK_TRAIT and masks >= self._mask_operations)
                or (uop > self._last_admitted and mask & self._vector_mask)
            ):
                self._ready[base + kept] = uop
                kept += 1
                continue
            unit = self._choose_pipe(mask)
            free &= ~(1 << unit)
            if traits & _MASK_TRAIT:
                masks += 1
            if traits & _DIVIDES:
                self._vector_divider_free = self._after(self._vector_divider_free, cycle, static)
            elif self._operations.t_busy[static] > _EIGHTHS:
                self._busy[unit] = self._after(self._busy[unit], cycle, static)
            if mask & self._vector_mask:
                self._admitted -= 1
            self._take(uop, static, unit, cycle)
        self._counts[_VECTOR] = kept

    def _choose_pipe(self, mask: int) -> int:
        for place in range(len(self._pipes)):
            if mask >> self._pipes[place] & 1:
                return self._pipes[place]
        return self._lowest(mask)

    def _lowest(self, mask: int) -> int:
        unit = 0
        while not mask >> unit & 1:
            unit += 1
        return unit

    def _take(self, uop: int, static: int, unit: int, cycle: int) -> None:
        """Dispatch a uop to a unit."""
        columns = self._columns
        flight = self._flight
        before = self._latest[unit]
        if columns.ready[uop] < cycle:
            # Lost cycles are not always due to another uop: picks waste slots (M14).
            taken: bool = before != NONE and columns.dispatched[before] == cycle - 1
            queued = QUEUED_FOR_DIVIDER if self._program.u_divider[static] > 1 else QUEUED_FOR_PORT
            columns.queue(uop, queued, before if taken else NONE)
        self._latest[unit] = uop
        columns.port[uop] = unit
        columns.dispatched[uop] = cycle
        scheduler = flight.u_scheduler[uop & flight.uop_mask]
        flight.waiting[scheduler] -= 1
        kind = self._program.u_kind[static]
        if kind == LOAD or kind == STORE_ADDRESS:  # noqa: SIM109 - a tuple would be made each time
            flight.addresses[scheduler] -= 1
        self.dispatched[self.count] = uop
        self.count += 1
