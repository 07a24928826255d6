"""Moves are eliminated while there are slots for values that registers share (Y1 to Y4; uiCA model,
3.9.3)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.tables.arrays import Column, Long, Record, ints, longs
from cyclelens.analyzer.simulator.tables.columns import Columns

_CLASSES = 2
_GPR = 0


class SharedSlots(Elimination):
    """The values that several registers share, in two lists (one per register class). Alias sets are bit
    masks of keys. Histories hold the latest renamer cycles in a ring, the oldest at ``oldest``."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        super().__init__()
        self._program = columns.program
        self._slots = ints(_CLASSES)
        self._slots[0] = microarchitecture.move_elimination_gpr_slots
        self._slots[1] = microarchitecture.move_elimination_simd_slots
        self.length = microarchitecture.move_elimination_pipeline_length
        self._all_gpr = microarchitecture.all_gpr_aliases_overwritten
        self.now = ints(_CLASSES)
        self.eliminated = ints(_CLASSES * self.length)
        self.shared = ints(_CLASSES * self.length)
        self._recent = ints(_CLASSES)
        """Sums of ``eliminated``."""
        self._issue_width = microarchitecture.issue_width
        self.entries = 0
        self.entry_class = ints(0)

    def start(self) -> None:
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
        most = self._program.keys + 2 * self._issue_width
        if most > len(self.entry_class):
            self.entry_class = ints(2 * most)
            self.entry_value = ints(2 * most)
            self.entry_mask = longs(2 * most)

    def record(self, state: Record, value: Column) -> None:
        """Record this part of the pipeline's state. ``value``: the renamer's column of current values."""
        for register_class in range(_CLASSES):
            for age in range(self.length):
                position = register_class * self.length + (self.oldest + age) % self.length
                state.add(self.eliminated[position])
                state.add(self.shared[position])
        for entry in range(self.entries):
            state.add(self.entry_class[entry])
            state.add(self.entry_mask[entry])
            for position in range(self._program.used_keys):
                key = self._program.used_key[position]
                if value[key] == self.entry_value[entry]:
                    state.add(key)

    def start_cycle(self) -> None:
        """The renamer begins a cycle."""
        self.now[0] = 0
        self.now[1] = 0

    def decide(self, register_class: int) -> bool:
        """Whether the next move of this class in the cycle is eliminated."""
        if register_class < 0:
            return False
        oldest = register_class * self.length + self.oldest
        recent = self._recent[register_class] - self.eliminated[oldest]
        if self._slots[register_class] - self.now[register_class] - self.shared[oldest] - recent <= 0:
            return False
        self.now[register_class] += 1
        return True

    def decided(self) -> None:
        """All decisions of the cycle are made: values with one alias left may be dropped (Y1)."""
        if self.entries == 0:
            return
        kept = 0
        for entry in range(self.entries):
            register_class = self.entry_class[entry]
            mask = self.entry_mask[entry]
            keeps: bool = self.now[register_class] > 0 or (register_class == _GPR and self._all_gpr)
            if keeps or mask & (mask - 1):
                self._move(entry, kept)
                kept += 1
        self.entries = kept

    def _move(self, entry: int, target: int) -> None:
        self.entry_class[target] = self.entry_class[entry]
        self.entry_value[target] = self.entry_value[entry]
        self.entry_mask[target] = self.entry_mask[entry]

    def share(self, value: int, source: int, target: int) -> None:
        """An eliminated move makes two registers hold one value (Y2)."""
        register_class = self._program.key_class[source]
        entry = self._find(register_class, value)
        if entry < 0:
            entry = self.entries
            self.entry_class[entry] = register_class
            self.entry_value[entry] = value
            self.entry_mask[entry] = 0
            self.entries = entry + 1
        both: Long = self._program.key_bit[source] | self._program.key_bit[target]
        self.entry_mask[entry] |= both
        self.members |= both

    def overwrite(self, value: int, key: int) -> None:
        """A register no longer holds the value (Y3)."""
        entry = self._find(self._program.key_class[key], value)
        if entry >= 0:
            self.entry_mask[entry] &= ~self._program.key_bit[key]

    def _find(self, register_class: int, value: int) -> int:
        for entry in range(self.entries):
            if self.entry_value[entry] == value and self.entry_class[entry] == register_class:
                return entry
        return -1

    def end_cycle(self) -> None:
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
