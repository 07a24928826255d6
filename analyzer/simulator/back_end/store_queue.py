"""The store queue: finished stores that wait to be written to the cache (M16)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, UNKNOWN
from cyclelens.analyzer.simulator.tables.in_flight import InFlight


class StoreQueue:
    """Stores leave in order, after retirement; a policy decides how many per cycle."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        in_flight: InFlight,
        commit: CommitRule,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._flight = in_flight
        self._commit = commit
        self._settling = 2 * rules.store_queue * rules.page_crossing_store_cycles

    def start(self) -> None:
        """Reset: no store is leaving."""
        self._commit.start()
        self.least_cycles = 0
        """Minimum run length with slow stores: twice the cycles that a queue full of them takes; else 0."""

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        self._commit.record(state)

    def waits(self) -> bool:
        """Whether no store can leave before one retires."""
        columns = self._columns
        store = self._flight.oldest_store
        if store == columns.stores:
            return True
        data = columns.store_uop[store]
        return data == NONE or columns.retired[data] == UNKNOWN

    def skip(self, cycles: int) -> None:
        """Skip this many waiting cycles."""
        self._commit.pass_by(cycles)

    def tick(self, cycle: int) -> None:
        """Simulate one cycle."""
        columns = self._columns
        flight = self._flight
        self._commit.next_cycle()
        while flight.oldest_store < columns.stores:
            store = flight.oldest_store
            data = columns.store_uop[store]
            if data == NONE or columns.retired[data] == UNKNOWN or not self._commit.may_leave(store):
                return
            if flight.s_crosses[store & flight.store_mask] > 1:
                self.least_cycles = self._settling
            columns.store_left[store] = cycle
            flight.oldest_store += 1
