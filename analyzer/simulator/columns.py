"""What is in flight, in integer columns: instances, uops, results and stores are indices into them.

A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
(uiCA model, chapter 0). Columns only grow, by doubling; nothing is allocated per cycle.
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.arrays import grown, ints, longs
from cyclelens.analyzer.simulator.constants import FOREVER, NO_SOURCE, NONE, UNKNOWN
from cyclelens.analyzer.simulator.program import Program

_INITIAL = 1024
_GROUP = 64


class Columns:
    """The shared state of one simulation. Stages read and write columns; they never call each other.

    Dynamic instructions are numbered round by round: instance = round * instructions + position.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        most = max(program.i_uop_count)
        # What one cycle can add: code fetch takes up to four groups of 64 bytes or four rounds, the LSD
        # up to eight rounds; the renamer a group with its merge uops.
        self._margin = 64 + max(5 * _GROUP * most, 10 * max(program.uops, program.instructions))
        self._value_margin = 64 + 8 * (len(program.out_key) + len(program.in_key) + program.keys)
        self.instances = 0
        self.uops = 0
        self.inputs = 0
        self.values = 0
        self.stores = 0
        self.instance_uop0 = ints(_INITIAL)
        self.address = ints(_INITIAL)
        self.predecoded = ints(_INITIAL)
        self.removed = ints(_INITIAL)
        self.instance = ints(_INITIAL)
        self.position = ints(_INITIAL)
        """Of the uop's instruction within the round."""
        self.static = ints(_INITIAL)
        self.source = ints(_INITIAL)
        self.added = ints(_INITIAL)
        self.issued = ints(_INITIAL)
        self.ready = ints(_INITIAL)
        self.dispatched = ints(_INITIAL)
        self.executed = ints(_INITIAL)
        self.retired = ints(_INITIAL)
        self.port = ints(_INITIAL)
        self.store = ints(_INITIAL)
        self.latency_bonus = ints(_INITIAL)
        self.first_input = ints(_INITIAL)
        self.first_result = ints(_INITIAL)
        self.pending = ints(_INITIAL)
        self.next_uop = ints(_INITIAL)
        self.input_value = ints(_INITIAL)
        self.input_uop = ints(_INITIAL)
        self.input_next = ints(_INITIAL)
        self.value_ready = ints(_INITIAL)
        self.value_uop = ints(_INITIAL)
        self.value_latency = ints(_INITIAL)
        self.value_zero = ints(_INITIAL)
        self.value_waiters = ints(_INITIAL)
        self.store_address = ints(_INITIAL)
        self.store_data = ints(_INITIAL)
        self.store_waiters = ints(_INITIAL)
        self.store_scale = ints(_INITIAL)
        self.store_displacement = ints(_INITIAL)
        self.store_base = longs(_INITIAL)
        self.store_index = longs(_INITIAL)

    def reserve(self) -> None:
        """Make room for everything that one cycle can add; to be called before each."""
        if self.instances + self._margin > len(self.instance_uop0):
            self._grow_instances()
        if self.uops + self._margin > len(self.static):
            self._grow_uops()
        if self.inputs + self._value_margin > len(self.input_value):
            self._grow_inputs()
        if self.values + self._value_margin > len(self.value_ready):
            self._grow_values()
        if self.stores + self._value_margin > len(self.store_address):
            self._grow_stores()

    def generate(self, instances: int) -> None:
        """Create the uops of all instances up to (not including) this number (L5)."""
        program = self.program
        while self.instances < instances:
            instance = self.instances
            i = instance % program.instructions
            self.instance_uop0[instance] = self.uops
            self.address[instance] = self.address_of(instance)
            self.predecoded[instance] = UNKNOWN
            self.removed[instance] = UNKNOWN
            static = program.i_uop0[i]
            for uop in range(static, static + program.i_uop_count[i]):
                self.new_uop(instance, i, uop)
            self.instances = instance + 1

    def address_of(self, instance: int) -> int:
        """Address of an instance, existing or not; in a loop every round has the same ones (L2)."""
        program = self.program
        address = program.alignment + program.i_offset[instance % program.instructions]
        if program.loop:
            return address
        return address + instance // program.instructions * program.size

    def new_uop(self, instance: int, i: int, static: int) -> int:
        """A fresh uop of the instance, whose instruction is at place ``i``; returns its index."""
        uop = self.uops
        self.uops = uop + 1
        self.instance[uop] = instance
        self.position[uop] = i
        self.static[uop] = static
        self.source[uop] = NO_SOURCE
        self.added[uop] = UNKNOWN
        self.issued[uop] = UNKNOWN
        self.ready[uop] = UNKNOWN
        self.dispatched[uop] = UNKNOWN
        self.executed[uop] = UNKNOWN
        self.retired[uop] = UNKNOWN
        self.port[uop] = NONE
        self.store[uop] = NONE
        return uop

    def new_input(self, uop: int, value: int) -> int:
        """An input of a uop that is being renamed; returns its index."""
        position = self.inputs
        self.inputs = position + 1
        self.input_value[position] = value
        self.input_uop[position] = uop
        return position

    def new_value(self, uop: int, latency: int) -> int:
        """A result of a uop that is being renamed; unknown until it is dispatched."""
        value = self.old_value(0)
        self.value_ready[value] = UNKNOWN
        self.value_uop[value] = uop
        self.value_latency[value] = latency
        return value

    def old_value(self, zero: int) -> int:
        """A value that needs no uop: from before the start, or (``zero``) of an instruction without uops."""
        value = self.values
        self.values = value + 1
        self.value_ready[value] = FOREVER
        self.value_uop[value] = NONE
        self.value_latency[value] = 0
        self.value_zero[value] = zero
        self.value_waiters[value] = NONE
        return value

    def new_store(self) -> int:
        """A store-buffer entry; its caller fills in the address."""
        store = self.stores
        self.stores = store + 1
        self.store_address[store] = UNKNOWN
        self.store_data[store] = UNKNOWN
        self.store_waiters[store] = NONE
        return store

    def _grow_instances(self) -> None:
        size = 2 * (self.instances + self._margin)
        self.instance_uop0 = grown(self.instance_uop0, size)
        self.address = grown(self.address, size)
        self.predecoded = grown(self.predecoded, size)
        self.removed = grown(self.removed, size)

    def _grow_uops(self) -> None:
        size = 2 * (self.uops + self._margin)
        self.instance = grown(self.instance, size)
        self.position = grown(self.position, size)
        self.static = grown(self.static, size)
        self.source = grown(self.source, size)
        self.added = grown(self.added, size)
        self.issued = grown(self.issued, size)
        self.ready = grown(self.ready, size)
        self.dispatched = grown(self.dispatched, size)
        self.executed = grown(self.executed, size)
        self.retired = grown(self.retired, size)
        self.port = grown(self.port, size)
        self.store = grown(self.store, size)
        self.latency_bonus = grown(self.latency_bonus, size)
        self.first_input = grown(self.first_input, size)
        self.first_result = grown(self.first_result, size)
        self.pending = grown(self.pending, size)
        self.next_uop = grown(self.next_uop, size)

    def _grow_inputs(self) -> None:
        size = 2 * (self.inputs + self._value_margin)
        self.input_value = grown(self.input_value, size)
        self.input_uop = grown(self.input_uop, size)
        self.input_next = grown(self.input_next, size)

    def _grow_values(self) -> None:
        size = 2 * (self.values + self._value_margin)
        self.value_ready = grown(self.value_ready, size)
        self.value_uop = grown(self.value_uop, size)
        self.value_latency = grown(self.value_latency, size)
        self.value_zero = grown(self.value_zero, size)
        self.value_waiters = grown(self.value_waiters, size)

    def _grow_stores(self) -> None:
        size = 2 * (self.stores + self._value_margin)
        self.store_address = grown(self.store_address, size)
        self.store_data = grown(self.store_data, size)
        self.store_waiters = grown(self.store_waiters, size)
        self.store_scale = grown(self.store_scale, size)
        self.store_displacement = grown(self.store_displacement, size)
        self.store_base = grown(self.store_base, size)
        self.store_index = grown(self.store_index, size)
