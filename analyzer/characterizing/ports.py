"""Which units an instruction can use, found by blocking sets of them with other instructions.

As in section 5.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of Instructions on Intel
Microarchitectures" (Abel and Reineke, 2019): the sets in ascending size, and of the uops that stay on a
blocked set those that belong to a smaller one are subtracted. ``unit_times`` does it without counters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cyclelens.analyzer.characterizing.instances import Variant, breakers, family
from cyclelens.analyzer.characterizing.machines import Machine, Run
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UopKind

UnitNames = frozenset[str]
LOAD, VECTOR_LOAD, STORE = "MOV (R64, M64)", "VMOVUPS (XMM, M128)", "MOV (M64, R64)"

BLOCKING_UOPS = 8
"""Of blocking instructions for every unit of a set, at least. Twice as many as an instruction has uops keep
those away that can go elsewhere."""
_SURE = 0.35
"""Uops by which a count may be off."""
_NOP = b"\x90"
_FAR = 2048
"""Bytes between the instance and the instructions that block units, in memory, and those that these use: one
page, because pages that share their physical memory disturb each other."""
_MOST_BYTES = 4096
"""Of blocking instructions: what a loop may have (``usual_copies``)."""
NO_INSTANCE = "no instance could be made"
SATURATED = 1.1
"""A blocking instruction is as fast as its units let it, within this factor."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """An instruction of one uop whose units are known."""

    variant: Variant
    rank: tuple[float, ...] = ()
    """Operands by which one waits for another; less than 0, the registers that there are to choose from;
    cycles; bytes, as the front end delivers short code faster. The least is best."""
    units: tuple[UnitNames, ...] = ()
    """Of all its uops: a store has two, of its address and of its data."""


_POOL = re.compile(
    "(ADD_01|AESENC|ANDN|BEXTR|BLENDPS|BT|CMOVNB|CMP|CVTPS2PD|IMUL|JNZ|KANDB|MAXPS|MOVMSKPS|MULPS|PABSB|PADDB|PADDD|PALIGNR|PAND|PMULLW"
    "|POPCNT|PSADBW|PSHUFB|PSHUFD|PSIGNB|PSLLD|PSLLDQ|PUNPCKLBW|ROL|SETNB|VADDPS|VMULPS|VPADDB|VPAND|VPERMD|VPMULLD"
    "|VPSHUFB|VPSLLVD|VPTERNLOGD) "
)
"""Names of variants among which there is an instruction of one uop for every set of units."""


_DIGITS = "0123456789ABCDEF"
_NO_MEMORY = ("reg", "flags", "imm", "relbr")


def pool(store: FactsStore, microarchitecture: str) -> list[InstructionFacts]:
    """Variants to block units with, whatever is wanted otherwise."""
    return [
        facts
        for form in store.forms()
        for facts in store.candidates(microarchitecture, form)
        if facts.name in (LOAD, VECTOR_LOAD, STORE)
        or (_POOL.match(facts.name) and all(each.kind in _NO_MEMORY for each in facts.operands))
    ]


def seen(run: Run) -> UnitNames:
    """The units that a run used."""
    return frozenset(name for name, uops in (run.units or {}).items() if uops > 0.01)


def stated(facts: InstructionFacts, model: Microarchitecture) -> UnitNames:
    """The units of an instruction of one uop by the tables; none of all others, and of moves between classes
    of registers, which keep more busy than is stated (on Zen a unit of either side)."""
    known = (table_ports(facts, model) or {}) if len(classes(facts)) == 1 else {}
    return next(iter(known)) if list(known.values()) == [1] else frozenset()


def classes(facts: InstructionFacts) -> frozenset[str]:
    """Of the registers that hold its values: the first letters of their families."""
    return frozenset(
        family(each.registers[0])[0] for each in facts.operands if each.kind == "reg" and not each.opmask
    )


class Blockers:
    """For every set of units the fastest instruction of one uop that uses these and no others."""

    def __init__(self) -> None:
        self._by_units: dict[UnitNames, Blocker] = {}

    def offer_stores(self, store: Variant, model: Microarchitecture) -> None:
        """Take a store for the units of addresses and of data. No instruction uses only one of these sets, so
        that the core must say which they are."""
        roles = (Role.STORE_ADDRESS, Role.STORE_DATA)
        used = tuple(frozenset(model.units.having(role).names) for role in roles)
        blocker = Blocker(store, units=tuple(filter(None, used)))
        for units in blocker.units:
            self._by_units.setdefault(units, blocker)

    def offer(self, variant: Variant, run: Run, units: UnitNames) -> None:
        """Take the instruction if it has a single uop and keeps these units busy."""
        if run.uops is None or abs(run.uops - 1) > 0.05 or not units or breakers(variant, frozenset()):
            return
        if not 1 / SATURATED < run.cycles * len(units) < SATURATED or variant.wide:
            return
        known = self._by_units.get(units)
        # Few registers are free: what reads none that it writes, none that is always the same, nor flags,
        # waits for nothing.
        own = sum(
            each.read and (each.written or each.kind == "flags" or len(each.registers) == 1)
            for each in variant.facts.operands
        )
        choice = min((len(each.registers) for each in variant.registers), default=0)
        size = len(variant.encode(variant.choose() or {}) or b"")
        rank = own, -choice, round(run.cycles, 2), size
        if known is None or rank < known.rank:
            self._by_units[units] = Blocker(variant, rank, (units,))

    def ascending(self) -> list[tuple[UnitNames, Blocker]]:
        """The smallest sets first."""
        return sorted(self._by_units.items(), key=lambda item: (len(item[0]), sorted(item[0])))


def table_ports(facts: InstructionFacts, model: Microarchitecture) -> dict[UnitNames, int] | None:
    """The units of the tables; None where they say nothing."""
    if facts.base.ports is None:
        return None
    found: dict[UnitNames, int] = {}
    for name, count in facts.base.ports:
        use = model.units.use(name, count)
        if use.kind is not UopKind.EMPTY:
            units = frozenset(use.units.names)
            found[units] = found.get(units, 0) + count
    return found


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a variant, and what goes with it."""

    code: bytes
    bare: bytes
    """What stands before it alone, so that it can be taken off."""
    after: bytes
    """What leads pointers back, behind the last instance."""
    taken: frozenset[str]
    """Families of registers that blocking instructions may not touch."""
    wide: bool = False

    @staticmethod
    def of(variant: Variant) -> Instance | None:
        """With registers chosen; None if there are none."""
        chosen = variant.choose()
        code = None if chosen is None else variant.encode(chosen)
        if chosen is None or code is None:
            return None
        before, bare = variant.before(chosen, len(code)), variant.before(chosen, 0)
        # A jump would fuse with what stands before it.
        apart = _NOP if variant.jumps and not bare else b""
        taken = frozenset(family(name) for name in chosen.values()) | variant.fixed()
        return Instance(apart + before + code, apart + bare, variant.restoring(), taken, variant.wide)


