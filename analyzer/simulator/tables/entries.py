"""Scheduler entries: taken when a uop is bound to a unit, freed when it leaves for the unit."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE


class Entries:
    """A single scheduler accepts no issue group unless it has room for a whole one; so do Intel's cores with
    several schedulers (P3). On other makers' cores each scheduler needs an entry for the next uop."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        self._columns = columns
        self._program = columns.program
        self._width = microarchitecture.issue_width
        sizes = microarchitecture.scheduler_sizes
        self._schedulers = len(sizes)
        self.several = self._schedulers > 1
        self._whole_groups = self.several and microarchitecture.schedulers_take_whole_groups
        self.by_uop = self.several and not self._whole_groups
        """Whether entries are requested uop by uop (``take``)."""
        self._names: tuple[str, ...] = tuple([each.buffer for each in microarchitecture.schedulers]) or (
            "RS",
        )
        self._sizes = ints(self._schedulers)
        self._limit: int = sizes[0] - self._width
        """With more entries taken, a single scheduler has no room for a whole issue group."""
        self._held = ints(self._schedulers)
        """Entries taken in each of several schedulers."""
        self._wanted = ints(self._schedulers)
        """Entries that the uops selected so far for this cycle's group will take."""
        self._before = ints(self._schedulers)
        self._units = len(microarchitecture.units)
        self._scheduler_of = ints(self._units)
        for scheduler, size in enumerate(sizes):
            self._sizes[scheduler] = size
        for unit, scheduler in enumerate(microarchitecture.scheduler_of_units):
            self._scheduler_of[unit] = scheduler

    def start(self) -> None:
        """Reset to empty."""
        self.lacking = NONE
        """The scheduler that had no entry at the latest request."""
        self.occupancy = 0
        """Entries taken in all schedulers."""
        for scheduler in range(self._schedulers):
            self._held[scheduler] = 0
            self._wanted[scheduler] = 0

    def full(self) -> bool:
        """Whether a scheduler that takes whole issue groups may not have room for one."""
        if self.several:
            return self._whole_groups and self._lacks()
        return self.occupancy > self._limit

    def buffers(self) -> tuple[Buffer, ...]:
        """All schedulers."""
        group = 1 if self.by_uop else self._width
        return tuple(
            [Buffer(name, size, size - group) for name, size in zip(self._names, self._sizes, strict=True)]
        )

    def start_group(self) -> None:
        """Begin this cycle's issue group; nothing is selected yet."""
        for scheduler in range(self._schedulers):
            self._wanted[scheduler] = 0

    def take(self, first: int, count: int) -> bool:
        """Whether ``count`` consecutive uops each find an entry in a scheduler of their units; if so,
        reserve them. Uops that need more entries than exist wait until the scheduler is empty."""
        for scheduler in range(self._schedulers):
            self._before[scheduler] = self._wanted[scheduler]
        for uop in range(first, first + count):
            units = self._program.u_port_mask[self._columns.static[uop]]
            if units == 0:
                continue
            scheduler = self._emptiest(units)
            self._wanted[scheduler] += 1
            others = self._held[scheduler] + self._before[scheduler]
            if others > 0 and self._left(scheduler) < 0:
                self.lacking = scheduler
                for other in range(self._schedulers):
                    self._wanted[other] = self._before[other]
                return False
        return True

    def _lacks(self) -> bool:
        """Whether one of several schedulers may not have room for a whole issue group."""
        for scheduler in range(self._schedulers):
            if self._held[scheduler] + self._width > self._sizes[scheduler]:
                self.lacking = scheduler
                return True
        return False

    def _emptiest(self, units: int) -> int:
        """The scheduler with the most free entries among those that feed some of these units."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1:
                scheduler = self._scheduler_of[unit]
                if best == NONE or self._left(scheduler) > self._left(best):
                    best = scheduler
        return best

    def _left(self, scheduler: int) -> int:
        return self._sizes[scheduler] - self._held[scheduler] - self._wanted[scheduler]

    def enter(self, unit: int) -> None:
        """A uop was bound to this unit."""
        self.occupancy += 1
        if self.several:
            self._held[self._scheduler_of[unit]] += 1

    def leave(self, unit: int) -> None:
        """A uop left for this unit."""
        self.occupancy -= 1
        if self.several:
            self._held[self._scheduler_of[unit]] -= 1

    def in_the_way(self, unit: int) -> bool:
        """Whether a uop for this unit occupies the scheduler that lacks an entry."""
        return not self.several or self._scheduler_of[unit] == self.lacking

    def free(self, unit: int) -> int:
        """Free entries in the scheduler of a unit."""
        scheduler = self._scheduler_of[unit]
        return self._sizes[scheduler] - self._held[scheduler]
