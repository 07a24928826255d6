"""Load and store fences: who waits for whom (uiCA model, 3.13)."""

from __future__ import annotations

from collections import deque

from cyclelens.analyzer.model.uops import UopKind
from cyclelens.analyzer.simulator.columns import UNKNOWN, Columns

_LOAD = int(UopKind.LOAD)
_STORES = (int(UopKind.STORE_ADDRESS), int(UopKind.STORE_DATA))


class _Order:
    """Pending fences of one kind, and the accesses since the last one."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.pending: deque[int] = deque()
        self.accesses: list[int] = []

    def may_pass(self, fence: int, cycle: int) -> bool:
        """The fence is the oldest and every access before it is complete."""
        executed = self._columns.executed
        return self.pending[0] == fence and all(UNKNOWN < executed[uop] <= cycle for uop in self.accesses)

    def blocks(self, access: int) -> bool:
        """An older fence is pending."""
        return bool(self.pending) and self.pending[0] < access

    def tick(self, cycle: int) -> None:
        """The oldest fence leaves when it has completed."""
        if self.pending and UNKNOWN < self._columns.executed[self.pending[0]] <= cycle:
            self.pending.popleft()
            self.accesses.clear()


class Fences:
    """MFENCE orders loads and (until it leaves) holds back later stores; LFENCE loads; SFENCE stores."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._program = columns.program
        self._loads = _Order(columns)
        self._stores = _Order(columns)

    def bound(self, uop: int) -> None:
        """A uop was bound to a port."""
        program = self._program
        if not program.u_first[self._columns.static[uop]]:
            return
        i = self._columns.instance[uop] % program.instructions
        if program.i_load_fence[i]:
            self._loads.pending.append(uop)
        if program.i_store_fence[i]:
            self._stores.pending.append(uop)

    def allow(self, uop: int, cycle: int) -> bool:
        """Whether the uop's ready time may be fixed in this cycle."""
        program = self._program
        static = self._columns.static[uop]
        i = self._columns.instance[uop] % program.instructions
        if program.i_load_fence[i]:
            return not program.u_first[static] or self._loads.may_pass(uop, cycle)
        if program.i_store_fence[i]:
            return not program.u_first[static] or self._stores.may_pass(uop, cycle)
        kind = program.u_kind[static]
        if kind == _LOAD:
            return not self._loads.blocks(uop)
        if kind in _STORES:
            return not self._stores.blocks(uop)
        return True

    def fixed(self, uop: int) -> None:
        """A uop's ready time was fixed."""
        kind = self._program.u_kind[self._columns.static[uop]]
        if kind == _LOAD:
            self._loads.accesses.append(uop)
        elif kind in _STORES:
            self._stores.accesses.append(uop)

    def tick(self, cycle: int) -> None:
        """End of a cycle."""
        self._loads.tick(cycle)
        self._stores.tick(cycle)
