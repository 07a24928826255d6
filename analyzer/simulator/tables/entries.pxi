# Scheduler entries: taken when a uop is bound to a unit, freed when it leaves for the unit.


@cython.final
cdef class Entries:
    """A single scheduler accepts no issue group unless it has room for a whole one; so do Intel's cores with
    several schedulers (P3). On other makers' cores each scheduler needs an entry for the next uop."""

    cdef Tables tables
    cdef Program program
    cdef int _width
    cdef int _schedulers
    cdef bint several
    cdef bint _whole_groups
    cdef bint by_uop  # Whether entries are requested uop by uop (``take``).
    cdef tuple _names
    cdef int[::1] _sizes
    cdef int _limit  # With more entries taken, a single scheduler has no room for a whole issue group.
    cdef int[::1] _held  # Entries taken in each of several schedulers.
    cdef int[::1] _wanted  # Entries that the uops selected so far for this cycle's group will take.
    cdef int[::1] _before
    cdef int _units
    cdef int[::1] _scheduler_of
    cdef int lacking  # The scheduler that had no entry at the latest request.
    cdef int occupancy  # Entries taken in all schedulers.

    def __init__(self, Tables tables, microarchitecture):
        self.tables = tables
        self.program = tables.program
        self._width = microarchitecture.issue_width
        sizes = microarchitecture.scheduler_sizes
        self._schedulers = len(sizes)
        self.several = self._schedulers > 1
        self._whole_groups = self.several and microarchitecture.schedulers_take_whole_groups
        self.by_uop = self.several and not self._whole_groups
        self._names = tuple([each.buffer for each in microarchitecture.schedulers]) or (
            "RS",
        )
        self._sizes = ints(self._schedulers)
        self._limit = sizes[0] - self._width
        self._held = ints(self._schedulers)
        self._wanted = ints(self._schedulers)
        self._before = ints(self._schedulers)
        self._units = len(microarchitecture.units)
        self._scheduler_of = ints(self._units)
        for scheduler, size in enumerate(sizes):
            self._sizes[scheduler] = size
        for unit, scheduler in enumerate(microarchitecture.scheduler_of_units):
            self._scheduler_of[unit] = scheduler

    cdef void start(self) noexcept nogil:
        """Reset to empty."""
        self.lacking = NONE
        self.occupancy = 0
        for scheduler in range(self._schedulers):
            self._held[scheduler] = 0
            self._wanted[scheduler] = 0

    cdef bint full(self) noexcept nogil:
        """Whether a scheduler that takes whole issue groups may not have room for one."""
        if self.several:
            return self._whole_groups and self._lacks()
        return self.occupancy > self._limit

    cdef object buffers(self):
        """All schedulers."""
        group = 1 if self.by_uop else self._width
        return tuple(
            [Buffer(name, size, size - group) for name, size in zip(self._names, self._sizes, strict=True)]
        )

    cdef void start_group(self) noexcept nogil:
        """Begin this cycle's issue group; nothing is selected yet."""
        for scheduler in range(self._schedulers):
            self._wanted[scheduler] = 0

    cdef bint take(self, int first, int count) noexcept nogil:
        """Whether ``count`` consecutive uops each find an entry in a scheduler of their units; if so,
        reserve them. Uops that need more entries than exist wait until the scheduler is empty."""
        for scheduler in range(self._schedulers):
            self._before[scheduler] = self._wanted[scheduler]
        for uop in range(first, first + count):
            units = self.program.uop[self.tables.uop[uop].static].port_mask
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

    cdef bint _lacks(self) noexcept nogil:
        """Whether one of several schedulers may not have room for a whole issue group."""
        for scheduler in range(self._schedulers):
            if self._held[scheduler] + self._width > self._sizes[scheduler]:
                self.lacking = scheduler
                return True
        return False

    cdef int _emptiest(self, int units) noexcept nogil:
        """The scheduler with the most free entries among those that feed some of these units."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1:
                scheduler = self._scheduler_of[unit]
                if best == NONE or self._left(scheduler) > self._left(best):
                    best = scheduler
        return best

    cdef int _left(self, int scheduler) noexcept nogil:
        return self._sizes[scheduler] - self._held[scheduler] - self._wanted[scheduler]

    cdef void enter(self, int unit) noexcept nogil:
        """A uop was bound to this unit."""
        self.occupancy += 1
        if self.several:
            self._held[self._scheduler_of[unit]] += 1

    cdef void leave(self, int unit) noexcept nogil:
        """A uop left for this unit."""
        self.occupancy -= 1
        if self.several:
            self._held[self._scheduler_of[unit]] -= 1

    cdef bint in_the_way(self, int unit) noexcept nogil:
        """Whether a uop for this unit occupies the scheduler that lacks an entry."""
        return not self.several or self._scheduler_of[unit] == self.lacking

    cdef int free(self, int unit) noexcept nogil:
        """Free entries in the scheduler of a unit."""
        scheduler = self._scheduler_of[unit]
        return self._sizes[scheduler] - self._held[scheduler]
