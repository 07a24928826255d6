"""Finds the units that an instruction can use from cycles alone.

Instances are spread among many more instructions that keep a set of units busy. Uops that can go elsewhere
mostly do; a uop that must stay makes the block about 1 / N cycles longer, where the set has N units.
This also holds where the renamer chooses the units: on Zen 4, 24 ``imul`` take 24.0 cycles with 24 ``shl``
among them, but 37.0 with all ``shl`` after them.

The relation is approximate, so no conclusion rests on one figure. The blocking instructions, whose units are
known, are first tried among each other: this gives what a uop of each set adds to each block on this machine.
The units of an instruction are the sum of such uops that adds as much to every block. If several sums do,
cycles cannot tell them apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from cyclelens.analyzer.characterizing.instances import EncodableVariant
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.characterizing.ports import (
    NO_INSTANCE,
    SATURATED,
    Blocker,
    Instance,
    UnitNames,
    both_less,
    classes,
    linear_program,
    text,
)
from cyclelens.analyzer.characterizing.throughput import spread
from msgspec import Struct

Units = tuple[UnitNames, ...]
"""Set of units of a uop, or the two sets of a store."""

_BLOCKING_UOPS, _COUNTS = 24, (4, 2)
"""Least blocking uops per unit, and numbers of instances among them.

Several instances share the error of a cycle more or less at the ends of the block. If units are chosen in an
unlucky order, fewer instances may still match a sum."""
_LONGEST = 96
"""Most blocking uops per unit; slow instances are fewer."""
_SURE = 0.35
"""Tolerance between a figure and a sum, in uops."""
_NONE = 0.15
"""Most uops that a block adds by chance."""
_ROOM = 0.5
"""Least free slots per cycle while units are blocked; with fewer, the front end would be the limit."""
_FUSED = 2
"""Most uops that share a slot."""
_MOST_SLOTS = 8
"""Most slots of an instruction; with more there are too many sums."""
_NAMED = 4
"""Most indistinguishable sums that a row names."""


class KnownUops(Struct, frozen=True):
    """The increase that uops of known units cause in each block, in uops of the block's set."""

    units: Units
    adds: Mapping[UnitNames, float]

    @property
    def blurred(self) -> bool:
        """Whether it adds to a block that it could avoid, so that several do not add up."""
        return any(
            uops > _NONE and not any(own <= units for own in self.units) for units, uops in self.adds.items()
        )


