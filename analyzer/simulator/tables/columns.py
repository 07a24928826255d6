"""What is in flight, in integer columns: instances, uops, results and stores are indices into them.

A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
(uiCA model, chapter 0). Columns only grow, by doubling; nothing is allocated per cycle.
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Column, Record, grown, ints, longs
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, FOREVER, NO_SOURCE, NONE, UNKNOWN
from cyclelens.analyzer.simulator.tables.program import Program

_INITIAL = 1040
"""65 cache lines: were it a power of two, the same uop's place in all columns would be in one cache set."""
_MOST_KEPT = 1 << 14
"""Longer columns, of more than a megabyte, are not kept for the next run: it takes far longer than to make
them."""


class Columns:
    """The shared state of one simulation. Stages read and write columns; they never call each other.

    Dynamic instructions are numbered round by round: instance = round * instructions + position.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._margin = 0
        self._value_margin = 0
        self._start_columns(_INITIAL, _INITIAL)

    def start(self) -> None:
        """Empty for a run of the program, which may have been filled anew."""
        program = self.program
        # What one cycle can add: code fetch takes up to five groups of 64 bytes or four rounds, the LSD up
        # to eight rounds; the renamer takes some instructions and every key that it meets for the first time.
        rounds = 10 if program.loop else 2 + 5 * CODE_LINE // program.size
        self._margin = 64 + rounds * max(program.uops, program.instructions)
        renamed = 2 + 8 // program.instructions
        self._value_margin = 64 + renamed * (program.outputs + program.inputs) + program.keys
        self.instances = 0
        self.uops = 0
        self.inputs = 0
        self.values = 0
        self.stores = 0
        self.reserve()

    def short(self) -> bool:
        """Whether they are worth keeping for the next run."""
        return len(self.static) <= _MOST_KEPT

    def _start_columns(self, size: int, value_size: int) -> None:
        self._cut_instances(memoryview(ints(4 * size)), size)
        self._cut_uops(memoryview(ints(19 * size)), size)
        self._cut_inputs(memoryview(ints(3 * value_size)), value_size)
        self._cut_values(memoryview(ints(5 * value_size)), value_size)
        self._cut_stores(memoryview(ints(8 * value_size)), value_size)
        self.store_base = longs(value_size)
        self.store_index = longs(value_size)

    def _cut_instances(self, table: Column, size: int) -> None:
        self.instance_uop0 = table[0 * size : 1 * size]
        self.address = table[1 * size : 2 * size]
        self.predecoded = table[2 * size : 3 * size]
        self.removed = table[3 * size : 4 * size]

    def _cut_uops(self, table: Column, size: int) -> None:
        self.instance = table[0 * size : 1 * size]
        self.position = table[1 * size : 2 * size]
        """Of the uop's instruction within the round."""
        self.static = table[2 * size : 3 * size]
        self.source = table[3 * size : 4 * size]
        self.added = table[4 * size : 5 * size]
        self.issued = table[5 * size : 6 * size]
        self.ready = table[6 * size : 7 * size]
        self.dispatched = table[7 * size : 8 * size]
        self.executed = table[8 * size : 9 * size]
        self.retired = table[9 * size : 10 * size]
        self.port = table[10 * size : 11 * size]
        self.store = table[11 * size : 12 * size]
        self.latency_bonus = table[12 * size : 13 * size]
        self.first_input = table[13 * size : 14 * size]
        self.first_result = table[14 * size : 15 * size]
        self.pending = table[15 * size : 16 * size]
        self.next_uop = table[16 * size : 17 * size]
        self.blocked = table[17 * size : 18 * size]
        self.held = table[18 * size : 19 * size]
        """What kept the uop in the scheduler at last though its inputs were there: 0, HELD_BY_..."""

    def _cut_inputs(self, table: Column, size: int) -> None:
        self.input_value = table[0 * size : 1 * size]
        self.input_uop = table[1 * size : 2 * size]
        self.input_next = table[2 * size : 3 * size]

    def _cut_values(self, table: Column, size: int) -> None:
        self.value_ready = table[0 * size : 1 * size]
        self.value_uop = table[1 * size : 2 * size]
        self.value_latency = table[2 * size : 3 * size]
        self.value_zero = table[3 * size : 4 * size]
        self.value_waiters = table[4 * size : 5 * size]

    def _cut_stores(self, table: Column, size: int) -> None:
        self.store_address = table[0 * size : 1 * size]
        self.store_data = table[1 * size : 2 * size]
        self.store_waiters = table[2 * size : 3 * size]
        self.store_scale = table[3 * size : 4 * size]
        self.store_displacement = table[4 * size : 5 * size]
        self.store_bytes = table[5 * size : 6 * size]
        self.store_uop = table[6 * size : 7 * size]
        self.store_left = table[7 * size : 8 * size]

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
        # No division per instance: it would be the slowest part.
        i = self.instances % program.instructions
        start = self.address_of(self.instances) - program.i_offset[i]
        for instance in range(self.instances, instances):
            self.instance_uop0[instance] = self.uops
            self.address[instance] = start + program.i_offset[i]
            self.predecoded[instance] = UNKNOWN
            self.removed[instance] = UNKNOWN
            static = program.i_uop0[i]
            for uop in range(static, static + program.i_uop_count[i]):
                self.new_uop(instance, i, uop)
            i += 1
            if i == program.instructions:
                i = 0
                if not program.loop:
                    start += program.size
        if instances > self.instances:
            self.instances = instances

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
        self.latency_bonus[uop] = 0
        self.first_input[uop] = 0
        self.first_result[uop] = 0
        self.pending[uop] = 0
        self.next_uop[uop] = NONE
        self.blocked[uop] = 0
        self.held[uop] = 0
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

    def record_value(self, state: Record, value: int, oldest: int) -> None:
        """A value as part of the pipeline's state: when it is ready, or who will produce it."""
        ready = self.value_ready[value]
        if ready == UNKNOWN:
            producer = self.value_uop[value]
            state.add(UNKNOWN)
            state.add(producer - state.uop)
            state.add(value - self.first_result[producer])
        else:
            state.add(max(ready - state.cycle, -oldest))

    def new_store(self) -> int:
        """A store-buffer entry; its caller fills in the address."""
        store = self.stores
        self.stores = store + 1
        self.store_address[store] = UNKNOWN
        self.store_data[store] = UNKNOWN
        self.store_waiters[store] = NONE
        self.store_uop[store] = NONE
        self.store_left[store] = UNKNOWN
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
        self.blocked = grown(self.blocked, size)
        self.held = grown(self.held, size)
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
        self.store_bytes = grown(self.store_bytes, size)
        self.store_uop = grown(self.store_uop, size)
        self.store_left = grown(self.store_left, size)
        self.store_base = grown(self.store_base, size)
        self.store_index = grown(self.store_index, size)
