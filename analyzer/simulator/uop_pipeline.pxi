# The pipeline of a core that counts uops: its stages in the order of a cycle.


cdef class UopPipeline(Clock):
    """The stages of one microarchitecture, for one run after another."""

    cdef Entries entries
    cdef Memory memory
    cdef Resources resources
    cdef Renamer renamer
    cdef Binding binding
    cdef Scheduler scheduler
    cdef Picker _picker
    cdef StoreBuffer store_buffer
    cdef bint _repeatable

    def __init__(self, microarchitecture, options, Tables tables):
        super().__init__(microarchitecture, options, tables)
        queues = self.queues
        entries = Entries(tables, microarchitecture)
        memory = Memory(tables, options.assume, lines_matter(microarchitecture))
        commit = make_store_commit(tables, microarchitecture)
        self.reorder_buffer = ReorderBuffer(
            tables, microarchitecture, queues, commit, options.unfused_reorder_buffer
        )
        self.entries = entries
        self.memory = memory
        self.front_end = make_front_end(tables, microarchitecture, queues, options)
        self.resources = Resources(tables, microarchitecture, queues, options)
        elimination = make_elimination(tables, microarchitecture)
        self.renamer = Renamer(
            tables,
            microarchitecture,
            queues,
            memory,
            IssueGroup(
                tables,
                microarchitecture,
                queues,
                self.resources,
                entries,
                options.unfused_reorder_buffer,
            ),
            elimination,
            make_addition(tables, microarchitecture),
            make_memory_renaming(tables, microarchitecture, options),
        )
        self.binding = make_binding(tables, microarchitecture, queues, entries, options)
        self._picker = make_picker(tables, microarchitecture, entries, self.binding)
        self.scheduler = Scheduler(tables, microarchitecture, queues, self._picker)
        self.store_buffer = StoreBuffer(tables, microarchitecture)

        # The recorded state does not include the random generator.
        self._repeatable = options.port_seed is None

    cdef int begin(self, object block, bint watched, bint followed) except -1:
        program = self.program
        program.fill(block, self.microarchitecture, self.options)
        self.tables.start(watched, followed, self.program.exact_memory)
        self.queues.start(program)
        self.entries.start()
        self.memory.start()
        self.resources.start()
        self.renamer.start()
        self.binding.start()
        self.scheduler.start()
        self.reorder_buffer.start()
        self.store_buffer.start()
        self.front_end.start()
        self.start_clock(followed)

    cdef int skip_to(self, int following) except -1 nogil:
        """Skip the cycles up to the following one."""
        cdef bint full
        cycles = following - self.cycle - 1
        full = self._full()
        self.scheduler.skip(cycles)
        self.tables.reserve_cycles(following)
        if self.tables.watched:
            self._watch(following, full)
        else:
            self.front_end.skip(cycles)
            if not full:
                self.renamer.pass_by(cycles)

    cdef int _watch(self, int following, bint full) except -1 nogil:
        """Record what uops wait for in the cycles up to the following one."""
        for cycle in range(self.cycle + 1, following):
            if full:
                self.renamer.stand(cycle)
            else:
                self.renamer.tick(cycle)
            self.reorder_buffer.look(cycle)
            self.front_end.tick(cycle)

    cdef int next_event(self) noexcept nogil:
        """The next cycle in which anything can happen: the next cycle, unless front end, issue and scheduler
        have to wait."""
        cycle = self.cycle
        if (
            self.queues.issued.count > 0
            or not self.scheduler.waits(cycle)
            or not (self._full() or self.queues.idq.count == 0 or self._held())
            or not self.binding.settled()
            or (self.program.exact_memory and not self.store_buffer.waits())
        ):
            return cycle + 1
        idle = self.front_end.idle()
        if idle == 0:
            return cycle + 1
        return self.next_of(min(cycle + 1 + idle, self.scheduler.next_event(cycle)))

    cdef bint _full(self) noexcept nogil:
        """Whether no issue group is selected in the next cycle."""
        return self.reorder_buffer.full() or self.entries.full()

    cdef bint _held(self) noexcept nogil:
        """Whether the next instruction waits for a retirement and there was none in this cycle."""
        return (
            self.renamer.held() and self.reorder_buffer.entries.count > 0 and self.reorder_buffer.retired == 0
        )

    cdef int tick(self) except -1 nogil:
        """Simulate one cycle, with the stages in order (uiCA model, 3.2)."""
        cycle = self.cycle
        self.tables.reserve()
        self.tables.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        if self._full():
            self.renamer.stand(cycle)
        else:
            self.renamer.tick(cycle)
        self.reorder_buffer.tick(cycle)
        if self.program.exact_memory:
            self.store_buffer.tick(cycle)
        self.scheduler.wake(cycle)
        self.binding.tick()
        self.scheduler.tick(cycle)
        self.least_cycles = self._picker.least_cycles
        self.front_end.tick(cycle)

    cdef object buffers(self):
        return (*self.front_end.buffers(), *self.entries.buffers(), self.reorder_buffer.buffer())

    cdef bint between_instructions(self) noexcept nogil:
        """Whether the present state can be recorded."""
        return self._repeatable and self.renamer.between_instructions

    cdef long long outline(self) noexcept nogil:
        """A hash of the state."""
        cdef long long digest
        digest = self.queues.idq.count
        digest = digest * 31 + self.front_end.outline()
        digest = digest * 31 + self.reorder_buffer.entries.count
        digest = digest * 31 + self.reorder_buffer.key_position[self.reorder_buffer.key_rounds - 1]
        digest = digest * 31 + self.entries.occupancy
        return digest * 31 + self.binding.outline()

    cdef int record_stages(self, Record state) except -1 nogil:
        """Record the state of the stages. Parts that differ most often come first, because a comparison ends
        there."""
        self.binding.record(state)
        if not state.differs:
            self.reorder_buffer.record(state)
        if not state.differs:
            self.scheduler.record(state)
            self.front_end.record(state)
        if not state.differs:
            self.renamer.record(state)
        if not state.differs:
            self.memory.record(state, self.reorder_buffer.entries)
            if self.program.exact_memory:
                self.store_buffer.record(state)
            if self.resources.limited:
                self.resources.record(state)
