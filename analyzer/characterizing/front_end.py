"""What an instruction takes of the front end: slots of the renamer, decoders, and jumps that fuse with it.

Slots are counted among zero idioms. A NOP may share the slot of its neighbour (Zen 4).

Uops that share a slot are micro-fused, and a jump that takes none is macro-fused. A decoder that no other
one can replace shows in how the cycles grow with NOPs between two instances: by steps of a cycle, as each
instance waits for that decoder, and not evenly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from cyclelens.analyzer.characterizing.instances import ZERO_IDIOM, Variant
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.characterizing.throughput import independent, instances, of_one, spread

_FEWEST, _ENOUGH, _MOST = 24, 2, 400
_SURE = 0.3
"""Slots by which a count may be off."""
_COUNTS = (4, 2, 1)
_TRIES = ((4, 1), (2, 1), (1, 1), (1, 2))
"""Instances, and how often as many zero idioms as are enough. A jump that meets the end of 32 bytes is slow
(Skylake); one avoids that more often than several."""
_MANY = (24, 12)
"""Instances that change memory, each at an address of its own."""
_CONDITIONS = ("O", "NO", "B", "NB", "Z", "NZ", "BE", "NBE", "S", "NS", "P", "NP", "L", "NL", "LE", "NLE")
"""By the number in the code of a jump, as the tables spell them: each beside its contrary."""
_JUMP = 0x70
_NOP = b"\x90"
_NOPS = 96
_AS_MANY = 4
"""Slots of an instruction that no microcode makes, at most."""
_SLOW = 6
"""Cycles: what takes longer would need more NOPs than a decoder lets through evenly."""
_STEP, _EVEN = 0.6, 0.3
"""Cycles that a NOP adds, at least, where an instance waits for its decoder; and by which it adds less
elsewhere, and the cycles of many NOPs may be off what decoders alone take."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """None is what could not be found out."""

    slots: int | None = None
    indexed_slots: int | None = None
    """With an indexed address; None too if it has no address."""
    complex_decoder: bool | None = None
    """Whether only one of the decoders takes it."""
    simple_decoders: int | None = None
    """Decoders beside that one that take what follows in the same cycle."""
    fuses_with: frozenset[str] | None = None
    """Conditional jumps by their names in the tables, without operands: ``JZ``. None too if it writes no
    flags."""


NOTHING = FrontEnd()


class FrontEnds:
    """What a machine shows."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._alone: dict[tuple[int, bytes], float | None] = {}
        self._decoded: float | None = None

    def of(self, variant: Variant) -> FrontEnd:
        """Of one instance among independent ones."""
        slots = self._slots(variant)
        found = FrontEnd(slots)
        if variant.memory is not None and variant.memory.kind == "mem":
            found = replace(found, indexed_slots=self._slots(variant, indexed=True))
        if slots is None:
            return found
        found = replace(found, fuses_with=self._fusing(variant, slots))
        if slots > _AS_MANY or variant.pointers or variant.prepared or variant.jumps:
            return found
        decoders = self._decoders(variant)
        if decoders is None:
            return found
        return replace(found, complex_decoder=decoders[0], simple_decoders=decoders[1])

    def width(self) -> float | None:
        """Slots per cycle."""
        cycles = self._only_slots(_FEWEST)
        return None if cycles is None else _FEWEST / cycles

    def _slots(self, variant: Variant, behind: bytes = b"", *, indexed: bool = False) -> int | None:
        """Of one instance and what stands behind it. Where they are not counted, so many instructions of one
        slot go with it that nothing but the renamer limits, and each slot makes the block 1 / width cycles
        longer. What else the front end waits for makes it longer too, so that the smallest figure counts, if
        another number of instances or of others shows it as well. None if that is no whole number, or all are
        too slow."""
        width = self.width()
        if width is None:
            return None
        after = variant.restoring()
        found: list[float] = []
        for count, times in _TRIES:
            every = instances(variant, count, behind, indexed=indexed)
            run = None if every is None else self._machine.run(b"".join(every) + after)
            if every is None or run is None or isinstance(run, str):
                continue
            counted = of_one(self._machine, variant, count, run, behind, indexed=indexed).slots
            if counted is not None:
                return round(counted)
            if variant.jumps:  # where one leads is fetched anew, whatever stands before it
                return None
            others = times * _ENOUGH * math.ceil(max(run.cycles * width, _FEWEST))
            if others > _MOST:
                continue
            # A uop cache has no room for several instances of many uops in a row.
            together = self._machine.run(spread(every, [ZERO_IDIOM] * others) + after)
            bare = instances(variant, count, indexed=indexed, bare=True) if variant.prepared else None
            alone = self._only_slots(others, b"".join(bare or []) + after)
            if isinstance(together, str) or alone is None:
                return None
            found.append((together.cycles - alone) * width / count)
            if found[0] < 1 + _SURE and abs(found[0] - round(found[0])) < _SURE:
                break  # there are no fewer
        least = sorted(found)[:2]
        # Microcode comes in its own time.
        whole = bool(least) and abs(least[0] - round(least[0])) < _SURE and round(least[0]) <= _AS_MANY
        return round(least[0]) if whole and round(least[0]) == round(least[-1]) else None

    def _only_slots(self, number: int, after: bytes = b"") -> float | None:
        key = number, after
        if key not in self._alone:
            run = self._machine.run(after + ZERO_IDIOM * number)
            self._alone[key] = None if isinstance(run, str) else run.cycles
        return self._alone[key]

    def _fusing(self, variant: Variant, slots: int) -> frozenset[str] | None:
        """The jumps that take no slot behind it. They lead to the next instruction. Contrary ones fuse alike,
        and only one of two is taken, which may cost more."""
        if not any(each.kind == "flags" and each.flags_written for each in variant.facts.operands):
            return None
        found: set[str] = set()
        for number in range(0, len(_CONDITIONS), 2):
            jumps = (bytes([_JUMP + number + contrary, 0]) for contrary in (0, 1))
            if any(self._slots(variant, jump) == slots for jump in jumps):
                found |= {f"J{name}" for name in _CONDITIONS[number : number + 2]}
        return frozenset(found)

    def _decoders(self, variant: Variant) -> tuple[bool, int | None] | None:
        """Whether a single decoder takes the instruction, and how many others work beside it."""
        rate = self._nops_per_cycle()
        first = self._between(variant, 0)
        if rate is None or first is None or first > _SLOW:
            return None
        decoders = round(rate)
        fewest = decoders * max(math.ceil(first - _EVEN) - 1, 0)
        cycles = [self._between(variant, nops) for nops in range(fewest, fewest + 2 * decoders + 2)]
        known = [each for each in cycles if each is not None]
        if len(known) < len(cycles):
            return None
        rises = [behind - before for before, behind in pairwise(known)]
        steps = [number for number, rise in enumerate(rises) if rise > _STEP]
        if not steps and abs(known[-1] - (fewest + len(known)) / rate) < _EVEN:
            return False, None
        flat = all(rise < _EVEN for number, rise in enumerate(rises) if number not in steps)
        if not steps or not flat or any(later - step != decoders for step, later in pairwise(steps)):
            return None
        beside = fewest + steps[-1] - decoders * (round(known[steps[-1]]) - 1)
        return True, min(max(beside, 0), decoders - 1)

    def _nops_per_cycle(self) -> float | None:
        if self._decoded is None:
            run = self._machine.straight(_NOP * _NOPS)
            if isinstance(run, str):
                return None
            self._decoded = _NOPS / run.cycles
        return self._decoded

    def _between(self, variant: Variant, nops: int) -> float | None:
        """Cycles of an instance in straight-line code with so many NOPs behind it; the fewest, as instances
        wait for each other where there are few of them."""
        counts = _MANY if variant.modifies_memory else _COUNTS
        for count in counts:
            code = independent(variant, count, _NOP * nops)
            run = None if code is None else self._machine.straight(code)
            if code is not None and run is not None and not isinstance(run, str):
                return run.cycles / count
        return None
