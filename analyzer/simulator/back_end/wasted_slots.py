"""Issue slots that an operation wastes if its last operand comes from an ALU (M14, M15)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import COMPUTE, LOAD, NONE, STORE_ADDRESS, UNKNOWN
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations

_OWN_RESULT = int(Trait.OWN_RESULT)
_EIGHTHS = 8


class WastedSlots(LateOperands):
    """A uop whose last operand comes from an ALU wastes part of an issue slot (in eighths)."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        in_flight: InFlight,
    ) -> None:
        super().__init__()
        assert microarchitecture.macro_ops is not None
        wasted = microarchitecture.macro_ops.wasted
        assert wasted is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight
        self._alus = microarchitecture.units.having(Role.ALU).mask
        self._branch_alus = microarchitecture.units.having(Role.BRANCH).mask
        self._fresh, self._fresh_decoded = wasted.fresh, wasted.fresh_decoded
        self._after_load, self._in_chain, self._near = wasted.after_load, wasted.in_chain, wasted.near_ops
        self._branch_fresh, self._branch_waiting = wasted.branch_alu_fresh, wasted.branch_alu_waiting
        self._to_branch, self._to_multiplier = wasted.to_branch_alu, wasted.to_multiplier
        self._to_any, self._between = wasted.to_any_alu, wasted.between_classes
        self._address_alu, self._address_load = wasted.address_from_alu, wasted.address_from_load

    def weigh(self, uop: int, cycle: int, place: int) -> None:
        """Set how much issuing a uop will waste if it waits for an ALU's result. ``place``: macro-ops
        dispatched before its instruction."""
        slot = uop & self._flight.uop_mask
        static = self._columns.static[uop]
        kind = self._program.u_kind[static]
        mask = self._program.u_port_mask[static]
        own = self._operations.t_traits[static] & _OWN_RESULT
        if kind == LOAD:
            self._weigh_load(uop, slot, cycle)
        elif kind != STORE_ADDRESS and mask & self._alus and not own:
            self._weigh_operation(uop, slot, mask, cycle, place)

    def _weigh_load(self, uop: int, slot: int, cycle: int) -> None:
        columns = self._columns
        first = columns.first_input[uop]
        # The store that it forwards from is no part of the address.
        for position in range(first, first + self._program.u_in_count[columns.static[uop]]):
            value = columns.input_value[position]
            ready = columns.value_ready[value]
            if ready == UNKNOWN or ready > cycle + 1:
                weight = self._address_alu if self._alu_of(value) else self._address_load
                if weight > self._flight.u_waste[slot]:
                    self._flight.u_waste[slot] = weight
                    self._flight.u_waste_value[slot] = value

    def _weigh_operation(self, uop: int, slot: int, mask: int, cycle: int, place: int) -> None:
        columns = self._columns
        flight = self._flight
        first = columns.first_input[uop]
        fresh = 1
        for position in range(first, first + flight.u_inputs[slot]):
            value = columns.input_value[position]
            ready = columns.value_ready[value]
            waits: bool = ready == UNKNOWN or ready > cycle + 1
            if waits and fresh == 1:
                fresh = 2
            producer_mask = self._alu_of(value)
            if producer_mask == 0:
                continue
            producer = columns.value_uop[value]
            picked = columns.dispatched[producer]
            if picked != UNKNOWN and picked < cycle - 1:
                continue
            if waits:
                fresh = 0
            weight = self._weight(producer, producer_mask, mask, place)
            if weight > flight.u_waste[slot]:
                flight.u_waste[slot] = weight
                flight.u_waste_value[slot] = value
        flight.u_fresh[slot] = fresh

    def _weight(self, producer: int, producer_mask: int, mask: int, place: int) -> int:
        flight = self._flight
        slot = producer & flight.uop_mask
        fresh = flight.u_fresh[slot]
        distance = max(1, place - flight.u_place[slot])
        if fresh == 2:
            weight = self._after_load
        elif fresh:
            weight = self._fresh_decoded if flight.decoded else self._fresh
            if distance > self._near:
                weight = weight * self._near // distance
        else:
            weight = self._in_chain
        if producer_mask == mask:
            return weight
        if mask == self._alus:
            if producer_mask == self._branch_alus:
                return self._branch_fresh if fresh else self._branch_waiting
            return weight * self._to_any // _EIGHTHS
        if producer_mask == self._alus:
            share = self._to_branch if mask == self._branch_alus else self._to_multiplier
            return weight * share // _EIGHTHS
        return weight * self._between // _EIGHTHS

    def _alu_of(self, value: int) -> int:
        """Units of the one-cycle ALU operation that makes a value, 0 if no such operation does."""
        columns = self._columns
        producer = columns.value_uop[value]
        if producer == NONE or columns.value_latency[value] != 1:
            return 0
        static = columns.static[producer]
        if self._program.u_kind[static] != COMPUTE:
            return 0
        return self._program.u_port_mask[static] & self._alus
