"""Which units an instruction can use, found from cycles alone.

Instances stand one by one among many more instructions that keep a set of units busy. What can go elsewhere
mostly does so; a uop that must stay makes the block about 1 / N cycles longer, where the set has N units.
This also holds where the renamer chooses the units: on Zen 4 24 ``imul`` take 24.0 cycles with 24 ``shl``
among them, but 37.0 with the ``shl`` in one go behind them.

It holds only about, so that nothing is read from one figure. The blocking instructions themselves, whose
units are known, are tried among each other first: this is what a uop of each set adds to each block on this
machine. The units of an instruction are the sum of such uops that adds as much to every block. Where several
sums do, the machine cannot tell them apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cyclelens.analyzer.characterizing.instances import Variant
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.characterizing.ports import (
    NO_INSTANCE,
    SATURATED,
    Blocker,
    Blockers,
    Instance,
    UnitNames,
    blocking,
    both_less,
    classes,
    linear_program,
    text,
)
from cyclelens.analyzer.characterizing.throughput import spread

Units = tuple[UnitNames, ...]
"""Of a uop, or of the two of a store."""

_BLOCKING_UOPS, _COUNTS = 24, (4, 2)
"""Of blocking instructions for every unit, at least, and of instances among them: what a cycle more or less
at the ends of the block does is shared by several. Where units come out in an unlucky order with so many,
fewer may still show a sum."""
_LONGEST = 96
"""Blocking uops for every unit, at most: slower instances are fewer."""
_SURE = 0.35
"""Uops by which a figure may be off a sum."""
_NONE = 0.15
"""Uops that a block adds by chance, at most."""
_ROOM = 0.5
"""Slots per cycle that blocked units leave, at least; otherwise the front end would limit."""
_FUSED = 2
"""Uops that share a slot, at most."""
_MOST_SLOTS = 8
"""Of more slots there are too many sums."""
_NAMED = 4
"""Sums that a row names, where they cannot be told apart."""


@dataclass(frozen=True, slots=True)
class KnownUops:
    """What uops of known units add to each block, in uops of its set."""

    units: Units
    adds: Mapping[UnitNames, float]

    @property
    def blurred(self) -> bool:
        """Whether it adds to a block that it could avoid, so that what several add is not their sum."""
        return any(
            uops > _NONE and not any(own <= units for own in self.units) for units, uops in self.adds.items()
        )


class UnitTimes:
    """What a machine shows."""

    def __init__(self, machine: Machine, blockers: Blockers, units: UnitNames, width: float) -> None:
        self._machine = machine
        every = [(units, blocker) for units, blocker in blockers.ascending() if not blocker.variant.jumps]
        seen = [each for each in every if len(each[0]) <= width - _ROOM]
        self._unseen = [each for each in every if len(each[0]) > width - _ROOM]
        self._blockers = {units: each for units, each in seen if self._keeps_busy(units, each)}
        self._idle = units.difference(*(each for each, _ in every))
        """Units that no instruction is known to block."""
        self._accessing = frozenset(
            each for _, blocker in every if blocker.variant.memory is not None for each in blocker.units
        )
        """Sets of units of loads and stores."""
        self._tried = {id(blocker): blocker for _, blocker in seen}.values()
        self._known: dict[int, list[KnownUops]] = {}

    def usage(
        self, variant: Variant, slots: int, cycles: float, *, only_loads: bool = False
    ) -> Mapping[UnitNames, int] | str:
        """Uops by the set of units that they can use, or why that is not certain. ``cycles``: of throughput,
        which no answer may exceed. ``only_loads``: its latency shows that it does no more."""
        instance = Instance.of(variant)
        if instance is None:
            return NO_INSTANCE
        vectors = [units for units, each in self._blockers.items() if "V" in classes(each.variant.facts)]
        if instance.wide and all(map(self._disturbed, vectors)):
            return "no units of vectors can be blocked beside 512-bit uops"
        if slots > _MOST_SLOTS:
            return "more uops than can be told apart by cycles"
        for number in _COUNTS:
            known = self._among_each_other(number)
            combined = list(sums(self._added(instance, number), known, _FUSED * max(1, slots)))
            if combined:
                break
        blurred = {each.units[0] for each in known if each.blurred}
        if any(blurred & each.keys() and self._computing(each) > 1 for each in combined):
            return "cycles do not tell apart what several uops add to units that they could avoid"
        every = {
            text(answer): answer
            for each in combined
            for answer in ([each] if only_loads and each else self._with_unseen(variant, each, slots))
            if linear_program(answer) < cycles * SATURATED
        }
        if len(every) == 1:
            return next(iter(every.values()))
        as_slow = [each for each in every.values() if linear_program(each) * SATURATED > cycles]
        if len(as_slow) == 1 and {self._computing(each) for each in every.values()} == {1}:
            return as_slow[0]  # of the sets for its one operation no other explains the throughput
        if not every:
            return "what stays on blocked units is no sum of uops of known units"
        names = sorted(every, key=len)
        return "cycles do not tell apart: " + " or ".join(names[:_NAMED]) + ", ..." * (len(names) > _NAMED)

    def _with_unseen(
        self, variant: Variant, found: Mapping[UnitNames, int], slots: int
    ) -> Iterator[Mapping[UnitNames, int]]:
        """The sum with uops that no block shows, because they use as many units as the renamer has slots: as
        many as there are slots, or as may share them with loads and stores. These write no flags."""
        total = sum(found.values())
        fused = any(each.kind == "mem" for each in variant.facts.operands)
        silent = not any(each.written or each.flags_written for each in variant.facts.operands)
        own = classes(variant.facts)
        unseen = [units for units, each in self._unseen if not own or own & classes(each.variant.facts)]
        if not total and not silent and (fused or not unseen):
            return  # nothing stays on the units that are known
        if not total and not any(each.read or each.flags_read for each in variant.facts.operands):
            yield {}  # what is always the same the renamer may write
        least, most = (0, 0) if silent and not total else (slots - total, slots - total)
        if fused:
            computing = any(each.flags_written for each in variant.facts.operands)
            least = max(int(computing and not self._computing(found)), slots - total)
            most = _FUSED * slots - total
        if not unseen:
            if total >= slots or self._idle or not total:
                yield found
            if self._idle and (_leaves_vectors(variant) or total < slots):
                yield Counter(found) + Counter({self._idle: max(1, slots - total)})
            return
        for more in range(max(0, least), most + 1) if most >= 0 else ():
            for units in unseen if more else unseen[:1]:
                yield Counter(found) + Counter({units: more})

    def _computing(self, found: Mapping[UnitNames, int]) -> int:
        """Uops that are neither loads nor stores."""
        return sum(uops for units, uops in found.items() if units not in self._accessing)

    def _among_each_other(self, number: int) -> list[KnownUops]:
        """What so many of each blocking instruction add."""
        if number not in self._known:
            made = [(each.units, Instance.of(each.variant)) for each in self._tried]
            self._known[number] = [
                KnownUops(units, self._added(instance, number))
                for units, instance in made
                if instance is not None
            ]
        return self._known[number]

    def _disturbed(self, units: UnitNames) -> bool:
        """Whether what blocks them may change its units beside 512-bit uops."""
        blocker = self._blockers[units]
        return len(units) > 1 and "V" in classes(blocker.variant.facts)

    def _keeps_busy(self, units: UnitNames, blocker: Blocker) -> bool:
        """Whether a block of the instruction takes as long as its units need."""
        block = blocking(blocker.variant, _BLOCKING_UOPS * len(units), frozenset())
        run = "" if block is None else self._machine.run(b"".join(block))
        return not isinstance(run, str) and run.cycles < _BLOCKING_UOPS * SATURATED

    def _added(self, instance: Instance, number: int) -> dict[UnitNames, float]:
        """Uops that stay, by blocked set; of so many instances, or of one that is slow."""
        waiting = self._machine.run(instance.code * number + instance.after)
        longest = 0.0 if isinstance(waiting, str) else 2 * waiting.cycles
        if longest > _LONGEST:
            number, longest = 1, _LONGEST
        count = math.ceil(max(longest, _BLOCKING_UOPS))
        added = {}
        for units, blocker in self._blockers.items():
            if instance.wide and self._disturbed(units):
                continue
            block = blocking(blocker.variant, count * len(units), instance.taken)
            if block is None:
                continue
            alone = self._machine.run(spread([instance.bare] * number, block) + instance.after)
            both = self._machine.run(spread([instance.code] * number, block) + instance.after)
            if not isinstance(alone, str) and not isinstance(both, str):
                counted = both_less(both, alone, units)
                cycles = both.cycles - alone.cycles
                added[units] = (cycles * len(units) if counted is None else counted) / number
        return added


def _leaves_vectors(variant: Variant) -> bool:
    """Whether a value goes from vector registers to memory or other registers, or there, for which processors
    have units that no known instruction keeps busy."""
    found = classes(variant.facts)
    stores = any(each.kind == "mem" and each.written for each in variant.facts.operands)
    return "V" in found and (stores or len(found) > 1)


def sums(
    added: Mapping[UnitNames, float], known: list[KnownUops], most: int
) -> Iterator[Mapping[UnitNames, int]]:
    """Uops of known units, so many at most, that together add as much to every block."""
    seen = [each for each in known if any(each.adds.get(units, 0.0) > _SURE for units in added)]

    def search(first: int, left: Mapping[UnitNames, float], room: int) -> Iterator[tuple[Units, ...]]:
        if all(abs(uops) <= _SURE for uops in left.values()):
            yield ()
        for place in range(first, len(seen) if room else first):
            adds = seen[place].adds
            rest = {units: uops - adds.get(units, 0.0) for units, uops in left.items()}
            if all(uops >= -_SURE for uops in rest.values()):
                for others in search(place, rest, room - 1):
                    yield (seen[place].units, *others)

    for chosen in search(0, added, most):
        yield Counter(units for each in chosen for units in each)
