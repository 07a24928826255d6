"""The reorder buffer: fused uops retire in order (uiCA model, 3.10)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.tables.arrays import Long, Record, grown, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, STORE_DATA, UNKNOWN
from cyclelens.analyzer.simulator.tables.queues import Queues

_MARGIN = 16
_SETTLED = 4
_LONG_AGO = 1 << 20
_LONG_WINDOW = 10
_POSITION_TRIES = 5
_TIME = 32
"""Bits of a time."""
_STEP = 128
"""Distance between two places: more than twice the number of units."""


class ReorderBuffer:
    """Entries are fused uops as (first uop, number of uops)."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        commit: CommitRule | None = None,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._issued = queues.issued
        self._commit = commit
        self._size = microarchitecture.reorder_buffer_size
        self._limit = self._size - microarchitecture.issue_width
        self._retire_width = microarchitecture.retire_width
        self._issued_long_ago = microarchitecture.issue_to_dispatch_delay + 2
        """Cycles after issue from which on only the missing inputs decide when a uop is ready."""
        self.entries = queues.rob
        self.key_cycle = ints(64)
        """Retirement cycle of the key instruction's last fused uop, per round (5.2)."""
        self.first_cycle = ints(64)
        """Cycle in which the first uop of the round retired, per round."""
        self.key_position = ints(64)
        """Position of that uop within its retirement cycle, per round."""
        self.last_round = NONE
        self._filled = 0
        """Number of rounds, from the first, whose times were filled in and not simulated."""

    def start(self) -> None:
        """Reset to empty."""
        self.entries.start(self._size + 64)
        # Rows that no run has written are 0; so short runs need not clear the longest run's columns.
        for round_number in range(max(self.last_round + 1, self._filled)):
            self.key_cycle[round_number] = 0
            self.first_cycle[round_number] = 0
            self.key_position[round_number] = 0
        self._filled = 0
        self.last_round = NONE
        """Round of the latest fused uop that retired."""
        self._last_first = NONE
        """First instance with uops in that round."""
        self.key_rounds = 0
        """Rounds whose key instruction has retired."""
        self.retired = 0
        """Fused uops that retired in the latest cycle."""

    def reserve(self) -> None:
        """Make room for the rounds that one cycle can retire. Call it before each cycle."""
        if self.last_round + _MARGIN > len(self.key_cycle):
            self.grow(2 * (self.last_round + _MARGIN))

    def grow(self, rounds: int) -> None:
        """Make room for this many rounds."""
        if rounds > len(self.key_cycle):
            self.key_cycle = grown(self.key_cycle, rounds)
            self.first_cycle = grown(self.first_cycle, rounds)
            self.key_position = grown(self.key_position, rounds)

    def full(self) -> bool:
        """Whether a whole issue group has no room."""
        return self.entries.count > self._limit

    def buffer(self) -> Buffer:
        """Size and fill of the buffer, which takes whole issue groups."""
        return Buffer("ROB", self._size, self._limit)

    def next_retirement(self, cycle: int) -> int:
        """The next cycle in which a fused uop retires, NONE if that is not known yet."""
        entries = self.entries
        if entries.count == 0:
            return NONE
        first = entries.firsts[entries.head]
        latest = cycle
        for uop in range(first, first + entries.seconds[entries.head]):
            executed = self._columns.executed[uop]
            if executed == UNKNOWN:
                return NONE
            if executed > latest:
                latest = executed
        return latest + 1

    def tick(self, cycle: int) -> None:
        """Retire completed uops, then take in the issue group."""
        columns = self._columns
        program = self._program
        entries = self.entries
        unfinished = NONE
        position = 0
        if self._commit is not None:
            self._commit.next_cycle()
        while position < entries.count:
            index = (entries.head + position) & entries.mask
            first = entries.firsts[index]
            end = first + entries.seconds[index]
            unfinished = self._unfinished(first, end, cycle)
            if position == self._retire_width or unfinished != NONE:
                break
            if self._commit is not None and not self._may_commit(self._commit, first, end):
                break
            if columns.stamped:
                for uop in range(first, end):
                    columns.retired[uop] = cycle
            i = columns.position[first]
            if i == program.first_instruction:
                instance = columns.instance[first]
                if instance != self._last_first:
                    self._last_first = instance
                    self.last_round += 1
                    self.first_cycle[self.last_round] = cycle
            if i == program.key_instruction:
                self.key_cycle[self.last_round] = cycle
                self.key_position[self.last_round] = position
                if program.u_last[columns.static[end - 1]]:
                    self.key_rounds = self.last_round + 1
            position += 1
        entries.drop(position)
        self.retired = position
        if columns.watched:
            columns.unfinished[cycle] = unfinished
        entries.append(self._issued)

    def window(self, rounds: int) -> tuple[int, int]:
        """First and last relevant round of this many (5.2, 5.3): the second half of the run. It ends where
        the key instruction retires at the same position within its cycle as at the beginning."""
        last = max(0, rounds - 2)
        first = min(last, rounds // 2)
        end = last
        if last - first > _LONG_WINDOW:
            for back in range(_POSITION_TRIES):
                if self.key_position[last - back] == self.key_position[first]:
                    end = last - back
                    break
        return first, end

    def repeat(
        self, first_round: int, period_rounds: int, period_cycles: int, min_rounds: int, min_cycles: int
    ) -> int:
        """Fill in the times of the remaining rounds of a full run, all of which repeat those after
        ``first_round``. Returns how many rounds begin to retire in the run."""
        # The current round may have begun to retire, but the times of its end are not known yet.
        number = min(first_round + period_rounds + 1, self.last_round + 1)
        ahead = (min_cycles + 2) * period_rounds // period_cycles + period_rounds
        self.grow(number + max(ahead, min_rounds) + period_rounds + 1)
        while True:
            if number >= len(self.first_cycle):
                self.grow(2 * number)
            before = number - period_rounds
            cycle = self.first_cycle[before] + period_cycles
            self.first_cycle[number] = cycle
            self.key_cycle[number] = self.key_cycle[before] + period_cycles
            self.key_position[number] = self.key_position[before]
            if cycle > min_cycles + 1 and number >= min_rounds and cycle > self.first_cycle[min_rounds]:
                self._filled = number + 1
                return number
            number += 1

    def cycles_per_round(self, first: int, last: int) -> float:
        """Cycles per round between the key instructions of two rounds; for a single round, from the start."""
        if first == last:
            return float(self.key_cycle[last])
        return float(self.key_cycle[last] - self.key_cycle[first]) / (last - first)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state: everything about the uops in flight."""
        entries = self.entries
        state.add(entries.count)
        if entries.count > 0 and not self._program.adds_uops:
            # They follow each other.
            first = entries.firsts[entries.head]
            last = (entries.head + entries.count - 1) & entries.mask
            state.add(first - state.uop)
            self._record_uops(state, first, entries.firsts[last] + entries.seconds[last])
            return
        for position in range(entries.count):
            index = (entries.head + position) & entries.mask
            first = entries.firsts[index]
            state.add(first - state.uop)
            self._record_uops(state, first, first + entries.seconds[index])
            if state.differs:
                break

    def _record_uops(self, state: Record, first: int, end: int) -> None:
        columns = self._columns
        program = self._program
        for uop in range(first, end):
            if state.differs:
                break
            executed = columns.executed[uop]
            if executed != UNKNOWN and executed <= state.cycle:
                continue  # it only has to retire
            # Place and time in one number: a time takes less than half of the bits.
            place: Long = (uop - state.uop) * _STEP
            if executed != UNKNOWN:
                state.add((place << _TIME) + executed - state.cycle)
                continue
            waits: bool = columns.dispatched[uop] == UNKNOWN
            if waits:
                # With the port that it waits for, and the latency bonus of its load.
                place += 4 + 2 * columns.port[uop] + columns.latency_bonus[uop]
                state.add((place << _TIME) + state.time(columns.ready[uop], 0))
            else:
                state.add((place << _TIME) + state.time(columns.dispatched[uop], _LONG_AGO))
            if columns.store[uop] != NONE:
                state.add(4 * (columns.store[uop] - columns.stores) + columns.blocked[uop])
            if not waits or columns.ready[uop] != UNKNOWN:
                continue
            state.add_time(columns.issued[uop], self._issued_long_ago)
            first_input = columns.first_input[uop]
            inputs = program.u_in_count[columns.static[uop]]
            for operand in range(first_input, first_input + inputs):
                # An input that is ready five cycles after the issue delays the uop no more than earlier ones,
                # and one that is ready now delays it less than an input whose time is not known yet.
                oldest = min(state.cycle - columns.issued[uop] - _SETTLED, 0)
                columns.record_value(state, columns.input_value[operand], oldest)

    def _may_commit(self, commit: CommitRule, first: int, end: int) -> bool:
        """Whether the stores among these uops may be written to the cache in this cycle."""
        columns = self._columns
        for uop in range(first, end):
            if self._program.u_kind[columns.static[uop]] == STORE_DATA:
                store = columns.store[uop]
                if store != NONE and not commit.may_leave(store):
                    return False
        return True

    def look(self, cycle: int) -> None:
        """Record what keeps the oldest fused uop from retiring in this cycle."""
        entries = self.entries
        unfinished = NONE
        if entries.count > 0:
            first = entries.firsts[entries.head]
            unfinished = self._unfinished(first, first + entries.seconds[entries.head], cycle)
        self._columns.unfinished[cycle] = unfinished

    def _unfinished(self, first: int, end: int, cycle: int) -> int:
        """The last unfinished uop of a fused one, NONE if all are finished."""
        columns = self._columns
        for uop in range(end - 1, first - 1, -1):
            if columns.executed[uop] == UNKNOWN or columns.executed[uop] >= cycle:
                return uop
        return NONE
