"""Binding at random, for ablation studies: every unit that a uop may take has the same chance."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Long
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_MODULUS = 1 << 31
_MULTIPLIER = 1103515245
_INCREMENT = 12345
_USED_BITS = 15


class RandomPorts(Binding):
    """A linear congruential generator, constants of the C standard's example; the same seed, the same run."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        entries: Entries,
        seed: int,
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._seed: Long = seed & (_MODULUS - 1)

    def start(self) -> None:
        """No uop is bound."""
        Binding.start(self)
        self.state: Long = self._seed
        """Of the generator."""

    def choose(self, units: int, slot: int) -> int:
        """Every allowed unit with the same chance."""
        count = 0
        for unit in range(self._units):
            count += units >> unit & 1
        self.state = (self.state * _MULTIPLIER + _INCREMENT) & (_MODULUS - 1)
        # The low bits of such a generator are hardly random.
        left = (self.state >> _USED_BITS) % count
        for unit in range(self._units):
            if units >> unit & 1:
                if left == 0:
                    return unit
                left -= 1
        return NONE
