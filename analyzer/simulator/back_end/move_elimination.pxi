# Moves are eliminated while there are slots for values that registers share (Y1 to Y4; uiCA model,
# 3.9.3).

cdef enum:
    _CLASSES = 2
    _GPR = 0


cdef class SharedSlots(Elimination):
    """The values that several registers share, in two lists (one per register class). Alias sets are bit
    masks of keys. Histories hold the latest renamer cycles in a ring, the oldest at ``oldest``."""

    cdef Program program
    cdef int[::1] _slots
    cdef int length
    cdef bint _all_gpr
    cdef int[::1] now
    cdef int[::1] eliminated
    cdef int[::1] shared
    cdef int[::1] _recent  # Sums of ``eliminated``.
    cdef int _issue_width
    cdef int entries
    cdef int[::1] entry_class
    cdef int oldest
    cdef int[::1] entry_value
    cdef long long[::1] entry_mask

    def __init__(self, Tables tables, microarchitecture):
        super().__init__()
        self.program = tables.program
        self._slots = ints(_CLASSES)
        self._slots[0] = microarchitecture.move_elimination_gpr_slots
        self._slots[1] = microarchitecture.move_elimination_simd_slots
        self.length = microarchitecture.move_elimination_pipeline_length
        self._all_gpr = microarchitecture.all_gpr_aliases_overwritten
        self.now = ints(_CLASSES)
        self.eliminated = ints(_CLASSES * self.length)
        self.shared = ints(_CLASSES * self.length)
        self._recent = ints(_CLASSES)
        self._issue_width = microarchitecture.issue_width
        self.entries = 0
        self.entry_class = ints(0)

    cdef int start(self) except -1:
        """Reset: no value is shared."""
        for position in range(_CLASSES * self.length):
            self.eliminated[position] = 0
            self.shared[position] = 0
        for register_class in range(_CLASSES):
            self._recent[register_class] = 0
        self.oldest = 0
        self.entries = 0
        self.members = 0
        # A key is in at most one alias set, and empty sets are removed at the end of a cycle.
        most = self.program.keys + 2 * self._issue_width
        if most > len(self.entry_class):
            self.entry_class = ints(2 * most)
            self.entry_value = ints(2 * most)
            self.entry_mask = longs(2 * most)

    cdef int record(self, Record state, int[::1] value) except -1 nogil:
        """Record this part of the pipeline's state. ``value``: the renamer's current values by key."""
        for register_class in range(_CLASSES):
            for age in range(self.length):
                position = register_class * self.length + (self.oldest + age) % self.length
                state.add(self.eliminated[position])
                state.add(self.shared[position])
        for entry in range(self.entries):
            state.add(self.entry_class[entry])
            state.add(self.entry_mask[entry])
            for position in range(self.program.used_keys):
                key = self.program.used_key[position]
                if value[key] == self.entry_value[entry]:
                    state.add(key)

    cdef void start_cycle(self) noexcept nogil:
        """The renamer begins a cycle."""
        self.now[0] = 0
        self.now[1] = 0

    cdef bint decide(self, int register_class) noexcept nogil:
        """Whether the next move of this class in the cycle is eliminated."""
        if register_class < 0:
            return False
        oldest = register_class * self.length + self.oldest
        recent = self._recent[register_class] - self.eliminated[oldest]
        if self._slots[register_class] - self.now[register_class] - self.shared[oldest] - recent <= 0:
            return False
        self.now[register_class] += 1
        return True

    cdef void decided(self) noexcept nogil:
        """All decisions of the cycle are made: values with one alias left may be dropped (Y1)."""
        cdef bint keeps
        if self.entries == 0:
            return
        kept = 0
        for entry in range(self.entries):
            register_class = self.entry_class[entry]
            mask = self.entry_mask[entry]
            keeps = self.now[register_class] > 0 or (register_class == _GPR and self._all_gpr)
            if keeps or mask & (mask - 1):
                self._move(entry, kept)
                kept += 1
        self.entries = kept

    cdef void _move(self, int entry, int target) noexcept nogil:
        self.entry_class[target] = self.entry_class[entry]
        self.entry_value[target] = self.entry_value[entry]
        self.entry_mask[target] = self.entry_mask[entry]

    cdef void share(self, int value, int source, int target) noexcept nogil:
        """An eliminated move makes two registers hold one value (Y2)."""
        cdef long long both
        register_class = self.program.key_class[source]
        entry = self._find(register_class, value)
        if entry < 0:
            entry = self.entries
            self.entry_class[entry] = register_class
            self.entry_value[entry] = value
            self.entry_mask[entry] = 0
            self.entries = entry + 1
        both = self.program.key_bit[source] | self.program.key_bit[target]
        self.entry_mask[entry] |= both
        self.members |= both

    cdef void overwrite(self, int value, int key) noexcept nogil:
        """A register no longer holds the value (Y3)."""
        entry = self._find(self.program.key_class[key], value)
        if entry >= 0:
            self.entry_mask[entry] &= ~self.program.key_bit[key]

    cdef int _find(self, int register_class, int value) noexcept nogil:
        for entry in range(self.entries):
            if self.entry_value[entry] == value and self.entry_class[entry] == register_class:
                return entry
        return -1

    cdef void end_cycle(self) noexcept nogil:
        """Record the eliminations of the cycle (Y4)."""
        kept = 0
        self.members = 0
        for entry in range(self.entries):
            if self.entry_mask[entry]:
                self.members |= self.entry_mask[entry]
                self._move(entry, kept)
                kept += 1
        self.entries = kept
        for register_class in range(_CLASSES):
            position = register_class * self.length + self.oldest
            self._recent[register_class] += self.now[register_class] - self.eliminated[position]
            self.eliminated[position] = self.now[register_class]
            self.shared[position] = 0
        for entry in range(self.entries):
            self.shared[self.entry_class[entry] * self.length + self.oldest] += 1
        self.oldest += 1
        if self.oldest == self.length:
            self.oldest = 0
