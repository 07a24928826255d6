"""The latencies that a record states, and what holds where it states none (V2, O5, O9)."""

from __future__ import annotations

from cyclelens.analyzer.model.facts import InstructionFacts, Latency

_NOT_STATED = Latency()


class LatencyTable:
    """The effective latency table: the base figures, or all same-register figures (V2)."""

    def __init__(self, facts: InstructionFacts, *, same_register: bool) -> None:
        self._pairs = facts.latencies
        self._same_register = same_register

    def starts_at(self, start: int) -> bool:
        """True if some pair of this table begins at the operand."""
        return any(
            key[0] == start and (pair.same_register if self._same_register else pair.cycles) is not None
            for key, pair in self._pairs.items()
        )

    def plain(self, start: int, target: int) -> int:
        pair = self._pairs.get((start, target), _NOT_STATED)
        cycles = pair.same_register if self._same_register else pair.cycles
        return 1 if cycles is None else cycles

    def address(self, start: int, target: int, role: str | None) -> int:
        if self._same_register:
            return 1
        pair = self._pairs.get((start, target), _NOT_STATED)
        cycles = pair.address_index if role == "index" else pair.address
        return 1 if cycles is None else cycles

    def after_load(self, start: int, target: int, *, from_others: bool) -> int | None:
        """Cycles from a loaded value to the result where the record states no cycles from the memory operand:
        those of a register in its place or, with ``from_others``, of the slowest other source. None where it
        states some, or neither is known (O9)."""
        pair = self._pairs.get((start, target), _NOT_STATED)
        if self._same_register or pair.address is not None or pair.memory is not None:
            return None
        if pair.after_load is not None:
            return pair.after_load
        if not from_others:
            return None
        return max(
            (
                other.cycles
                for (source, result), other in self._pairs.items()
                if result == target and source != start and other.cycles is not None
            ),
            default=None,
        )

    def memory(self, start: int, target: int) -> int:
        cycles = None if self._same_register else self._pairs.get((start, target), _NOT_STATED).memory
        return 1 if cycles is None else cycles
