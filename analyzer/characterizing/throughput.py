"""Throughput: cycles of an instance among others that do not depend on it."""

from __future__ import annotations

import math
from dataclasses import replace

from cyclelens.analyzer.characterizing.instances import Variant, breakers, family
from cyclelens.analyzer.characterizing.machines import Machine, Run

_INSTANCES = (1, 2, 3, 4, 6, 8, 9, 10)
_MORE_INSTANCES = (16, 24)
"""Where instances also wait for those before them that changed the same memory."""
_SLOT = bytes.fromhex("4531e4")
"""``xor r12d, r12d``: a slot and no unit on every core. A NOP may share the slot of its neighbour (Zen 4)."""
_FEWEST, _ENOUGH, _MOST = 24, 2, 400
_SURE = 0.3
"""Slots by which a count may be off."""


def independent(variant: Variant, count: int, breaking: bytes = b"") -> bytes | None:
    """So many instances with destinations of their own, each followed by ``breaking``; sources are never
    written. None without registers."""
    code, used = b"", frozenset[str]()
    sources: dict[int, str] = {}
    for number in range(count):
        chosen = variant.choose(sources, used)
        made = None if chosen is None else variant.encode(chosen, number * variant.apart)
        if chosen is None or made is None:
            return None
        if number == 0:
            sources = {
                each.index: family(chosen[each.index])
                for each in variant.registers
                if not each.written and len(each.registers) > 1
            }
        targets = [each.index for each in variant.registers if each.written]
        used |= {family(chosen[index]) for index in targets}
        code += made + breaking
    return code


def throughput(machine: Machine, variant: Variant) -> Run | str:
    """The fewest cycles of an instance, and what it executes, over several numbers of instances, with and
    without instructions that break the dependences through what is not named: behind each instance, or, as
    they take slots too, behind the last one."""
    best: Run | str = "no instance could be made"
    breaking = breakers(variant, frozenset())
    for count in _INSTANCES + _MORE_INSTANCES * variant.modifies_memory:
        for extra, last in ((b"", b""), (breaking, b""), (b"", breaking)) if breaking else ((b"", b""),):
            code = independent(variant, count, extra)
            if code is None:
                return best
            run = machine.run(code + last)
            if isinstance(run, str):
                return run
            cycles = run.cycles / count
            if isinstance(best, str) or cycles < best.cycles:
                # Of uops and units the instances alone tell, not what breaks their dependences.
                if isinstance(best, str) or not extra + last:
                    units = None if run.units is None else {n: u / count for n, u in run.units.items()}
                    best = Run(cycles, None if run.uops is None else run.uops / count, units)
                else:
                    best = replace(best, cycles=cycles)
    return best


class Slots:
    """Counts the slots that an instruction takes in the front end, where uops are not counted: so many
    instructions of one slot go with it that nothing but the front end limits. Each slot makes the block
    1 / width cycles longer."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[int, float | None] = {}

    def width(self) -> float | None:
        """Slots per cycle."""
        cycles = self._alone(_FEWEST)
        return None if cycles is None else _FEWEST / cycles

    def of(self, variant: Variant) -> int | None:
        """Of one instance; None if it shows no whole number, or is too slow."""
        width = self.width()
        if width is None:
            return None
        for count in (4, 2, 1):
            code = independent(variant, count)
            run = None if code is None else self._machine.run(code)
            if code is None or run is None or isinstance(run, str):
                continue
            others = _ENOUGH * math.ceil(max(run.cycles * width, _FEWEST))
            if others > _MOST:
                continue
            together, alone = self._machine.run(code + _SLOT * others), self._alone(others)
            if isinstance(together, str) or alone is None:
                return None
            slots = (together.cycles - alone) * width / count
            if abs(slots - round(slots)) < _SURE:
                return round(slots)
        return None

    def _alone(self, slots: int) -> float | None:
        if slots not in self._known:
            run = self._machine.run(_SLOT * slots)
            self._known[slots] = None if isinstance(run, str) else run.cycles
        return self._known[slots]
