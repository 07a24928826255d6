"""Load and store fences: which accesses wait for which fence (uiCA model, 3.13)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    HELD_BY_FENCE,
    LOAD,
    NEVER,
    STORE_ADDRESS,
    STORE_DATA,
    UNKNOWN,
)

_MOST_IN_FLIGHT = 1024


class FenceOrder:
    """Pending fences of one kind, and the accesses since the last one."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.pending = PairQueue()
        self.accesses = PairQueue()
        self.changed = False
        """Whether the oldest fence left in the latest cycle."""

    def start(self) -> None:
        """Reset: no fence is pending."""
        self.changed = False
        self.pending.clear()
        self.accesses.clear()
        if self._columns.program.has_fences:
            self.pending.start(_MOST_IN_FLIGHT)
            # Accesses behind a pending fence wait, so a list holds at most those of two rounds.
            self.accesses.start(_MOST_IN_FLIGHT + 2 * self._columns.program.uops)

    def may_pass(self, fence: int, cycle: int) -> bool:
        """Whether the fence is the oldest and every access before it is complete."""
        if self.pending.firsts[self.pending.head] != fence:
            return False
        for position in range(self.accesses.count):
            access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
            executed = self._columns.executed[access]
            if executed == UNKNOWN or executed > cycle:
                return False
        return True

    def blocks(self, access: int) -> bool:
        """Whether a fence older than the access is pending."""
        return self.pending.count > 0 and self.pending.firsts[self.pending.head] < access

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        for position in range(self.pending.count):
            state.add(self.pending.firsts[(self.pending.head + position) & self.pending.mask] - state.uop)
        for position in range(self.accesses.count):
            access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
            state.add_time(self._columns.executed[access], 0)

    def tick(self, cycle: int) -> None:
        """Remove the oldest fence once it has completed."""
        self.changed = False
        if self.pending.count == 0:
            return
        executed = self._columns.executed[self.pending.firsts[self.pending.head]]
        if executed != UNKNOWN and executed <= cycle:
            self.pending.pop()
            self.accesses.clear()
            self.changed = True

    def next_event(self, cycle: int) -> int:
        """The next known cycle in which the oldest fence may pass or leaves; NEVER if there is none."""
        following = NEVER
        if self.pending.count > 0:
            following = self._later(self.pending.firsts[self.pending.head], cycle, following)
            for position in range(self.accesses.count):
                access = self.accesses.firsts[(self.accesses.head + position) & self.accesses.mask]
                following = self._later(access, cycle, following)
        return following

    def _later(self, uop: int, cycle: int, following: int) -> int:
        """The earlier of ``following`` and the uop's completion, if that is still to come."""
        executed = self._columns.executed[uop]
        return executed if cycle < executed < following else following


class Fences:
    """MFENCE orders loads and (until it leaves) holds back later stores; LFENCE loads; SFENCE stores."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._program = columns.program
        self.loads = FenceOrder(columns)
        self.stores = FenceOrder(columns)

    def start(self) -> None:
        """Reset: no access is ordered."""
        self.loads.start()
        self.stores.start()

    def bound(self, uop: int) -> None:
        """Called when a uop was bound to a port."""
        program = self._program
        i = self._columns.position[uop]
        if program.i_load_fence[i] or program.i_store_fence[i]:
            self._columns.held[uop] = HELD_BY_FENCE
        if not program.u_first[self._columns.static[uop]]:
            return
        if program.i_load_fence[i]:
            self.loads.pending.push(uop, 0)
        if program.i_store_fence[i]:
            self.stores.pending.push(uop, 0)

    def allow(self, uop: int, cycle: int) -> bool:
        """Whether the uop's ready time may be fixed in this cycle."""
        program = self._program
        static = self._columns.static[uop]
        i = self._columns.position[uop]
        if program.i_load_fence[i]:
            return not program.u_first[static] or self.loads.may_pass(uop, cycle)
        if program.i_store_fence[i]:
            return not program.u_first[static] or self.stores.may_pass(uop, cycle)
        kind = program.u_kind[static]
        if kind == LOAD:
            return not self.loads.blocks(uop)
        if kind == STORE_ADDRESS or kind == STORE_DATA:  # noqa: SIM109 - a tuple would be made each time
            return not self.stores.blocks(uop)
        return True

    def fixed(self, uop: int) -> None:
        """Called when a uop's ready time was fixed."""
        if not self._program.has_fences:
            return
        kind = self._program.u_kind[self._columns.static[uop]]
        if kind == LOAD:
            self.loads.accesses.push(uop, 0)
        elif kind == STORE_ADDRESS or kind == STORE_DATA:  # noqa: SIM109
            self.stores.accesses.push(uop, 0)

    def tick(self, cycle: int) -> None:
        """End of a cycle."""
        self.loads.tick(cycle)
        self.stores.tick(cycle)

    def next_event(self, cycle: int) -> int:
        """The next known cycle in which a fence may pass or leaves; NEVER if there is none."""
        if self.loads.changed or self.stores.changed:
            return cycle + 1
        return min(self.loads.next_event(cycle), self.stores.next_event(cycle))
