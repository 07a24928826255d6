"""Measures an instruction's use of the front end: rename slots, decoders, and jumps that fuse with it.

Slots are counted among zero idioms, because a NOP may share the slot of its neighbour (Zen 4).

Uops that share a slot are micro-fused, and a jump that takes no slot is macro-fused. An instruction that
needs the complex decoder shows it as NOPs are added between two instances: the cycles grow in whole steps,
because each instance waits for that decoder, and not evenly. Microcode shows the same steps, with no other
decoder beside it; only counters tell how many of its uops come from the decoder and how many from the
sequencer.
"""

from __future__ import annotations

import math
from itertools import pairwise

from cyclelens.analyzer.characterizing.instances import ZERO_IDIOM, EncodableVariant
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun
from cyclelens.analyzer.characterizing.throughput import independent, instances, of_one, spread
from msgspec import Struct
from msgspec.structs import replace

_FEWEST, _ENOUGH, _MOST = 24, 2, 400
_SURE = 0.3
"""Tolerance of a slot count, in slots."""
_COUNTS = (4, 2, 1)
_TRIES = ((4, 1), (2, 1), (1, 1), (1, 2))
"""Instances, and the multiple of the necessary number of zero idioms.

A jump at the end of 32 bytes is slow (Skylake); a single instance avoids that more often than several."""
_MANY = (24, 12)
"""Numbers of instances that change memory, each at an address of its own."""
_CONDITIONS = ("O", "NO", "B", "NB", "Z", "NZ", "BE", "NBE", "S", "NS", "P", "NP", "L", "NL", "LE", "NLE")
"""Conditions by their number in a jump's encoding, as the tables spell them; opposites are neighbours."""
_JUMP = 0x70
_NOP = b"\x90"
_NOPS = 96
_AS_MANY = 4
"""Most slots of an instruction that is not microcoded."""
_SLOW, _SLOW_MICROCODE = 6, 40
"""Most cycles; a slower instruction would need more NOPs than a decoder handles evenly. Microcode takes
longer in the front end itself."""
_STEP, _EVEN = 0.6, 0.3
"""Least cycles that a NOP adds where an instance waits for its decoder; and tolerance elsewhere.

The tolerance holds for other NOPs, and for the cycles of many NOPs compared with decoders alone."""


class FrontEnd(Struct, frozen=True):
    """Front-end figures of a variant; None marks what could not be determined."""

    slots: int | None = None
    indexed_slots: int | None = None
    """Slots with an indexed address; also None if it has no address."""
    complex_decoder: bool | None = None
    """Whether only one of the decoders handles it."""
    simple_decoders: int | None = None
    """Other decoders that handle following instructions in the same cycle."""
    decoded: int | None = None
    """Uops from the decoders; None if they are not counted."""
    microcode: int | None = None
    """Uops from the microcode sequencer; None if they are not counted."""
    fuses_with: frozenset[str] | None = None
    """Conditional jumps by their names in the tables, without operands: ``JZ``. Also None if it writes no
    flags."""


NOTHING = FrontEnd()