def text(ports: Mapping[UnitNames, int]) -> str:
    """``1*p0156+2*p5`` or ``1*FP03``, as uops.info writes it."""
    parts = sorted((len(units), _named(units), count) for units, count in ports.items())
    return "+".join(f"{count}*{units}" for _, units, count in parts) or "0"


def _named(units: UnitNames) -> str:
    """Ports as hexadecimal digits behind ``p``, other units as their common name and their numbers."""
    if all(name.isdecimal() for name in units):
        return "p" + "".join(_DIGITS[number] for number in sorted(map(int, units)))
    by_name: dict[str, list[str]] = {}
    for unit in sorted(units):
        name = unit.rstrip("0123456789")
        by_name.setdefault(name, []).append(unit.removeprefix(name))
    return "".join(name + "".join(numbers) for name, numbers in by_name.items())


def linear_program(ports: Mapping[UnitNames, int]) -> float:
    """The cycles of the busiest unit, if uops are spread as well as possible: the uops that must stay within
    a union of sets, over its size, for the worst union."""
    unions = {frozenset[str]()}
    for units in ports:
        unions |= {units | union for union in unions}
    return max(
        (
            sum(count for units, count in ports.items() if units <= union) / len(union)
            for union in unions
            if union
        ),
        default=0.0,
    )


def usage(
    machine: Machine, variant: Variant, blockers: Blockers, uops: float
) -> Mapping[UnitNames, int] | str:
    """Uops by the set of units that they can use, where uops and units are counted: how many it has."""
    instance = Instance.of(variant)
    if instance is None:
        return NO_INSTANCE
    found: dict[UnitNames, int] = {}
    for units, blocker in blockers.ascending():
        if sum(found.values()) >= round(uops):
            break
        if blocker.variant.jumps and not (variant.jumps and round(uops) == 1):
            continue  # one jump a cycle is taken, so that its unit waits for others some of the time
        count = max(BLOCKING_UOPS, 2 * round(uops)) * len(units)
        block = blocking(blocker.variant, count, instance.taken)
        if block is None:
            continue
        alone = machine.run(b"".join(block) + instance.bare + instance.after)
        both = machine.run(b"".join(block) + instance.code + instance.after)
        if isinstance(alone, str) or isinstance(both, str):
            continue
        stay = both_less(both, alone, units) or 0.0
        stay -= sum(count for smaller, count in found.items() if smaller < units)
        if stay > 1 - _SURE:
            found[units] = round(stay)
    missing = round(uops) - sum(found.values())
    return found if missing == 0 else f"{missing} of {uops:.0f} uops fit no set of units that can be blocked"


def both_less(both: Run, alone: Run, units: UnitNames) -> float | None:
    """Uops that stay on units, by counters; None if these do not count all of them."""
    if both.units is None or alone.units is None or not units <= both.units.keys():
        return None
    return sum(both.units[name] - alone.units.get(name, 0.0) for name in units)


def blocking(variant: Variant, count: int, taken: frozenset[str]) -> list[bytes] | None:
    """Instances of a blocking instruction that touch none of the registers that are taken."""
    made: list[bytes] = []
    used, size = taken, 0
    while size < _MOST_BYTES and len(made) < count:
        chosen = variant.choose(None, used)
        place = _FAR + (count - len(made)) * variant.apart % _FAR
        code = None if chosen is None else variant.encode(chosen, place)
        if chosen is None or code is None:
            if used == taken:
                return None
            used = taken
            continue
        targets = [each.index for each in variant.registers if each.written]
        used |= {family(chosen[index]) for index in targets}
        made.append(code)
        size += len(code)
    return made
