"""Two stores leave per cycle: on Zen 5 any two, on Zen 3 and 4 two for the same chunk (M16)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight


class TwoStores(CommitRule):
    """As many stores as the core's width. A store that crosses the end of its line leaves alone, and one
    that crosses the end of its page takes longer."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, in_flight: InFlight) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._flight = in_flight
        self._width = rules.stores_committed_per_cycle
        self._page_crossing = rules.page_crossing_store_cycles
        self._crossing = 1
        """Cycles of a store that crosses the end of the chunk that the cache takes at once."""

    def start(self) -> None:
        """Reset: no store has left."""
        self._busy = 0
        """Cycles that the current store still takes."""
        self._left = 0

    def next_cycle(self) -> None:
        """A cycle begins."""
        self._left = self._width
        if self._busy:
            self._busy -= 1
            self._left = 0

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles, in which no store could leave."""
        self._busy = max(0, self._busy - cycles)

    def may_leave(self, store: int) -> bool:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        if self._left == 0:
            return False
        crosses = self._flight.s_crosses[store & self._flight.store_mask]
        if crosses:
            if self._left < self._width:
                return False
            self._left = 0
            self._busy = (self._page_crossing if crosses > 1 else self._crossing) - 1
        else:
            self._left -= 1
        return True

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._busy)


class OneChunk(TwoStores):
    """Two stores leave if the second is for the chunk of the first. A store that crosses the end of its
    chunk takes two cycles."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, in_flight: InFlight) -> None:
        super().__init__(columns, microarchitecture, in_flight)
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._chunk_bytes = rules.store_chunk_bytes
        self._chunk: Long = 0
        self._crossing = 2

    def may_leave(self, store: int) -> bool:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        chunk: Long = self._columns.store_base[store] // self._chunk_bytes
        if self._left < self._width and chunk != self._chunk:
            return False
        self._chunk = chunk
        return TwoStores.may_leave(self, store)
