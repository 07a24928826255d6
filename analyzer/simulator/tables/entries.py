"""The places in the schedulers: taken when a uop is bound to a unit, free again when it leaves for it."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE


class Entries:
    """A single scheduler takes no group at all if it might not take a whole one, and neither do several of
    Intel's (P3). Of other makers' each has to have a place for the uop that is next."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        self._columns = columns
        self._program = columns.program
        self._width = microarchitecture.issue_width
        sizes = microarchitecture.scheduler_sizes
        self._schedulers = len(sizes)
        self.several = self._schedulers > 1
        self._whole_groups = self.several and microarchitecture.schedulers_take_whole_groups
        self.by_uop = self.several and not self._whole_groups
        """Whether uops are asked for one by one (``take``)."""
        self._names: tuple[str, ...] = tuple([each.buffer for each in microarchitecture.schedulers]) or (
            "RS",
        )
        self._sizes = ints(self._schedulers)
        self._limit: int = sizes[0] - self._width
        """More in a single scheduler leave no room for a whole issue group."""
        self._held = ints(self._schedulers)
        """Of several schedulers the places taken in each."""
        self._wanted = ints(self._schedulers)
        """Places that uops of this cycle's group take, as far as it is chosen."""
        self._before = ints(self._schedulers)
        self._units = len(microarchitecture.units)
        self._scheduler_of = ints(self._units)
        for scheduler, size in enumerate(sizes):
            self._sizes[scheduler] = size
        for unit, scheduler in enumerate(microarchitecture.scheduler_of_units):
            self._scheduler_of[unit] = scheduler

    def start(self) -> None:
        """Empty."""
        self.lacking = NONE
        """Of several schedulers the one that had no place when uops asked last."""
        self.occupancy = 0
        """Places taken in all schedulers."""
        for scheduler in range(self._schedulers):
            self._held[scheduler] = 0
            self._wanted[scheduler] = 0

    def full(self) -> bool:
        """A scheduler that has to take whole issue groups might not take one."""
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
        """Nothing of this cycle's issue group is chosen yet."""
        for scheduler in range(self._schedulers):
            self._wanted[scheduler] = 0

    def take(self, first: int, count: int) -> bool:
        """Whether so many uops that follow each other have a place each in a scheduler of their units; if so,
        those places are wanted. Uops that need more places than there are wait until it is empty."""
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
        """One of several schedulers might not take a whole issue group."""
        for scheduler in range(self._schedulers):
            if self._held[scheduler] + self._width > self._sizes[scheduler]:
                self.lacking = scheduler
                return True
        return False

    def _emptiest(self, units: int) -> int:
        """Of the schedulers that feed some of these units the one with the most places left."""
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
        """A uop has left for this unit."""
        self.occupancy -= 1
        if self.several:
            self._held[self._scheduler_of[unit]] -= 1

    def in_the_way(self, unit: int) -> bool:
        """Whether a uop for this unit takes a place of the scheduler that lacks one."""
        return not self.several or self._scheduler_of[unit] == self.lacking

    def free(self, unit: int) -> int:
        """Free places in the scheduler of a unit."""
        scheduler = self._scheduler_of[unit]
        return self._sizes[scheduler] - self._held[scheduler]
