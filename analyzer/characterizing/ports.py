"""Which units an instruction can use, found by blocking sets of them with other instructions.

As in section 5.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of Instructions on Intel
Microarchitectures" (Abel and Reineke, 2019): the sets in ascending size, and of the uops that stay on a
blocked set those that belong to a smaller one are subtracted. Without counters, a uop that cannot leave a set
of N units makes the block 1 / N cycles longer.
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
LOAD, STORE = "MOV (R64, M64)", "MOV (M64, R64)"

BLOCKING_UOPS = 8
"""Of blocking instructions for every unit of a set, at least. Twice as many as an instruction has uops keep
those away that can go elsewhere."""
_MORE_BLOCKING_UOPS, _INSTANCES = 24, 4
"""Where only cycles tell: of blocking instructions, and of instances beside them."""
_SURE = 0.35
"""Uops by which a count may be off."""
_ROOM = 0.5
"""Slots per cycle that blocked units leave, at least; otherwise the front end would limit."""
_NOP = b"\x90"
_FAR = 2048
"""Bytes between the instance and the instructions that block units, in memory, and those that these use: one
page, because pages that share their physical memory disturb each other."""
_SATURATED = 1.1
"""A blocking instruction is as fast as its units let it, within this factor."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """An instruction of one uop whose units are known."""

    variant: Variant
    cycles: float


_POOL = re.compile(
    "(ADD_01|AESENC|ANDN|BEXTR|BLENDPS|BT|CMOVNB|CMP|CVTPS2PD|IMUL|JNZ|KANDB|MAXPS|MOVMSKPS|MULPS|PABSB|PADDB|PADDD|PALIGNR|PAND|PMULLW"
    "|POPCNT|PSADBW|PSHUFB|PSHUFD|PSIGNB|PSLLD|PSLLDQ|PUNPCKLBW|ROL|SETNB|VADDPS|VMULPS|VPADDB|VPAND|VPERMD|VPMULLD"
    "|VPSHUFB|VPSLLVD|VPTERNLOGD) "
)
"""Names of variants among which there is an instruction of one uop for every set of units."""


_NO_MEMORY = ("reg", "flags", "imm", "relbr")


def pool(store: FactsStore, microarchitecture: str) -> list[InstructionFacts]:
    """Variants to block units with, whatever is wanted otherwise."""
    return [
        facts
        for form in store.forms()
        for facts in store.candidates(microarchitecture, form)
        if facts.name in (LOAD, STORE)
        or (_POOL.match(facts.name) and all(each.kind in _NO_MEMORY for each in facts.operands))
    ]


def seen(run: Run) -> UnitNames:
    """The units that a run used."""
    return frozenset(name for name, uops in (run.units or {}).items() if uops > 0.01)


def stated(facts: InstructionFacts, model: Microarchitecture) -> UnitNames:
    """The units of an instruction of one uop by the tables; none of all others, and of moves between classes
    of registers, which keep more busy than is stated (on Zen a unit of either side)."""
    classes = {family(each.registers[0])[0] for each in facts.operands if each.kind == "reg"}
    known = (table_ports(facts, model) or {}) if len(classes) == 1 else {}
    return next(iter(known)) if list(known.values()) == [1] else frozenset()


class Blockers:
    """For every set of units the fastest instruction of one uop that uses these and no others."""

    def __init__(self) -> None:
        self._by_units: dict[UnitNames, Blocker] = {}

    def offer_stores(self, store: Variant, model: Microarchitecture) -> None:
        """Take a store for the units of addresses and of data. No instruction uses only one of these sets, so
        that the core must say which they are."""
        for role in (Role.STORE_ADDRESS, Role.STORE_DATA):
            units = frozenset(model.units.having(role).names)
            if units:
                self._by_units.setdefault(units, Blocker(store, 1.0))

    def offer(self, variant: Variant, run: Run, units: UnitNames) -> None:
        """Take the instruction if it has a single uop and keeps these units busy."""
        if run.uops is None or abs(run.uops - 1) > 0.05 or not units or breakers(variant, frozenset()):
            return
        # While 512-bit uops wait, some units take no vector uop at all.
        if not 1 / _SATURATED < run.cycles * len(units) < _SATURATED or any(
            each.width == 512 for each in variant.registers
        ):
            return
        known = self._by_units.get(units)
        if known is None or run.cycles < known.cycles - 0.01:
            self._by_units[units] = Blocker(variant, run.cycles)

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
    machine: Machine, variant: Variant, blockers: Blockers, uops: float | None, slots: int, width: float
) -> Mapping[UnitNames, int] | str:
    """Uops by the set of units that they can use. ``uops``: how many it has, None where they are not counted;
    ``slots`` of the renamer, which takes ``width`` a cycle."""
    counted = uops is not None
    most = float(slots) if uops is None else uops
    if uops is None and variant.memory is None and not variant.pointers:
        uops = most  # only what accesses memory shares a slot
    chosen = variant.choose()
    code = None if chosen is None else variant.encode(chosen)
    if chosen is None or code is None:
        return "no instance could be made"
    taken = frozenset(family(name) for name in chosen.values()) | variant.fixed()
    before, bare = variant.before(chosen, len(code)), variant.before(chosen, 0)
    # A jump would fuse with what stands before it.
    apart = _NOP if variant.jumps and not bare else b""
    after = variant.restoring()
    least, instances = BLOCKING_UOPS, 1
    if not counted:
        # What a cycle more or less at the ends of the block does is shared by several, unless they are slow.
        least, instances = _MORE_BLOCKING_UOPS, max(1, _INSTANCES // max(1, slots))
        waiting = machine.run((before + code) * instances + after)
        if isinstance(waiting, str) or waiting.cycles > least / 2:
            instances = 1
    found: dict[UnitNames, int] = {}
    unseen: list[UnitNames] = []
    for units, blocker in blockers.ascending():
        if uops is not None and sum(found.values()) >= round(uops):
            break
        if blocker.variant.jumps and not (variant.jumps and uops is not None and round(uops) == 1):
            continue  # one jump a cycle is taken, so that its unit waits for others some of the time
        if not counted and len(units) > width - _ROOM:
            unseen.append(units)
            continue
        count = max(least, 2 * round(most)) * len(units)
        block = _block(blocker.variant, count, taken)
        if block is None:
            continue
        alone = machine.run(block + (apart + bare) * instances + after)
        both = machine.run(block + (apart + before + code) * instances + after)
        if isinstance(alone, str) or isinstance(both, str):
            continue
        if both.units is not None and alone.units is not None and units <= both.units.keys():
            stay = sum(both.units[name] - alone.units.get(name, 0.0) for name in units) / instances
        else:
            stay = (both.cycles - alone.cycles) * len(units) / instances
        stay -= sum(count for smaller, count in found.items() if smaller < units)
        if stay > 1 - _SURE:
            found[units] = round(stay)
    if not counted:
        return _without_counters(variant, found, unseen, slots)
    missing = round(most) - sum(found.values())
    return found if missing == 0 else f"{missing} of {most:.0f} uops fit no set of units that can be blocked"


def _without_counters(
    variant: Variant, found: dict[UnitNames, int], unseen: list[UnitNames], slots: int
) -> Mapping[UnitNames, int] | str:
    """What the cycles tell. As many units as the renamer has slots cannot be blocked: what has a slot and no
    other unit uses these."""
    total = sum(found.values())
    if variant.memory is not None or variant.pointers:
        if unseen:
            return "uops that can use as many units as the renamer has slots cannot be seen without counters"
        if not found and variant.facts.category != "WIDENOP":
            return "nothing stays on the units that the tables know"
        return found if total <= 2 * slots else "more uops stay on blocked units than two for each slot"
    if total == slots or not any(each.written or each.flags_written for each in variant.facts.operands):
        return found
    if total < slots and len(unseen) == 1:
        return found | {unseen[0]: slots - total}
    return f"{slots - total} of {slots} uops fit no set of units that can be blocked"


def _block(variant: Variant, count: int, taken: frozenset[str]) -> bytes | None:
    """Instances of a blocking instruction that touch none of the registers that are taken."""
    code, used, first = b"", taken, None
    while len(code) < 4096 and count:
        chosen = variant.choose(first, used)
        place = _FAR + count * variant.apart % _FAR
        made = None if chosen is None else variant.encode(chosen, place)
        if chosen is None or made is None:
            if used == taken:
                return None
            used = taken
            continue
        targets = [each.index for each in variant.registers if each.written]
        used |= {family(chosen[index]) for index in targets}
        code += made
        count -= 1
    return code
