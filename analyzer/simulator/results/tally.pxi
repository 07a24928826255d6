# Counts events of each instruction's uops in the relevant rounds (uiCA model, 5.3, 5.4).

cdef enum:
    # Groups: an instruction's own uops, the merges before it and the synchronisations before it.
    _OWN_GROUP = 0
    _MERGE_GROUP = 1
    _SYNC_GROUP = 2
    _GROUPS = 3
    _UOPS_FIELD = 0
    _ISSUED = 1
    _EXECUTED = 2
    _DIVIDER_CYCLES = 3
    _SOURCES = 4
    _PORTS = 10
    # Counts per group and instruction: uops, fused uops, uops with a port, cycles of the divider,
    # uops of the IDQ by source, uops by port.
    _TALLY_FIELDS = _PORTS + MOST_UNITS

_DELIVERING = tuple((source, SOURCE_NAMES[source]) for source in (MITE, MS, DSB, LSD))
cdef enum:
    _IDQ_HEAD = 1
    _FUSED_HEAD = 2


@cython.final
cdef class Tally:
    """Sums over the rounds ``first`` to ``last``."""

    cdef Tables tables
    cdef tuple _names
    cdef int _ports
    cdef Program program
    cdef double _rounds
    cdef int[::1] counts  # (group * instructions + instruction) * _TALLY_FIELDS + field.
    cdef int[::1] first_source
    cdef int[::1] eliminated
    cdef int[::1] renamed
    cdef int[::1] collided
    cdef int[::1] stores
    cdef int[::1] gone  # Stores that have left the store queue before the end of the run.
    cdef int[::1] merged
    cdef int[::1] blocked
    cdef int[::1] mistaken  # Loads that could not get forwarded data.
    cdef int[::1] blocked_cycles
    cdef int[::1] blocked_by  # The store that blocked the last of them.
    cdef int[::1] _heads  # Whether each static uop is the first of a fused uop and of an IDQ uop.

    def __init__(self, Tables tables, units, first, last):
        self.tables = tables
        self._names = units.names
        self._ports = len(units.names)
        self.program = tables.program
        self._rounds = float(last - first + 1)
        count = tables.program.instructions
        self.counts = ints(_GROUPS * count * _TALLY_FIELDS)
        self.first_source = ints(count)
        self.eliminated = ints(count)
        self.renamed = ints(count)
        self.collided = ints(count)
        self.stores = ints(count)
        self.gone = ints(count)
        self.merged = ints(count)
        self.blocked = ints(count)
        self.mistaken = ints(count)
        self.blocked_cycles = ints(count)
        self.blocked_by = ints(count)
        self._heads = ints(tables.program.all_uops)
        self._find_heads()
        self._add_rounds(first, last)

    cdef void _find_heads(self) noexcept nogil:
        for fused in range(self.program.all_fused_uops):
            self._heads[self.program.fused_uop[fused].uop0] |= _FUSED_HEAD
        for idq_uop in range(self.program.all_idq_uops):
            self._heads[self.program.fused_uop[self.program.idq_uop[idq_uop].fused0].uop0] |= _IDQ_HEAD

    cdef void _add_rounds(self, int first, int last) noexcept nogil:
        cdef Uop *uop
        count = self.program.instructions
        begin = first * count
        end = (last + 1) * count
        # Sync and merge uops are numbered after their instruction, so uops after the last round are read too.
        for number in range(self.tables.instance[begin].uop0, self.tables.uops):
            uop = &self.tables.uop[number]
            if begin <= uop.instance < end and uop.issued >= 0:
                self._add(number)

    cdef void _add(self, int number) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop
        i = uop.position
        static = uop.static
        block_uop = &self.program.uop[static]
        kind = block_uop.kind
        source = uop.source
        port = uop.port
        group = _OWN_GROUP
        if kind == MERGE:
            group = _MERGE_GROUP
        elif kind == SYNC:
            group = _SYNC_GROUP
        elif block_uop.first and self.first_source[i] == NO_SOURCE:
            self.first_source[i] = source
        place = (group * self.program.instructions + i) * _TALLY_FIELDS
        self.counts[place + _UOPS_FIELD] += 1
        if self._heads[static] & _IDQ_HEAD:
            self.counts[place + _SOURCES + source] += 1
        if self._heads[static] & _FUSED_HEAD:
            self.counts[place + _ISSUED] += 1
        if kind == LOAD:
            self.renamed[i] += uop.renamed
            if uop.blocked and self.tables.store[uop.store].uop != NONE:
                self._add_blocked(number, i)
        self.collided[i] += kind == LOAD and uop.collided
        if kind == STORE_DATA:
            self.stores[i] += 1
            self.gone[i] += self.tables.store[uop.store].left != UNKNOWN
            self.merged[i] += uop.collided
        if port >= 0:
            self.counts[place + _EXECUTED] += 1
            self.counts[place + _PORTS + port] += 1
            self.counts[place + _DIVIDER_CYCLES] += block_uop.divider
        elif port == ELIMINATED:
            self.eliminated[i] += 1

    cdef void _add_blocked(self, int number, int i) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        self.blocked[i] += 1
        self.mistaken[i] += uop.blocked == MISTAKEN
        data = self.tables.store[uop.store].uop
        self.blocked_cycles[i] += uop.executed - self.tables.uop[data].retired
        self.blocked_by[i] = self.tables.uop[data].position

    cdef object usage(self):
        """Averages of the instructions' own uops."""
        return tuple([self._usage(_OWN_GROUP, i) for i in range(self.program.instructions)])

    cdef object merge_usage(self):
        """Averages of the merges before each instruction; None if there are none."""
        return self._extra_usage(_MERGE_GROUP)

    cdef object sync_usage(self):
        """Averages of the synchronisations before each instruction; None if there are none."""
        return self._extra_usage(_SYNC_GROUP)

    cdef object first_sources(self):
        """The source of the first instance of each instruction."""
        return tuple([SOURCE_NAMES[self.first_source[i]] for i in range(self.program.instructions)])

    cdef object not_eliminated(self):
        """Share of each instruction's instances that were not eliminated."""
        count = self.program.instructions
        return tuple([1.0 - self.eliminated[i] / self._rounds for i in range(count)])

    cdef object renamed_loads(self):
        """Loads of each instruction that took over a stored value."""
        return tuple([self.renamed[i] / self._rounds for i in range(self.program.instructions)])

    cdef object colliding_loads(self):
        """Loads of each instruction that had to wait because two others read the same word."""
        return tuple([self.collided[i] / self._rounds for i in range(self.program.instructions)])

    cdef object merging_stores(self):
        """Stores of each instruction that had to be merged with bytes on their way to the cache, as if those
        that have not left behaved like the others."""
        return tuple([self._merging(i) for i in range(self.program.instructions)])

    cdef double _merging(self, int i) noexcept:
        return self.merged[i] * (self.stores[i] / self._rounds) / max(1, self.gone[i])

    cdef object failed_forwards(self):
        """Loads of each instruction that waited until a store had left; None if none did."""
        return tuple([self._failed_forward(i) for i in range(self.program.instructions)])

    cdef object _failed_forward(self, int i):
        if not self.blocked[i]:
            return None
        cycles = self.blocked_cycles[i] / float(self.blocked[i])
        mistaken = 2 * self.mistaken[i] > self.blocked[i]
        return FailedForward(self.blocked[i] / self._rounds, cycles, self.blocked_by[i], mistaken)

    cpdef double busiest_port(self) noexcept:
        """Number of uops on the busiest port, per round."""
        most = 0
        for port in range(self._ports):
            uops = 0
            for row in range(_GROUPS * self.program.instructions):
                uops += self.counts[row * _TALLY_FIELDS + _PORTS + port]
            most = max(most, uops)
        return most / self._rounds

    cdef tuple _extra_usage(self, int group):
        count = self.program.instructions
        rows = range(group * count, (group + 1) * count)
        return tuple(
            [
                self._usage(group, row - rows.start)
                if self.counts[row * _TALLY_FIELDS + _UOPS_FIELD]
                else None
                for row in rows
            ]
        )

    cdef object _usage(self, int group, int i):
        place = (group * self.program.instructions + i) * _TALLY_FIELDS
        rounds = self._rounds
        sources = {}
        for source, name in _DELIVERING:
            if self.counts[place + _SOURCES + source]:
                sources[name] = self.counts[place + _SOURCES + source] / rounds
        ports = {}
        for port in range(len(self._names)):
            if self.counts[place + _PORTS + port]:
                ports[self._names[port]] = self.counts[place + _PORTS + port] / rounds
        return LineUsage(
            sources=sources,
            issued=self.counts[place + _ISSUED] / rounds,
            executed=self.counts[place + _EXECUTED] / rounds,
            ports=ports,
            divider=self.counts[place + _DIVIDER_CYCLES] / rounds,
        )