class FrontEnds:
    """Measures the front end of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._alone: dict[tuple[int, bytes], float | None] = {}
        self._decoded: float | None = None

    def of(self, variant: EncodableVariant) -> FrontEnd:
        """Front-end figures of one instance among independent ones."""
        slots = self._slots(variant)
        found = FrontEnd(slots)
        if variant.memory is not None and variant.memory.kind == "mem":
            found = replace(found, indexed_slots=self._slots(variant, indexed=True))
        if slots is not None:
            found = replace(found, fuses_with=self._fusing(variant, slots))
        if variant.pointers or variant.prepared or variant.jumps:
            return found
        delivered = self._delivered(variant)
        if delivered is not None:
            found = replace(found, decoded=delivered[0], microcode=delivered[1])
        microcoded = bool(found.microcode) or slots is None or slots > _AS_MANY
        decoders = self._decoders(variant, microcoded=microcoded)
        if decoders is None or (slots is None and not decoders[0]):
            return found
        return replace(found, complex_decoder=decoders[0], simple_decoders=decoders[1])

    def width(self) -> float | None:
        """Slots per cycle."""
        cycles = self._only_slots(_FEWEST)
        return None if cycles is None else _FEWEST / cycles

    def _slots(self, variant: EncodableVariant, behind: bytes = b"", *, indexed: bool = False) -> int | None:
        """Slots of one instance and the code ``behind`` it.

        If slots are not counted, enough one-slot instructions accompany it that only the renamer limits, and
        each slot makes the block 1 / width cycles longer. Other front-end stalls also make it longer, so the
        smallest figure counts, if another number of instances or fillers confirms it. None if that is not a
        whole number, or all are too slow."""
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
            if variant.jumps:  # the front end fetches a jump's target again, whatever precedes it
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
        # Microcode has its own delivery rate.
        whole = bool(least) and abs(least[0] - round(least[0])) < _SURE and round(least[0]) <= _AS_MANY
        return round(least[0]) if whole and round(least[0]) == round(least[-1]) else None

    def _only_slots(self, number: int, after: bytes = b"") -> float | None:
        key = number, after
        if key not in self._alone:
            run = self._machine.run(after + ZERO_IDIOM * number)
            self._alone[key] = None if isinstance(run, str) else run.cycles
        return self._alone[key]

    def _fusing(self, variant: EncodableVariant, slots: int) -> frozenset[str] | None:
        """Jumps that take no slot after it.

        They lead to the next instruction. Opposite conditions fuse alike, and only one of the two is taken,
        which may cost more."""
        if not any(each.kind == "flags" and each.flags_written for each in variant.facts.operands):
            return None
        found: set[str] = set()
        for number in range(0, len(_CONDITIONS), 2):
            jumps = (bytes([_JUMP + number + contrary, 0]) for contrary in (0, 1))
            if any(self._slots(variant, jump) == slots for jump in jumps):
                found |= {f"J{name}" for name in _CONDITIONS[number : number + 2]}
        return frozenset(found)

    def _delivered(self, variant: EncodableVariant) -> tuple[int, int] | None:
        """Uops of one instance from the decoders and from the microcode sequencer."""
        run = self._apart(variant, 0)
        if run is None or run.decoded is None or run.microcode is None:
            return None
        return round(run.decoded), round(run.microcode)

    def _decoders(self, variant: EncodableVariant, *, microcoded: bool) -> tuple[bool, int | None] | None:
        """Whether only a single decoder handles the instruction, and how many others work beside it."""
        rate = self._nops_per_cycle()
        first = self._between(variant, 0)
        if rate is None or first is None or first > (_SLOW_MICROCODE if microcoded else _SLOW):
            return None
        decoders = round(rate)
        if microcoded:
            fewest = self._growing(variant, first, 2 * decoders)
        else:
            fewest = decoders * max(math.ceil(first - _EVEN) - 1, 0)
        if fewest is None:
            return None
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
        return True, (fewest + steps[-1]) % decoders

    def _growing(self, variant: EncodableVariant, first: float, window: int) -> int | None:
        """NOPs from which on the decoders limit microcode, whose sequencer or units hide fewer of them."""
        before = first
        for nops in range(window, window * math.ceil(first) + 1, window):
            behind = self._between(variant, nops)
            if behind is None:
                return None
            if behind - before > _STEP:
                return nops
            before = behind
        return None

    def _nops_per_cycle(self) -> float | None:
        if self._decoded is None:
            run = self._machine.straight(_NOP * _NOPS)
            if isinstance(run, str):
                return None
            self._decoded = _NOPS / run.cycles
        return self._decoded

    def _between(self, variant: EncodableVariant, nops: int) -> float | None:
        """Cycles of ``_apart``."""
        run = self._apart(variant, nops)
        return None if run is None else run.cycles

    def _apart(self, variant: EncodableVariant, nops: int) -> RepeatedRun | None:
        """Fewest cycles of an instance in straight-line code followed by ``nops`` NOPs, and its deliveries.

        With few NOPs, instances wait for each other, so the fewest cycles count."""
        counts = _MANY if variant.modifies_memory else _COUNTS
        for count in counts:
            code = independent(variant, count, _NOP * nops)
            run = None if code is None else self._machine.straight(code)
            if run is not None and not isinstance(run, str):
                return RepeatedRun(
                    run.cycles / count,
                    decoded=None if run.decoded is None else run.decoded / count - nops,
                    microcode=None if run.microcode is None else run.microcode / count,
                )
        return None
