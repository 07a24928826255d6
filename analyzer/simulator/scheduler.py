"""The scheduler (reservation station): uops wait for their inputs, then for their port
(uiCA model, 3.11 to 3.13). Event-driven: a uop that waits costs nothing."""

from __future__ import annotations

from heapq import heappop, heappush

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import UopKind
from cyclelens.analyzer.simulator.columns import ELIMINATED, FOREVER, NONE, UNKNOWN, Columns
from cyclelens.analyzer.simulator.fences import Fences
from cyclelens.analyzer.simulator.queues import IssueGroup

_LOAD = int(UopKind.LOAD)
_STORE_ADDRESS = int(UopKind.STORE_ADDRESS)
_STORE_DATA = int(UopKind.STORE_DATA)

_MIN_EXECUTION = 2
_ADDRESS_KNOWN = 5
_DATA_KNOWN = 1
_FORWARDING = 4
_PAIRED_STORE_BYTES = 64


class Scheduler:
    """Holds uops from issue to dispatch."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        issue: IssueGroup,
        usage: list[int],
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._issue = issue
        self._usage = usage
        self._size = microarchitecture.reservation_station_size
        self._issue_width = microarchitecture.issue_width
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._ports = tuple(int(port, 16) for port in microarchitecture.ports)
        self._paired_stores = 9 in self._ports
        self._slow_256_bit = microarchitecture.slow_256_bit_memory
        self._fences = Fences(columns)
        self._has_special = columns.program.has_special
        self._occupancy = 0
        # Ready times that lie ahead, as linked lists over ``next_uop`` in a ring of cycles.
        self._ring_size = columns.program.longest_wait + self._delay + _ADDRESS_KNOWN + _FORWARDING
        self._ring = [NONE] * self._ring_size
        self._queues: list[list[int]] = [[] for _ in range(max(self._ports) + 1)]
        self._divider_queue: list[int] = []
        self._divider_blocked = 0
        self._store_data_blocked = 0
        self._tp_blocked = [0] * columns.program.tp_names
        self._left: list[int] = []
        """Ports of the uops dispatched in the cycle before; their counters go down in this one."""
        self._dispatched: list[int] = []
        self._checks: list[int] = []
        self._held: list[int] = []

    @property
    def full(self) -> bool:
        """No room for a whole issue group."""
        return self._occupancy + self._issue_width > self._size

    def wake(self, cycle: int) -> None:
        """Step 1: uops whose ready time has come enter the queue of their port."""
        columns = self._columns
        slot = cycle % self._ring_size
        uop = self._ring[slot]
        self._ring[slot] = NONE
        while uop != NONE:
            if self._program.u_divider[columns.static[uop]]:
                heappush(self._divider_queue, uop)
            else:
                heappush(self._queues[columns.port[uop]], uop)
            uop = columns.next_uop[uop]

    def tick(self, cycle: int) -> None:
        """Steps 3 to 7; the issue group has been bound to ports."""
        self._accept()
        self._dispatch(cycle)
        self._complete(cycle)
        self._check(cycle)
        if self._has_special:
            self._fences.tick(cycle)
            for name, blocked in enumerate(self._tp_blocked):
                if blocked:
                    self._tp_blocked[name] = blocked - 1
        if self._divider_blocked:
            self._divider_blocked -= 1
        if self._store_data_blocked:
            self._store_data_blocked -= 1

    def _accept(self) -> None:
        columns = self._columns
        for first, count in self._issue.fused:
            for uop in range(first, first + count):
                if columns.port[uop] == ELIMINATED or columns.port[uop] == NONE:
                    continue
                self._occupancy += 1
                if self._has_special:
                    self._fences.bound(uop)
                if columns.pending[uop] == 0:
                    self._checks.append(uop)

    def _dispatch(self, cycle: int) -> None:
        columns = self._columns
        for port in self._left:
            self._usage[port] -= 1
        self._left.clear()
        self._dispatched.clear()
        skipped = self._skipped_port()
        for port in self._ports:
            queue = self._queues[port]
            if port == 0 and self._divider_queue and not self._divider_blocked:
                oldest = self._divider_queue[0]
                if not queue or oldest < queue[0]:
                    heappop(self._divider_queue)
                    self._divider_blocked += self._program.u_divider[columns.static[oldest]]
                    self._leave(oldest, cycle)
                    continue
            if not queue or port == skipped or (port == 4 and self._store_data_blocked):
                continue
            uop = heappop(queue)
            if self._slow_256_bit and port == 4 and self._program.u_256_bit[columns.static[uop]]:
                self._store_data_blocked = 2
            self._leave(uop, cycle)

    def _leave(self, uop: int, cycle: int) -> None:
        self._columns.dispatched[uop] = cycle
        self._dispatched.append(uop)
        self._left.append(self._columns.port[uop])
        self._occupancy -= 1

    def _skipped_port(self) -> int:
        """The port that may not dispatch in this cycle because of its sibling (Z1, Z2)."""
        queues = self._queues
        columns = self._columns
        if self._paired_stores and queues[4] and queues[9]:
            first, second = queues[4][0], queues[9][0]
            one = columns.store_key[columns.store[first]]
            other = columns.store_key[columns.store[second]]
            if (
                one is not None
                and other is not None
                and (one[:3] != other[:3] or abs(one[3] - other[3]) >= _PAIRED_STORE_BYTES)
            ):
                return 9 if first < second else 4
        if self._slow_256_bit and queues[2] and queues[3]:
            first, second = queues[2][0], queues[3][0]
            program = self._program
            one_static, other_static = columns.static[first], columns.static[second]
            if (
                program.u_kind[one_static] == _LOAD
                and program.u_kind[other_static] == _LOAD
                and (program.u_256_bit[one_static] or program.u_256_bit[other_static])
            ):
                return 3 if first < second else 2
        return NONE

    def _complete(self, cycle: int) -> None:
        """Step 4: fix the times of results. Stores first: a load may forward from them (3.11.2)."""
        columns = self._columns
        program = self._program
        for uop in self._dispatched:
            kind = program.u_kind[columns.static[uop]]
            if kind == _STORE_ADDRESS:
                self._finish(uop, cycle, cycle + _ADDRESS_KNOWN)
                columns.store_address[columns.store[uop]] = cycle + _ADDRESS_KNOWN
            elif kind == _STORE_DATA:
                self._finish(uop, cycle, cycle + _DATA_KNOWN)
                columns.store_data[columns.store[uop]] = cycle + _DATA_KNOWN
        for uop in self._dispatched:
            kind = program.u_kind[columns.static[uop]]
            store = columns.store[uop]
            if kind in (_STORE_ADDRESS, _STORE_DATA):
                self._forward(store)
            elif store == NONE:
                self._finish(uop, cycle, 0)
            elif self._store_known(store):
                self._finish(uop, cycle, self._forwarded(store))
            else:
                columns.next_uop[uop] = columns.store_waiters[store]
                columns.store_waiters[store] = uop

    def _store_known(self, store: int) -> bool:
        columns = self._columns
        return columns.store_address[store] != UNKNOWN and columns.store_data[store] != UNKNOWN

    def _forwarded(self, store: int) -> int:
        columns = self._columns
        return max(columns.store_address[store], columns.store_data[store]) + _FORWARDING

    def _forward(self, store: int) -> None:
        """Loads that wait for a store's address and data get their results."""
        columns = self._columns
        uop = columns.store_waiters[store]
        if uop == NONE or not self._store_known(store):
            return
        columns.store_waiters[store] = NONE
        while uop != NONE:
            following = columns.next_uop[uop]
            self._finish(uop, columns.dispatched[uop], self._forwarded(store))
            uop = following

    def _finish(self, uop: int, dispatched: int, earliest: int) -> None:
        """Fix the ready times of a dispatched uop's results, none before ``earliest``, and its completion."""
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        is_load = program.u_kind[static] == _LOAD
        executed = max(dispatched + _MIN_EXECUTION, earliest if not is_load else 0)
        if program.u_first[static]:
            executed = max(executed, dispatched + program.i_tp[columns.instance[uop] % program.instructions])
        first = columns.first_result[uop]
        for value in range(first, first + program.u_out_count[static]):
            ready = dispatched + columns.value_latency[value] - columns.latency_bonus[uop]
            if is_load:
                ready = max(ready, earliest)
            columns.value_ready[value] = ready
            executed = max(executed, ready)
            position = columns.value_waiters[value]
            while position != NONE:
                waiting = columns.input_uop[position]
                columns.pending[waiting] -= 1
                if columns.pending[waiting] == 0 and columns.port[waiting] != NONE:
                    self._checks.append(waiting)
                position = columns.input_next[position]
        columns.executed[uop] = executed

    def _check(self, cycle: int) -> None:
        """Step 5: uops whose inputs are all known get their ready time (3.11.4)."""
        if not self._has_special:
            for uop in self._checks:
                self._fix(uop, cycle)
            self._checks.clear()
            return
        candidates = sorted([*self._held, *self._checks])
        self._checks.clear()
        self._held.clear()
        columns = self._columns
        program = self._program
        for uop in candidates:
            i = columns.instance[uop] % program.instructions
            limited = program.i_tp[i] > 0 and program.u_first[columns.static[uop]]
            if (limited and self._tp_blocked[program.i_tp_name[i]]) or not self._fences.allow(uop, cycle):
                self._held.append(uop)
                continue
            if limited:
                self._tp_blocked[program.i_tp_name[i]] = program.i_tp[i]
            self._fences.fixed(uop)
            self._fix(uop, cycle)

    def _fix(self, uop: int, cycle: int) -> None:
        columns = self._columns
        first = columns.first_input[uop]
        latest = FOREVER
        for position in range(first, first + self._program.u_in_count[columns.static[uop]]):
            latest = max(latest, columns.value_ready[columns.input_value[position]])
        earliest = columns.issued[uop] + self._delay
        if latest < earliest:
            ready = earliest
        elif latest <= earliest + 1:
            # An input that arrives just when the uop could go costs it a cycle.
            ready = latest + 1
        else:
            ready = latest
        ready = max(cycle + 1, ready)
        columns.ready[uop] = ready
        slot = ready % self._ring_size
        columns.next_uop[uop] = self._ring[slot]
        self._ring[slot] = uop
