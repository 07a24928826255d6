"""The store queue: finished stores on their way to the cache (M16)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, UNKNOWN
from cyclelens.analyzer.simulator.tables.in_flight import InFlight


class StoreQueue:
    """Stores leave for the cache in order, after retirement. Several leave together only for one chunk of
    memory, where a core has chunks; one that crosses the end of its chunk or line leaves alone."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, in_flight: InFlight) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._flight = in_flight
        self._width = rules.stores_committed_per_cycle
        self._chunk = rules.store_chunk_bytes
        self._page_crossing = rules.page_crossing_store_cycles
        self._size = rules.store_queue

    def start(self) -> None:
        """Nothing is leaving."""
        self._busy = 0
        """Cycles that a store still takes."""
        self.least_cycles = 0
        """Until the queue is full of stores that leave slowly, and as long again, if there are such."""

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        state.add(self._busy)

    def tick(self, cycle: int) -> None:
        """One cycle."""
        columns = self._columns
        flight = self._flight
        left = self._width
        chunk: Long = NONE
        if self._busy:
            self._busy -= 1
            return
        while left > 0 and flight.oldest_store < columns.stores:
            store = flight.oldest_store
            data = columns.store_uop[store]
            if data == NONE or columns.retired[data] == UNKNOWN:
                return
            if self._chunk:
                if left < self._width and columns.store_base[store] // self._chunk != chunk:
                    return
                chunk = columns.store_base[store] // self._chunk
            crosses = flight.s_crosses[store & flight.store_mask]
            if crosses:
                if left < self._width:
                    return
                left = 0
                self._busy = self._chunk > 0
                if crosses > 1:
                    self._busy = self._page_crossing - 1
                    self.least_cycles = 2 * self._size * self._page_crossing
            else:
                left -= 1
            columns.store_left[store] = cycle
            flight.oldest_store += 1
