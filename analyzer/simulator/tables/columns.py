"""Integer columns for everything in flight: instances, uops, results and stores are indices into them.

A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
(uiCA model, chapter 0). Columns only grow, by doubling; nothing is allocated per cycle.
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.column_classes import FlightColumns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, ELIMINATED, MITE, NONE, RETIRING, UNKNOWN
from cyclelens.analyzer.simulator.tables.program import Program

_AHEAD = 64
"""Rows prepared beyond those that one cycle can need."""
_LATE = 1 << 60
"""Larger than any other number of a state."""
_RESULT = 16
"""Bits for the number of a result within its uop."""
_MOST_KEPT = 1 << 14
"""Longer columns, of more than a megabyte, are not kept for the next run, because that takes far longer than
creating them."""


class Columns(FlightColumns):
    """The shared state of one simulation. Stages read and write columns; they never call each other.

    Dynamic instructions are numbered round by round: instance = round * instructions + position.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self._margin = 0
        self._value_margin = 0

    def start(self, watched: bool, followed: bool, stamped: bool) -> None:
        """Reset for a run of the program, which may have been refilled."""
        program = self.program
        self.watched = watched
        """Whether stages also record why they refuse."""
        self.followed = followed or program.has_joins != 0
        """Whether the sources of uops and their times of entry into the IDQ are recorded."""
        self.stamped = followed or stamped
        """Whether retirement times are recorded; ``stamped``: stages read them."""
        # What one cycle can add: code fetch takes up to five groups of 64 bytes or four rounds, the LSD up
        # to eight rounds; the renamer takes some instructions and every key that it sees for the first time.
        rounds = 10 if program.loop else 2 + 5 * CODE_LINE // program.size
        self._margin = 64 + rounds * max(program.uops, program.instructions)
        renamed = 2 + 12 // program.instructions
        self._value_margin = 64 + renamed * (program.outputs + program.inputs) + program.keys
        self.instances = 0
        self.uops = 0
        self.inputs = 0
        self.values = 0
        self.stores = 0
        self._forget()
        self._make_room()

    def short(self) -> bool:
        """Whether the columns are short enough to be kept for the next run."""
        return len(self.static) <= _MOST_KEPT

    def reserve(self) -> None:
        """Make room for everything that one cycle can add. Call it before each cycle."""
        if (
            self.instances > self._most_instances
            or self.uops > self._most_uops
            or self.inputs > self._most_inputs
            or self.values > self._most_values
            or self.stores > self._most_stores
        ):
            self._make_room()

    def _make_room(self) -> None:
        """Grow the columns, and set the numbers beyond which there is no room for another cycle."""
        if self.instances + self._margin > self._instances_ready:
            self._more_instances(self.instances + self._margin + _AHEAD)
        if self.uops + self._margin > self._uops_ready:
            self._more_uops(self.uops + self._margin + _AHEAD)
        if self.inputs + self._value_margin > self._inputs_ready:
            self._more_inputs(self.inputs + self._value_margin + _AHEAD)
        if self.values + self._value_margin > self._values_ready:
            self._more_values(self.values + self._value_margin + _AHEAD)
        if self.stores + self._value_margin > self._stores_ready:
            self._more_stores(self.stores + self._value_margin + _AHEAD)
        self._most_instances = self._instances_ready - self._margin
        self._most_uops = self._uops_ready - self._margin
        self._most_inputs = self._inputs_ready - self._value_margin
        self._most_values = self._values_ready - self._value_margin
        self._most_stores = self._stores_ready - self._value_margin

    def reserve_cycles(self, end: int) -> None:
        """Make room for the records of the cycles before ``end``."""
        if self.watched and end > self._cycles_ready:
            self._more_cycles(2 * end + _AHEAD)

    def refuse(self, cycle: int, refusal: int, by: int) -> None:
        """Record why issue slots of a cycle stay empty (``REFUSALS``), and which uop or instruction caused
        it."""
        if self.watched:
            self.refusal[cycle] = refusal
            self.refused_by[cycle] = by

    def refuse_for_retirement(self, cycle: int, buffer: int, unfinished: int, oldest: int) -> None:
        """Record that a buffer is full until a uop retires: because of the uop ``unfinished`` or, if that is
        NONE, because of the oldest one."""
        if unfinished == NONE:
            self.refuse(cycle, buffer + RETIRING, oldest)
        elif self.needs_unit(unfinished):
            self.refuse(cycle, buffer, unfinished)
        else:
            self.refuse(cycle, buffer + RETIRING, unfinished)

    def queue(self, uop: int, queued: int, behind: int) -> None:
        """Record why a ready uop does not leave in this cycle (``QUEUED_NAMES``), and because of which other
        uop."""
        self.queued[uop] = queued
        self.behind[uop] = behind

    def shares_slot(self, uop: int) -> bool:
        """Whether the uops of an instruction take no issue slot of their own: they fuse with those of the
        previous instruction if both come from the cache together (A4)."""
        return self.program.i_joins[self.position[uop]] != 0 and self.source[uop] != MITE

    def younger(self, input_row: int, other: int) -> bool:
        """Whether an input's producer is younger than another uop: the younger counts if both results arrive
        together."""
        return other == NONE or (
            self.value_uop[self.input_value[input_row]] > self.value_uop[self.input_value[other]]
        )

    def needs_unit(self, uop: int) -> bool:
        """Whether a renamed uop has to be executed."""
        return self.port[uop] != ELIMINATED and self.program.u_port_mask[self.static[uop]] != 0

    def generate(self, instances: int) -> None:
        """Create the uops of all instances up to (not including) this number (L5)."""
        program = self.program
        # No division per instance and no loop over the few uops of each: those would be the slowest part.
        count = program.instructions
        i = self.instances % count
        static = program.i_uop0[i]
        base = self.instances - i
        start = self.address_of(self.instances) - program.i_offset[i]
        first = self.uops - static
        for instance in range(self.instances, instances):
            self.instance_uop0[instance] = first + program.i_uop0[i]
            self.place[instance] = i
            self.address[instance] = start + program.i_offset[i]
            i += 1
            if i == count:
                i = 0
                first += program.uops
                if not program.loop:
                    start += program.size
        end = first + program.i_uop0[i]
        while self.uops < end:
            last = min(program.uops, static + end - self.uops)
            uop = self.uops
            for row in range(static, last):
                i = program.u_instruction[row]
                self.instance[uop] = base + i
                self.position[uop] = i
                self.static[uop] = row
                uop += 1
            self.uops = uop
            static = 0
            base += count
        if instances > self.instances:
            self.instances = instances

    def address_of(self, instance: int) -> int:
        """Address of an instance, created or not; in a loop every round has the same addresses (L2)."""
        address = self.program.alignment + self.program.i_offset[instance % self.program.instructions]
        if self.program.loop:
            return address
        return address + instance // self.program.instructions * self.program.size

    def new_uop(self, instance: int, i: int, static: int) -> int:
        """A new uop of the instance, whose instruction is at place ``i``; returns its index."""
        uop = self.uops
        self.uops = uop + 1
        self.instance[uop] = instance
        self.position[uop] = i
        self.static[uop] = static
        return uop

    def new_input(self, value: int) -> int:
        """An input of a uop that is being renamed; returns its index."""
        position = self.inputs
        self.inputs = position + 1
        self.input_value[position] = value
        return position

    def await_input(self, uop: int, position: int, value: int) -> None:
        """Let the uop wait for this input, a value whose ready time is not known yet."""
        self.input_uop[position] = uop
        self.input_next[position] = self.value_waiters[value]
        self.value_waiters[value] = position

    def new_value(self, uop: int, latency: int) -> int:
        """A result of a uop that is being renamed; its ready time is unknown until dispatch."""
        value = self.values
        self.values = value + 1
        self.value_ready[value] = UNKNOWN
        self.value_uop[value] = uop
        self.value_latency[value] = latency
        return value

    def old_value(self, zero: int) -> int:
        """A value without a producing uop: from before the start, or (``zero``) of an instruction without
        uops."""
        value = self.values
        self.values = value + 1
        self.value_zero[value] = zero
        return value

    def record_value(self, state: Record, value: int, oldest: int) -> None:
        """Record a value as part of the pipeline's state: when it is ready, or which uop will produce it."""
        ready = self.value_ready[value]
        if ready == UNKNOWN:
            producer = self.value_uop[value]
            place: Long = producer - state.uop
            state.add((place << _RESULT) + value - self.first_result[producer] - _LATE)
        else:
            state.add(max(ready - state.cycle, -oldest))

    def new_store(self) -> int:
        """A new store-buffer entry; the caller fills in the address."""
        store = self.stores
        self.stores = store + 1
        return store
