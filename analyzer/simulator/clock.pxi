# The clock: advances the stages of a core cycle by cycle and decides when the run ends.

cdef enum:
    _CANCEL_INTERVAL = 64
    _STUCK_CYCLES = 100000


cdef class Clock(Iterations):
    """Common base of the pipelines of all cores; performs one run after another. A pipeline creates the
    stages and orders them within a cycle."""

    cdef int begin(self, object block, bint watched, bint followed) except -1:
        """Prepare a run over a block; nothing of the previous run remains. ``watched``: stages record why
        they refuse; ``followed``: they record where uops come from, when they retire, and the period."""
        pass

    cdef int tick(self) except -1 nogil:
        """Simulate one cycle, with the stages in order."""
        pass

    cdef object buffers(self):
        """The buffers that uops pass through, in order."""
        return ()

    cdef int next_event(self) noexcept nogil:
        """The next cycle in which anything can happen."""
        pass

    cdef int next_of(self, int following) noexcept nogil:
        """The cycle ``following``, or an earlier one in which a uop retires. ``following`` is NEVER or later
        if no event is known; if there is none at all, the next cycle."""
        retirement = self.reorder_buffer.next_retirement(self.cycle)
        if retirement != NONE and retirement < following:
            following = retirement
        return following if following < NEVER else self.cycle + 1

    cdef int skip_to(self, int following) except -1 nogil:
        """Skip the cycles up to the following one."""
        pass

    cdef double pace(self, int min_rounds, int min_cycles) except? -1:
        """Cycles per round (5.2, 5.3) of a full run, which stops early if its state repeats."""
        self.run(min_rounds, min_cycles, True, None)
        first, last = self.reorder_buffer.window(self.rounds_retired(min_rounds, min_cycles))
        return self.reorder_buffer.cycles_per_round(first, last)

    cdef int run(self, int min_rounds, int min_cycles, bint stop_at_period, object cancel) except -1:
        """Run until ``min_rounds`` have passed and more than ``min_cycles`` cycles (5.1) or, if allowed,
        until the pipeline's state repeats, because then the rest is known. Cycles in which nothing can happen
        are skipped, unless ``every_cycle`` is set."""
        cdef bint cancellable = cancel is not None
        with nogil:
            self._run(min_rounds, min_cycles, stop_at_period, cancellable, cancel)

    cdef int _run(
        self, int min_rounds, int min_cycles, bint stop_at_period, bint cancellable, object cancel
    ) except -1 nogil:
        key_rounds = progress = 0
        round_number = NONE
        while True:
            self.visited += 1
            self.tick()
            if (
                self.reorder_buffer.last_round >= min_rounds
                and self.cycle > min_cycles
                and self.cycle > self.least_cycles
            ):
                break
            if self.reorder_buffer.key_rounds != key_rounds:
                key_rounds = self.reorder_buffer.key_rounds
                if self.period_cycles == 0 and self.repeats(min_rounds, min_cycles) and stop_at_period:
                    break
            if cancellable and self.visited % _CANCEL_INTERVAL == 0:
                with gil:
                    if cancel():
                        raise Cancelled
            if self.reorder_buffer.last_round != round_number:
                progress = self.cycle
                round_number = self.reorder_buffer.last_round
            elif self.cycle - progress > _STUCK_CYCLES:
                with gil:
                    raise SimulationStuck(f"no iteration retires in {_STUCK_CYCLES} cycles")
            following = self.cycle + 1 if self.every_cycle else self.next_event()
            if self.reorder_buffer.last_round >= min_rounds:
                following = min(following, max(min_cycles, self.least_cycles) + 1)
            if following > self.cycle + 1:
                self.skip_to(following)
                self.cycle = following
            else:
                self.cycle += 1

    cdef tuple settle(self, int rounds, object cancel):
        """Run on until uops issue as fast as they retire.

        Returns the cycle after which they do, a later cycle, and the number of rounds issued in between.
        That is the first period of the repeating states, or the second half of ``rounds`` if they do not
        repeat. All uops issued by then have retired.
        """
        if self.period_cycles == 0 and self.reorder_buffer.last_round < rounds:
            self.cycle += 1
            self.run(rounds, 0, True, cancel)
        if self.period_cycles:
            begin = self.period_begin
            end = begin + self.period_cycles
            rounds = self.period_rounds
        else:
            last = self.reorder_buffer.last_round
            first = last // 2
            begin = self.issue_of_round(first) - 1
            end = self.issue_of_round(last) - 1
            rounds = last - first
        entries = self.reorder_buffer.entries
        while entries.count > 0 and self.tables.uop[entries.oldest()].issued <= end:
            self.cycle += 1
            self.tick()
        return begin, end, rounds
