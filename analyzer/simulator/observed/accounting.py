"""What becomes of every issue slot: used by a uop, or lost, and to what.

The renamer offers ``issue_width`` slots in every cycle. Uops are issued in order, so each slot that stays
empty has one uop that should have taken it: the next one. If that uop was not in the IDQ yet, the front end
lost the slot; if it was, the back end had no room for it or a rule of the renamer held it back. All of it is
read off the columns of a finished run, so that the parts add up to the whole exactly.
"""

from __future__ import annotations

from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import Column, ints, minus_ones
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    DSB,
    LOAD,
    LSD,
    MERGE,
    MITE,
    MS,
    NONE,
    RESOURCES,
    SYNC,
)

_FRONT_END = ("predecoder", "LCP", "decoder", "MS", "MS switch", "DSB", "DSB switch", "LSD", "JCC erratum")
_RENAMER = ("issue group", "register merge", "serialization")
_BUFFERS = ("RS", "ROB", *RESOURCES)
_REASONS = ("dependency", "port", "divider", "unit", "fence", "retirement")
CAUSES = (
    *(Cause(Area.FRONT_END, what) for what in _FRONT_END),
    *(Cause(Area.RENAMER, what) for what in _RENAMER),
    *(Cause(Area.BACK_END, buffer, why) for buffer in _BUFFERS for why in _REASONS),
)
"""All causes; the numbers below are their places."""
_PREDECODER, _LCP, _DECODER, _MS, _MS_SWITCH, _DSB, _DSB_SWITCH, _LSD, _JCC = range(9)
_ISSUE_GROUP, _REGISTER_MERGE, _SERIALIZATION, _RS_FULL, _ROB_FULL, _RESOURCE_FULL = 9, 10, 11, 12, 18, 24
_DEPENDENCY, _PORT, _DIVIDER, _UNIT, _FENCE, _RETIREMENT = range(6)
_REASON_COUNT = 6

_SATURATED = 95
"""Percentage of cycles in which a port takes a uop if it is always busy."""


