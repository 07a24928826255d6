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
from cyclelens.analyzer.model.units import Role

UnitNames = frozenset[str]
LOAD, STORE = "MOV (R64, M64)", "MOV (M64, R64)"

BLOCKING_UOPS = 8
"""Of blocking instructions for every unit of a set, at least. Twice as many as an instruction has uops keep
those away that can go elsewhere."""
_SURE = 0.35
"""Uops by which a count may be off."""
_FAR = 1024
"""Bytes between the instance and the instructions that block units, in memory."""
_SATURATED = 1.1
"""A blocking instruction is as fast as its units let it, within this factor."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """An instruction of one uop whose units are known."""

    variant: Variant
    cycles: float


_POOL = re.compile(
    "(ADD_01|AESENC|ANDN|BEXTR|BLENDPS|BT|CMOVNB|CMP|CVTPS2PD|IMUL|KANDB|MAXPS|MOVMSKPS|MULPS|PABSB|PADDB|PADDD|PALIGNR|PAND|PMULLW"
    "|POPCNT|PSADBW|PSHUFB|PSHUFD|PSIGNB|PSLLD|PSLLDQ|PUNPCKLBW|ROL|SETNB|VADDPS|VMULPS|VPADDB|VPAND|VPERMD|VPMULLD"
    "|VPSHUFB|VPSLLVD|VPTERNLOGD) "
)
"""Names of variants among which there is an instruction of one uop for every set of units."""


def pool(store: FactsStore, microarchitecture: str) -> list[InstructionFacts]:
    """Variants to block units with, whatever is wanted otherwise."""
    return [
        facts
        for form in store.forms()
        for facts in store.candidates(microarchitecture, form)
        if facts.name in (LOAD, STORE)
        or (_POOL.match(facts.name) and all(each.kind in ("reg", "flags", "imm") for each in facts.operands))
    ]


def seen(run: Run) -> UnitNames:
    """The units that a run used."""
    return frozenset(name for name, uops in (run.units or {}).items() if uops > 0.01)


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
        if run.cycles > _SATURATED / len(units) or any(each.width == 512 for each in variant.registers):
            return
        known = self._by_units.get(units)
        if known is None or run.cycles < known.cycles - 0.01:
            self._by_units[units] = Blocker(variant, run.cycles)

    def ascending(self) -> list[tuple[UnitNames, Blocker]]:
        """The smallest sets first."""
        return sorted(self._by_units.items(), key=lambda item: (len(item[0]), sorted(item[0])))


def usage(
    machine: Machine, variant: Variant, blockers: Blockers, uops: float
) -> Mapping[UnitNames, int] | str:
    """Uops by the set of units that they can use."""
    chosen = variant.choose()
    code = None if chosen is None else variant.encode(chosen)
    if chosen is None or code is None:
        return "no instance could be made"
    taken = frozenset(family(name) for name in chosen.values()) | variant.fixed()
    after = variant.restoring()
    found: dict[UnitNames, int] = {}
    for units, blocker in blockers.ascending():
        if sum(found.values()) >= round(uops):
            break
        count = max(BLOCKING_UOPS, 2 * round(uops)) * len(units)
        block = _block(blocker.variant, count, taken)
        if block is None:
            continue
        alone, both = machine.run(block + after), machine.run(block + code + after)
        if isinstance(alone, str) or isinstance(both, str):
            continue
        if both.units is not None and alone.units is not None:
            stay = sum(both.units.get(name, 0.0) - alone.units.get(name, 0.0) for name in units)
        else:
            stay = (both.cycles - alone.cycles) * len(units)
        stay -= sum(count for smaller, count in found.items() if smaller < units)
        if stay > 1 - _SURE:
            found[units] = round(stay)
    missing = round(uops) - sum(found.values())
    return found if missing == 0 else f"{missing} of {uops:.0f} uops fit no set of units that can be blocked"


def _block(variant: Variant, count: int, taken: frozenset[str]) -> bytes | None:
    """Instances of a blocking instruction that touch none of the registers that are taken."""
    code, used, first = b"", taken, None
    while len(code) < 4096 and count:
        chosen = variant.choose(first, used)
        made = None if chosen is None else variant.encode(chosen, _FAR + count * variant.apart)
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
