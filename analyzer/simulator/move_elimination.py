"""Move elimination: which register moves the renamer executes by itself (Y1 to Y4; uiCA model, 3.9.3)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.program import GPR_CLASS, SIMD_CLASS

_CLASSES = (GPR_CLASS, SIMD_CLASS)


class MoveElimination:
    """Counts the values that several registers share, per class; alias sets are bit masks of keys."""

    def __init__(self, microarchitecture: Microarchitecture) -> None:
        self._slots = (
            microarchitecture.move_elimination_gpr_slots,
            microarchitecture.move_elimination_simd_slots,
        )
        self._length = microarchitecture.move_elimination_pipeline_length
        self._all_gpr = microarchitecture.all_gpr_aliases_overwritten
        self._aliases: tuple[dict[int, int], dict[int, int]] = ({}, {})
        # Of the latest renamer cycles, newest last.
        self._eliminated = ([0] * self._length, [0] * self._length)
        self._shared = ([0] * self._length, [0] * self._length)
        self._now = [0, 0]

    def start_cycle(self) -> None:
        """The renamer begins a cycle."""
        self._now[:] = (0, 0)

    def decide(self, register_class: int) -> bool:
        """Whether the next move of this class in the cycle is eliminated."""
        if register_class not in _CLASSES:
            return False
        free = (
            self._slots[register_class]
            - self._now[register_class]
            - sum(self._eliminated[register_class][1:])
            - self._shared[register_class][0]
        )
        if free <= 0:
            return False
        self._now[register_class] += 1
        return True

    def decided(self) -> None:
        """All decisions of the cycle are made: values with one alias left may be dropped (Y1)."""
        for register_class in _CLASSES:
            if self._now[register_class] or (register_class == GPR_CLASS and self._all_gpr):
                continue
            aliases = self._aliases[register_class]
            for value in [v for v, mask in aliases.items() if mask & (mask - 1) == 0]:
                del aliases[value]

    def share(self, register_class: int, value: int, source: int, target: int) -> None:
        """An eliminated move makes two registers hold one value (Y2)."""
        aliases = self._aliases[register_class]
        aliases[value] = aliases.get(value, 0) | 1 << source | 1 << target

    def overwrite(self, register_class: int, value: int, key: int) -> None:
        """A register no longer holds the value (Y3)."""
        if register_class in _CLASSES:
            aliases = self._aliases[register_class]
            if value in aliases:
                aliases[value] &= ~(1 << key)

    def end_cycle(self) -> None:
        """Record the cycle's figures (Y4)."""
        for register_class in _CLASSES:
            aliases = self._aliases[register_class]
            for value in [v for v, mask in aliases.items() if not mask]:
                del aliases[value]
            self._eliminated[register_class].append(self._now[register_class])
            self._eliminated[register_class].pop(0)
            self._shared[register_class].append(len(aliases))
            self._shared[register_class].pop(0)