class UnitTimes:
    """Finds units on one machine from the cycles of its blocks.

    ``blocking``: blocking instructions by set of units, the smallest sets first."""

    def __init__(
        self, machine: Machine, blocking: list[tuple[UnitNames, Blocker]], units: UnitNames, width: float
    ) -> None:
        self._machine = machine
        every = [(units, blocker) for units, blocker in blocking if not blocker.variant.jumps]
        seen = [each for each in every if len(each[0]) <= width - _ROOM]
        self._unseen = [each for each in every if len(each[0]) > width - _ROOM]
        self._blockers = {units: each for units, each in seen if self._keeps_busy(units, each)}
        self._idle = units.difference(*(each for each, _ in every))
        """Units that no known instruction blocks."""
        self._accessing = frozenset(
            each for _, blocker in every if blocker.variant.memory is not None for each in blocker.units
        )
        """Sets of units of loads and stores."""
        self._tried = {id(blocker): blocker for _, blocker in seen}.values()
        self._known: dict[int, list[KnownUops]] = {}

    def usage(
        self, variant: EncodableVariant, slots: int, cycles: float, *, only_loads: bool = False
    ) -> Mapping[UnitNames, int] | str:
        """Number of uops by usable set of units, or why it is uncertain.

        ``cycles``: throughput, which no answer may exceed. ``only_loads``: its latency shows a mere load."""
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
            return "cycles do not show what several uops add to units that they could avoid"
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
            return as_slow[0]  # only this set for its one operation explains the throughput
        if not every:
            return "no sum of known uops explains the uops on blocked units"
        names = sorted(every, key=len)
        return "cycles do not tell apart: " + " or ".join(names[:_NAMED]) + ", ..." * (len(names) > _NAMED)

    def _with_unseen(
        self, variant: EncodableVariant, found: Mapping[UnitNames, int], slots: int
    ) -> Iterator[Mapping[UnitNames, int]]:
        """The sum, extended by uops that no block reveals because they use as many units as there are slots.

        Their number is that of the slots, or of the uops that may share slots with loads and stores, which
        write no flags."""
        total = sum(found.values())
        fused = any(each.kind == "mem" for each in variant.facts.operands)
        silent = not any(each.written or each.flags_written for each in variant.facts.operands)
        own = classes(variant.facts)
        unseen = [units for units, each in self._unseen if not own or own & classes(each.variant.facts)]
        if not total and not silent and (fused or not unseen):
            return  # no uop stays on the known units
        if not total and not any(each.read or each.flags_read for each in variant.facts.operands):
            yield {}  # the renamer may write a constant result
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
        """Number of uops that are neither loads nor stores."""
        return sum(uops for units, uops in found.items() if units not in self._accessing)

    def _among_each_other(self, number: int) -> list[KnownUops]:
        """The increase caused by ``number`` of each blocking instruction."""
        if number not in self._known:
            made = [(each.units, Instance.of(each.variant)) for each in self._tried]
            self._known[number] = [
                KnownUops(units, self._added(instance, number))
                for units, instance in made
                if instance is not None
            ]
        return self._known[number]

    def _disturbed(self, units: UnitNames) -> bool:
        """Whether the units' blocker may use other units while 512-bit uops wait."""
        blocker = self._blockers[units]
        return len(units) > 1 and "V" in classes(blocker.variant.facts)

    def _keeps_busy(self, units: UnitNames, blocker: Blocker) -> bool:
        """Whether a block of the instruction saturates its units."""
        block = blocker.instances(_BLOCKING_UOPS * len(units), frozenset())
        run = "" if block is None else self._machine.run(b"".join(block))
        return not isinstance(run, str) and run.cycles < _BLOCKING_UOPS * SATURATED

    def _added(self, instance: Instance, number: int) -> dict[UnitNames, float]:
        """Uops that stay, by blocked set, from ``number`` instances, or one if it is slow."""
        waiting = self._machine.run(instance.code * number + instance.after)
        longest = 0.0 if isinstance(waiting, str) else 2 * waiting.cycles
        if longest > _LONGEST:
            number, longest = 1, _LONGEST
        count = math.ceil(max(longest, _BLOCKING_UOPS))
        added = {}
        for units, blocker in self._blockers.items():
            if instance.wide and self._disturbed(units):
                continue
            block = blocker.instances(count * len(units), instance.taken)
            if block is None:
                continue
            alone = self._machine.run(spread([instance.bare] * number, block) + instance.after)
            both = self._machine.run(spread([instance.code] * number, block) + instance.after)
            if not isinstance(alone, str) and not isinstance(both, str):
                counted = both_less(both, alone, units)
                cycles = both.cycles - alone.cycles
                added[units] = (cycles * len(units) if counted is None else counted) / number
        return added


def _leaves_vectors(variant: EncodableVariant) -> bool:
    """Whether a value moves between vector registers and memory or other registers.

    Processors have units for this that no known instruction keeps busy."""
    found = classes(variant.facts)
    stores = any(each.kind == "mem" and each.written for each in variant.facts.operands)
    return "V" in found and (stores or len(found) > 1)


def sums(
    added: Mapping[UnitNames, float], known: list[KnownUops], most: int
) -> Iterator[Mapping[UnitNames, int]]:
    """Combinations of known uops, up to a limit, that add as much to every block as was measured."""
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
