"""Random binding, for ablation studies: all units that a uop may take have the same probability."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.chance import Chance
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues


class RandomPorts(Binding):
    """Ignores how many uops wait for each unit."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        entries: Entries,
        seed: int,
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._chance = Chance(seed)

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._chance.start()

    def choose(self, units: int, slot: int) -> int:
        """One of the allowed units, each with the same probability."""
        return self._chance.one_of(units)
