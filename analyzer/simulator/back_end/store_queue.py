"""The store queue: finished stores on their way to the cache (M16)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, UNKNOWN
from cyclelens.analyzer.simulator.tables.in_flight import InFlight


class StoreQueue:
    """Stores leave for the cache in order, after retirement; a policy says how many in a cycle."""

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
        """Nothing is leaving."""
        self._commit.start()
        self.least_cycles = 0
        """Until the queue is full of stores that leave slowly, and as long again, if there are such."""

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        self._commit.record(state)

    def waits(self) -> bool:
        """No store can leave before one retires."""
        columns = self._columns
        store = self._flight.oldest_store
        if store == columns.stores:
            return True
        data = columns.store_uop[store]
        return data == NONE or columns.retired[data] == UNKNOWN

    def skip(self, cycles: int) -> None:
        """So many cycles go by in which it waits."""
        self._commit.pass_by(cycles)

    def tick(self, cycle: int) -> None:
        """One cycle."""
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
