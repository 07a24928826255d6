# The pipeline of a core that counts macro-ops: its stages in the order of a cycle.


cdef class MacroPipeline(Clock):
    """The stages of one microarchitecture, for one run after another."""

    cdef InFlight flight
    cdef Operations operations
    cdef Emulator emulator
    cdef LinesOfOnePage one_page
    cdef MacroRenamer renamer
    cdef MacroScheduler scheduler
    cdef StoreQueue commit
    cdef AddressReplay replay

    def __init__(self, microarchitecture, options, Tables tables):
        super().__init__(microarchitecture, options, tables)
        queues = self.queues
        self.reorder_buffer = ReorderBuffer(tables, microarchitecture, queues)
        self.flight = InFlight()
        self.operations = Operations(tables.program, microarchitecture)
        self.emulator = Emulator(tables, self.operations, options.assume, options.harness)
        self.front_end = make_macro_front_end(
            tables, microarchitecture, queues, self.operations, self.flight
        )
        assert microarchitecture.macro_ops is not None
        self.one_page = LinesOfOnePage(
            tables,
            self.flight,
            microarchitecture.macro_ops.one_page,
            active=options.harness is MeasuredIn.ONE_PAGE,
        )
        macro = MacroTables(tables, queues, self.operations, self.flight)
        memory = MacroMemory(
            macro,
            microarchitecture,
            self.emulator,
            self.one_page,
            make_load_renaming(tables, microarchitecture, self.operations, self.flight),
        )
        self.renamer = MacroRenamer(
            macro,
            microarchitecture,
            memory,
            make_macro_elimination(tables, microarchitecture),
            make_scheduler_choice(tables, microarchitecture, queues, self.flight, options),
            make_late_operands(tables, microarchitecture, self.operations, self.flight),
        )
        self.scheduler = MacroScheduler(
            tables,
            microarchitecture,
            self.operations,
            self.flight,
            make_macro_picker(tables, microarchitecture, self.operations, self.flight, options),
        )
        self.commit = StoreQueue(
            tables,
            microarchitecture,
            self.flight,
            make_macro_store_commit(tables, microarchitecture, self.flight),
        )
        self.replay = AddressReplay(tables, microarchitecture, self.operations, memory, options)

    cdef int begin(self, object block, bint watched, bint followed) except -1:
        self.program.fill(block, self.microarchitecture, self.options)
        self.operations.fill(block)
        self.emulator.follow()
        self.tables.start(watched, followed, True)
        self.queues.start(self.program)
        self.flight.start()
        self.emulator.start()
        self.one_page.start()
        self.reorder_buffer.start()
        self.front_end.start()
        self.renamer.start()
        self.scheduler.start()
        self.commit.start()
        self.replay.start()
        self.start_clock(followed)

    cdef int skip_to(self, int following) except -1 nogil:
        """Skip the cycles up to the following one."""
        cycles = following - self.cycle - 1
        self.tables.reserve_cycles(following)
        self.commit.skip(cycles)
        if self.tables.watched:
            for cycle in range(self.cycle + 1, following):
                self.reorder_buffer.look(cycle)
                self.renamer.tick(cycle)
                self.front_end.tick(cycle)
        else:
            self.front_end.skip(cycles)

    cdef int next_event(self) noexcept nogil:
        """The next cycle in which anything can happen: the next cycle, unless all stages have to wait."""
        cycle = self.cycle
        if (
            self.queues.issued.count > 0
            or self.flight.fresh.count > 0
            or not self.scheduler.waits(cycle)
            or not self.renamer.waits()
            or not self.commit.waits()
        ):
            return cycle + 1
        idle = self.front_end.idle()
        if idle == 0:
            return cycle + 1
        return self.next_of(min(cycle + 1 + idle, self.scheduler.next_event(cycle)))

    cdef int tick(self) except -1 nogil:
        """Simulate one cycle."""
        cycle = self.cycle
        self.tables.reserve()
        self.tables.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        self.reorder_buffer.tick(cycle)
        self.commit.tick(cycle)
        self.least_cycles = self.commit.least_cycles
        self.scheduler.tick(cycle)
        self.renamer.tick(cycle)
        self.front_end.tick(cycle)

    cdef object buffers(self):
        return (*self.front_end.buffers(), *self.renamer.buffers())

    cdef bint between_instructions(self) noexcept nogil:
        """Whether the present state can be recorded. The pages through which lines were read
        are not part of it. A run that has to fill the store queue first does not look for a period."""
        return not self.one_page.active and self.replay.tries > 0 and self.least_cycles == 0

    cdef long long outline(self) noexcept nogil:
        """A hash of the state."""
        cdef long long digest
        digest = self.queues.idq.count
        digest = digest * 31 + self.reorder_buffer.entries.count
        digest = digest * 31 + self.tables.stores - self.flight.oldest_store
        return digest * 31 + self.front_end.outline()

    cdef int record_stages(self, Record state) except -1 nogil:
        """Record the state of the stages. Parts that differ most often come first, because a comparison ends
        there."""
        self.front_end.record(state)
        self.commit.record(state)
        state.add(self.reorder_buffer.entries.count)
        state.add(self.queues.issued.count)
        state.add(self.queues.idq.count)
        end = self._renamed()
        first = self.reorder_buffer.entries.oldest() if self.reorder_buffer.entries.count > 0 else end
        if self.reorder_buffer.entries.count == 0 and self.queues.issued.count > 0:
            first = self.queues.issued.firsts[self.queues.issued.head]
        state.add(first - state.uop)
        state.add(end - state.uop)
        if not state.differs:
            self.scheduler.record(state, first, end)
        if not state.differs:
            self.renamer.record(state)

    cdef int _renamed(self) noexcept nogil:
        """The uop to be renamed next."""
        return self.queues.idq.firsts[self.queues.idq.head] if self.queues.idq.count > 0 else self.tables.uops

    cdef bint stays(self, int rounds, int periods) except -1 nogil:
        """Whether periods of this many rounds follow. Addresses change from round to round and are not in
        the state, so the pattern of overlapping accesses has to repeat as well."""
        uop = self._renamed()
        instance = self.tables.uop[uop].instance if uop < self.tables.uops else self.tables.instances
        return self.replay.repeats(instance, rounds, periods)