class Accounting:
    """The events of one run, fused uop by fused uop in the order of issue."""

    def __init__(
        self,
        columns: Columns,
        stalls: Column,
        microarchitecture: Microarchitecture,
        lsd_unroll: int,
        cycles: int,
    ) -> None:
        """``stalls``: by cycle the number of the resource that issue waited for plus 1, or 0; ``lsd_unroll``:
        rounds that the LSD places at once; ``cycles``: how many were simulated."""
        self._columns = columns
        self._program = columns.program
        self._stalls = stalls
        self._lsd_batch = lsd_unroll * columns.program.instructions
        """Instances that the LSD places at once."""
        self._width = microarchitecture.issue_width
        self._retire_width = microarchitecture.retire_width
        self._rob_size = microarchitecture.reorder_buffer_size
        self._rs_size = microarchitecture.reservation_station_size
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._ms_stall = microarchitecture.mite_to_ms_stall
        self._decode_delay = microarchitecture.predecode_to_decode_delay
        self._block_bytes = microarchitecture.predecode_block_bytes
        self._never = cycles + 1
        instructions = self._program.instructions
        self.used = ints(instructions)
        """Slots by instruction."""
        self.lost = ints(len(CAUSES) * instructions)
        """Slots by cause and the instruction to blame: cause * instructions + instruction."""
        self._has_jcc = self._program.loop and self._nearest_jcc(0) != NONE

        size = columns.uops + 1
        # Fused uops: their first uop, the number of uops, the front end's source, the first cycle in which
        # they could be issued as far as the front end is concerned, and how many uops entered the scheduler
        # before them.
        self.count = 0
        self.head = ints(size)
        self.size = ints(size)
        self.source = ints(size)
        self.available = ints(size)
        self.entered = ints(size)
        # Uops that enter the scheduler.
        self.scheduled_count = 0
        self.scheduled = ints(size)
        # Merges and synchronisations: the first of each instance, and the next one.
        self._extra = minus_ones(columns.instances)
        self._following = minus_ones(columns.uops)
        self._collect()
        # How many uops had left the scheduler before each cycle.
        self.left = ints(self._never + 2)
        self._count_dispatched()
        self._retired = 0
        """Fused uops that had retired before the cycle that is looked at."""
        self._oldest_waiting = 0
        self.busy = ints(MOST_UNITS)
        """Whether a port takes a uop in nearly every cycle."""
        # Answers that were found before, by instance.
        self._why = minus_ones(columns.instances)
        self._whom = ints(columns.instances)
        self._seen = minus_ones(instructions)

    def tally(self, begin: int, end: int) -> int:
        """Account for the slots of the cycles behind ``begin`` up to ``end``; returns their number."""
        columns = self._columns
        self._find_busy_ports(begin, end)
        number = 0
        while number < self.count and self._time(columns.issued[self.head[number]]) <= begin:
            number += 1
        slots = 0
        for cycle in range(begin + 1, end + 1):
            taken = 0
            while number < self.count and columns.issued[self.head[number]] == cycle:
                self.used[columns.position[self.head[number]]] += 1
                number += 1
                taken += 1
            slots += taken
            if taken < self._width:
                self.lost[self._cause(min(number, self.count - 1), cycle, taken)] += self._width - taken
                slots += self._width - taken
        return slots

    def _time(self, cycle: int) -> int:
        return self._never if cycle < 0 else cycle

    def _collect(self) -> None:
        """Every fused uop in program order; merges and synchronisations stand before their instruction."""
        columns = self._columns
        program = self._program
        for uop in range(columns.uops - 1, -1, -1):
            if program.u_kind[columns.static[uop]] >= SYNC and columns.instance[uop] >= 0:
                self._following[uop] = self._extra[columns.instance[uop]]
                self._extra[columns.instance[uop]] = uop
        for instance in range(columns.instances):
            for kind in range(MERGE, SYNC - 1, -1):
                uop = self._extra[instance]
                while uop != NONE:
                    if program.u_kind[columns.static[uop]] == kind:
                        self._append(uop, 1)
                    uop = self._following[uop]
            i = instance % program.instructions
            if program.i_second[i]:
                continue
            uop = columns.instance_uop0[instance]
            for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
                fused0 = program.q_fused0[idq_uop]
                for fused in range(fused0, fused0 + program.q_fused_count[idq_uop]):
                    self._append(uop, program.f_uop_count[fused])
                    uop += program.f_uop_count[fused]
        # What is put in front of an instruction comes with it.
        for number in range(self.count - 2, -1, -1):
            kind = program.u_kind[columns.static[self.head[number]]]
            if kind == MERGE:
                self.available[number] = self.available[number + 1]
            if kind >= SYNC:
                self.source[number] = self.source[number + 1]

    def _append(self, uop: int, size: int) -> None:
        columns = self._columns
        number = self.count
        self.head[number] = uop
        self.size[number] = size
        self.source[number] = columns.source[uop]
        if columns.source[uop] == LSD:
            self.available[number] = self._available_from_lsd(number)
        else:
            self.available[number] = self._time(columns.added[uop]) + 1
        self.entered[number] = self.scheduled_count
        for part in range(uop, uop + size):
            if columns.port[part] >= 0:
                self.scheduled[self.scheduled_count] = part
                self.scheduled_count += 1
        self.count = number + 1

    def _available_from_lsd(self, number: int) -> int:
        """The LSD places a batch as soon as all of the one before have been issued (N3)."""
        columns = self._columns
        if number == 0:
            return 0
        before = self.head[number - 1]
        batch = columns.instance[self.head[number]] // self._lsd_batch
        if columns.instance[before] // self._lsd_batch == batch:
            return self.available[number - 1]
        return self._time(columns.issued[before]) + 1

    def _count_dispatched(self) -> None:
        columns = self._columns
        for place in range(self.scheduled_count):
            self.left[self._time(columns.dispatched[self.scheduled[place]]) + 1] += 1
        for cycle in range(self._never + 1):
            self.left[cycle + 1] += self.left[cycle]

    def _find_busy_ports(self, begin: int, end: int) -> None:
        columns = self._columns
        for place in range(self.scheduled_count):
            uop = self.scheduled[place]
            if begin < columns.dispatched[uop] <= end:
                self.busy[columns.port[uop]] += 1
        for port in range(MOST_UNITS):
            self.busy[port] = 100 * self.busy[port] >= _SATURATED * (end - begin)

    def _cause(self, number: int, cycle: int, taken: int) -> int:
        """Why a fused uop was not issued in a cycle in which ``taken`` others were, and the instruction that
        is to blame, as an index of ``lost``."""
        columns = self._columns
        if self.available[number] > cycle:
            return self._front_end(number, cycle)
        resource = self._stalls[cycle] if cycle < len(self._stalls) else 0
        if taken == 0 or resource:
            while self._retired < self.count:
                retired = columns.retired[self.head[self._retired]]
                if retired < 0 or retired >= cycle:
                    break
                self._retired += 1
            if resource:
                return self._unretired(_RESOURCE_FULL + (resource - 1) * _REASON_COUNT, cycle)
            if self.entered[number] - self.left[cycle] + self._width > self._rs_size:
                return self._reason(_RS_FULL, self._waiting(cycle))
            if number - self._retired + self._width > self._rob_size:
                return self._unretired(_ROB_FULL, cycle)
        return self._lost(self._held_back(number, cycle), columns.position[self.head[number]])

    def _lost(self, cause: int, instruction: int) -> int:
        return cause * self._program.instructions + instruction

    def _held_back(self, number: int, cycle: int) -> int:
        columns = self._columns
        program = self._program
        uop = self.head[number]
        if program.u_kind[columns.static[uop]] == MERGE:
            return _REGISTER_MERGE
        if number > 0:
            before = self.head[number - 1]
            if program.u_kind[columns.static[before]] == MERGE and columns.issued[before] == cycle:
                return _REGISTER_MERGE
        return _SERIALIZATION if program.i_serializing[columns.position[uop]] else _ISSUE_GROUP

    def _front_end(self, number: int, cycle: int) -> int:
        """Which part of the front end was late, and because of which instruction."""
        columns = self._columns
        program = self._program
        instance = columns.instance[self.head[number]]
        own = instance % program.instructions
        source = self.source[number]
        before = number - 1 if number > 0 else number
        source_before = self.source[before]
        instruction_before = columns.position[self.head[before]]
        if source == LSD:
            return self._lost(_LSD, own)
        if source == MS:
            same = columns.instance[self.head[before]] == instance and source_before == MS
            return self._lost(_MS if same else _MS_SWITCH, own)
        if source == DSB:
            if source_before == MS:
                return self._lost(_MS_SWITCH, instruction_before)
            return self._lost(_DSB_SWITCH if source_before == MITE else _DSB, own)
        if source_before == MS and cycle <= self.available[before] + self._ms_stall:
            return self._lost(_MS_SWITCH, instruction_before)
        if self._has_jcc:
            return self._lost(_JCC, self._nearest_jcc(own))
        latest = columns.predecoded[instance]
        following = NONE
        if program.i_fusible[own]:
            # It is decoded only once the decoders have seen what follows it.
            following = instance + 1
            if following < columns.instances:
                latest = max(self._time(latest), self._time(columns.predecoded[following]))
        if self._time(latest) + self._decode_delay < cycle:
            return self._lost(_DECODER, own)
        prefixed = self._prefix_near(instance)
        if prefixed == NONE and following != NONE:
            prefixed = self._prefix_near(following)
        if prefixed != NONE:
            return self._lost(_LCP, prefixed)
        return self._lost(_PREDECODER, own)

    def _nearest_jcc(self, own: int) -> int:
        """The nearest jump that the JCC erratum strikes."""
        program = self._program
        best = NONE
        for i in range(program.instructions):
            if program.i_jcc[i] and (best == NONE or abs(i - own) < abs(best - own)):
                best = i
        return best

    def _prefix_near(self, instance: int) -> int:
        """The instruction whose length-changing prefix is in a 16-byte piece that this instance lies in; NONE
        if there is none."""
        program = self._program
        size = self._block_bytes
        i = instance % program.instructions
        begin = self._columns.address_of(instance)
        first = begin // size
        last = (begin + program.i_length[i] - 1) // size
        base = begin - program.i_offset[i]
        # Without a loop the neighbouring rounds lie in the same piece.
        reach = 0 if program.loop else 1
        for position in range(program.instructions):
            if program.i_lcp[position]:
                opcode = base + program.i_offset[position] + program.i_opcode[position]
                for shift in range(-reach, reach + 1):
                    place = opcode + shift * program.size
                    if place >= 0 and first <= place // size <= last:
                        return position
        return NONE

    def _waiting(self, cycle: int) -> int:
        """The oldest uop in the scheduler."""
        # Uops that have left never come back, and cycles are asked for in order.
        columns = self._columns
        while self._time(columns.dispatched[self.scheduled[self._oldest_waiting]]) < cycle:
            self._oldest_waiting += 1
        return self.scheduled[self._oldest_waiting]

    def _unretired(self, buffer: int, cycle: int) -> int:
        """What the oldest fused uop of the reorder buffer waits for."""
        columns = self._columns
        number = self._retired
        uop = self.head[number]
        latest = NONE
        last = NONE
        for part in range(uop, uop + self.size[number]):
            if columns.port[part] >= 0 and self._time(columns.executed[part]) > latest:
                latest = self._time(columns.executed[part])
                last = part
        just_retired = 0
        while just_retired < number and columns.retired[self.head[number - 1 - just_retired]] == cycle - 1:
            just_retired += 1
        if last == NONE or (just_retired == self._retire_width and latest < cycle):
            return self._lost(buffer + _RETIREMENT, columns.position[uop])
        return self._reason(buffer, last)

    def _reason(self, buffer: int, uop: int) -> int:
        """Why a uop is late, and because of which instruction: goes from the uop to the one that it waited
        for longest, and so on, until one had to wait for its port, or the way comes round."""
        instance = self._columns.instance[uop]
        if self._why[instance] == NONE:
            self._trace_back(uop)
        return self._lost(buffer + self._why[instance], self._whom[instance])

    def _trace_back(self, origin: int) -> None:
        columns = self._columns
        program = self._program
        answer = columns.instance[origin]
        uop = origin
        slowest = NONE
        slowest_instruction = columns.position[origin]
        why = NONE
        while why == NONE:
            i = columns.position[uop]
            static = columns.static[uop]
            if program.i_load_fence[i] or program.i_store_fence[i] or program.i_serializing[i]:
                why = _FENCE
                break
            ready = self._time(columns.ready[uop])
            waited = self._time(columns.dispatched[uop]) - ready
            latency = self._time(columns.executed[uop]) - self._time(columns.dispatched[uop])
            # How long it was in the scheduler before it was ready.
            blocked = ready - self._time(columns.issued[uop]) - self._delay
            if waited > max(latency, blocked) or (waited > 0 and self.busy[columns.port[uop]]):
                why = _DIVIDER if program.u_divider[static] else _PORT
                break
            if latency > slowest or (latency == slowest and i > slowest_instruction):
                slowest = latency
                slowest_instruction = i
            producer = self._producer(uop)
            if program.i_tp[i] > 0 and blocked > 0 and self._inputs_ready(uop) + 1 < ready:
                # Its inputs were there: the unit was still busy with the same instruction of before.
                why = _DIVIDER if self._divides(i) else _UNIT
                break
            if producer == NONE:
                why = _DEPENDENCY
                i = slowest_instruction
                break
            if columns.instance[producer] != columns.instance[uop]:
                self._seen[i] = answer
                if self._seen[columns.position[producer]] == answer:
                    why = _DEPENDENCY
                    i = slowest_instruction
                    break
            uop = producer
        self._why[answer] = why
        self._whom[answer] = i

    def _divides(self, i: int) -> bool:
        program = self._program
        for static in range(program.i_uop0[i], program.i_uop0[i] + program.i_uop_count[i]):
            if program.u_divider[static]:
                return True
        return False

    def _inputs_ready(self, uop: int) -> int:
        """When the last input of a uop was there."""
        columns = self._columns
        first = columns.first_input[uop]
        latest = NONE
        for position in range(first, first + self._program.u_in_count[columns.static[uop]]):
            latest = max(latest, columns.value_ready[columns.input_value[position]])
        return latest

    def _producer(self, uop: int) -> int:
        """The uop that a uop waited for: the store that a load took its data from if that came later than the
        load's dispatch, else the producer of the input that came last. NONE if there was none."""
        columns = self._columns
        static = columns.static[uop]
        store = columns.store[uop]
        if self._program.u_kind[static] == LOAD and store != NONE and columns.store_uop[store] != NONE:
            data = columns.store_data[store]
            if data > columns.dispatched[uop] and data >= columns.store_address[store]:
                return columns.store_uop[store]
        first = columns.first_input[uop]
        latest = NONE
        producer = NONE
        for position in range(first, first + self._program.u_in_count[static]):
            value = columns.input_value[position]
            if columns.value_uop[value] != NONE and columns.value_ready[value] >= latest:
                if columns.value_ready[value] > latest or columns.value_uop[value] > producer:
                    producer = columns.value_uop[value]
                latest = columns.value_ready[value]
        return producer


def account_of(
    columns: Columns,
    stalls: Column,
    microarchitecture: Microarchitecture,
    begin: int,
    end: int,
    *,
    lsd_unroll: int,
    rounds: int,
    cycles: int,
) -> Account:
    """The account of the cycles behind ``begin`` up to ``end``, which issue ``rounds`` iterations; ``cycles``
    were simulated."""
    accounting = Accounting(columns, stalls, microarchitecture, lsd_unroll, cycles)
    slots = accounting.tally(begin, end)
    count = columns.program.instructions
    lost = {
        (CAUSES[place // count], place % count): accounting.lost[place]
        for place in range(len(CAUSES) * count)
        if accounting.lost[place]
    }
    used = tuple(accounting.used[i] for i in range(count))
    return Account(microarchitecture.issue_width, rounds, slots, used, lost)
