"""Finds the units that an instruction can use by blocking sets of them with other instructions.

The method is that of section 5.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of
Instructions on Intel Microarchitectures" (Abel and Reineke, 2019): sets are blocked in ascending size, and
the uops of smaller sets are subtracted from those that stay on a blocked set. As there, legacy SSE and AVX
have blocking instructions of their own, so that no block mixes the two: the transition between them would
look like uops. ``unit_times`` needs no counters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cyclelens.analyzer.characterizing.instances import EncodableVariant, breakers, family
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UopKind
from msgspec import Struct, field

UnitNames = frozenset[str]
LOAD, STORE = "MOV (R64, M64)", "MOV (M64, R64)"
_ACCESSES = (LOAD, STORE, "VMOVUPS (XMM, M128)", "MOVUPS (XMM, M128)")

BLOCKING_UOPS = 8
"""Least blocking uops per unit of a set.

Twice as many as an instruction has uops keep away those that can go elsewhere."""
_SURE = 0.35
"""Tolerance of a uop count, in uops."""
_NOP = b"\x90"
_FAR = 2048
"""Bytes between the data of the instance and of the blocking instructions: within one page, because pages
that share their physical memory disturb each other."""
_MOST_BYTES = 4096
"""Most bytes of blocking instructions in a loop (``usual_copies``)."""
NO_INSTANCE = "no instance could be made"
SATURATED = 1.1
"""A blocking instruction saturates its units within this factor."""


class Blocker(Struct, frozen=True):
    """A single-uop instruction with known units."""

    variant: EncodableVariant
    rank: tuple[float, ...] = ()
    """Preference, lowest first: operands that cause dependences; the negated number of available registers;
    cycles; bytes, because the front end delivers short code faster."""
    units: tuple[UnitNames, ...] = ()
    """Units of all its uops: a store has two uops, for its address and its data."""
    made: dict[tuple[int, frozenset[str]], list[bytes] | None] = field(default_factory=dict)
    """Instances by their number and the registers that they leave alone."""

    def instances(self, count: int, taken: frozenset[str]) -> list[bytes] | None:
        """Instances that use none of the ``taken`` registers; None if there are none. They are made once."""
        if (count, taken) not in self.made:
            self.made[count, taken] = self._instances(count, taken)
        return self.made[count, taken]

    def _instances(self, count: int, taken: frozenset[str]) -> list[bytes] | None:
        variant = self.variant
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


_POOL = re.compile(
    "(ADD_01|ANDN|BEXTR|BT|CMOVNB|CMP|IMUL|JNZ|KANDB|POPCNT|ROL|SETNB|VPERMD|VPSLLVD|VPTERNLOGD"
    "|V?(ADDPS|AESENC|BLENDPS|CVTPS2PD|MAXPS|MOVMSKPS|MULPS|PABSB|PADDB|PADDD|PALIGNR|PAND|PMULLD|PMULLW"
    "|PSADBW|PSHUFB|PSHUFD|PSIGNB|PSLLD|PSLLDQ|PUNPCKLBW)) "
)
"""Names of variants that include a single-uop instruction for every set of units, in both encodings."""


_DIGITS = "0123456789ABCDEF"
_NO_MEMORY = ("reg", "flags", "imm", "relbr")
_WIDE = 512


def pool(store: FactsStore, microarchitecture: str) -> list[InstructionFacts]:
    """Variants that can block units, whichever variants the user selects."""
    return [
        facts
        for form in store.forms()
        for facts in store.candidates(microarchitecture, form)
        if facts.name in _ACCESSES or (_POOL.match(facts.name) and all(map(_blocks, facts.operands)))
    ]


def _blocks(operand: OperandFacts) -> bool:
    """Whether an instruction with this operand can be preferred: it has no memory, mask or wide vector."""
    return operand.kind in _NO_MEMORY and not operand.opmask and operand.width != _WIDE


def seen(run: RepeatedRun) -> UnitNames:
    """Units that a run used."""
    return frozenset(name for name, uops in (run.units or {}).items() if uops > 0.01)


def stated(facts: InstructionFacts, model: Microarchitecture) -> UnitNames:
    """Units of a single-uop instruction in the tables; empty for all others.

    Also empty for moves between register classes, which occupy more units than stated (on Zen one of each
    side)."""
    known = (table_ports(facts, model) or {}) if len(classes(facts)) == 1 else {}
    return next(iter(known)) if list(known.values()) == [1] else frozenset()


def classes(facts: InstructionFacts) -> frozenset[str]:
    """Register classes of its operands: the first letters of their families."""
    return frozenset(
        family(each.registers[0])[0] for each in facts.operands if each.kind == "reg" and not each.opmask
    )


class Blockers:
    """For every set of units, the fastest single-uop instruction that uses exactly these: one for legacy SSE
    and one for all other instructions. Those without vectors may be in both."""

    def __init__(self) -> None:
        self._of_sse: dict[UnitNames, Blocker] = {}
        self._of_others: dict[UnitNames, Blocker] = {}

    def offer_stores(self, store: EncodableVariant, model: Microarchitecture) -> None:
        """Take a store for the address and data units.

        No instruction uses only one of these sets, so the core's parameters must name them."""
        roles = (Role.STORE_ADDRESS, Role.STORE_DATA)
        used = tuple(frozenset(model.units.having(role).names) for role in roles)
        blocker = Blocker(store, units=tuple(filter(None, used)))
        for units in blocker.units:
            for known in (self._of_sse, self._of_others):
                known.setdefault(units, blocker)

    def offer(self, variant: EncodableVariant, run: RepeatedRun, units: UnitNames) -> None:
        """Take the instruction if it is a single uop and keeps these units busy."""
        if run.uops is None or abs(run.uops - 1) > 0.05 or not units or breakers(variant, frozenset()):
            return
        if not 1 / SATURATED < run.cycles * len(units) < SATURATED or variant.wide:
            return
        # Few registers are free: an instruction that reads neither its destination, nor a fixed register, nor
        # flags, waits for nothing.
        own = sum(
            each.read and (each.written or each.kind == "flags" or len(each.registers) == 1)
            for each in variant.facts.operands
        )
        choice = min((len(each.registers) for each in variant.registers), default=0)
        size = len(variant.encode(variant.choose() or {}) or b"")
        rank = own, -choice, round(run.cycles, 2), size
        for fits, known in ((not variant.vex, self._of_sse), (not variant.sse, self._of_others)):
            if fits and (units not in known or rank < known[units].rank):
                known[units] = Blocker(variant, rank, (units,))

    def ascending(self, *, sse: bool) -> list[tuple[UnitNames, Blocker]]:
        """Blockers by set of units, the smallest sets first, for legacy SSE or for other instructions."""
        known = self._of_sse if sse else self._of_others
        return sorted(known.items(), key=lambda item: (len(item[0]), sorted(item[0])))


def table_ports(facts: InstructionFacts, model: Microarchitecture) -> dict[UnitNames, int] | None:
    """Uops by set of units in the tables; None if they have none."""
    if facts.base.ports is None:
        return None
    found: dict[UnitNames, int] = {}
    for name, count in facts.base.ports:
        use = model.units.use(name, count)
        if use.kind is not UopKind.EMPTY:
            units = frozenset(use.units.names)
            found[units] = found.get(units, 0) + count
    return found


class Instance(Struct, frozen=True):
    """An instance of a variant with its accompanying code."""

    code: bytes
    bare: bytes
    """The code before it alone, whose cost is subtracted."""
    after: bytes
    """Code after the last instance that resets pointers."""
    taken: frozenset[str]
    """Register families that blocking instructions must not use."""
    wide: bool = False

    @staticmethod
    def of(variant: EncodableVariant) -> Instance | None:
        """An instance with chosen registers; None if there are none."""
        chosen = variant.choose()
        code = None if chosen is None else variant.encode(chosen)
        if chosen is None or code is None:
            return None
        before, bare = variant.before(chosen, len(code)), variant.before(chosen, 0)
        # A jump would fuse with the preceding instruction.
        apart = _NOP if variant.jumps and not bare else b""
        taken = frozenset(family(name) for name in chosen.values()) | variant.fixed()
        return Instance(apart + before + code, apart + bare, variant.restoring(), taken, variant.wide)


def text(ports: Mapping[UnitNames, int]) -> str:
    """Port usage in the notation of uops.info: ``1*p0156+2*p5`` or ``1*FP03``."""
    parts = sorted((len(units), _named(units), count) for units, count in ports.items())
    return "+".join(f"{count}*{units}" for _, units, count in parts) or "0"


def _named(units: UnitNames) -> str:
    """Ports as hexadecimal digits after ``p``, other units as their common name and numbers."""
    if all(name.isdecimal() for name in units):
        return "p" + "".join(_DIGITS[number] for number in sorted(map(int, units)))
    by_name: dict[str, list[str]] = {}
    for unit in sorted(units):
        name = unit.rstrip("0123456789")
        by_name.setdefault(name, []).append(unit.removeprefix(name))
    return "".join(name + "".join(numbers) for name, numbers in by_name.items())


def linear_program(ports: Mapping[UnitNames, int]) -> float:
    """Cycles of the busiest unit under an optimal distribution of uops.

    That is the maximum over all unions of sets: uops confined to the union, divided by its size."""
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
    machine: Machine, variant: EncodableVariant, blockers: Blockers, uops: float
) -> Mapping[UnitNames, int] | str:
    """Number of uops by usable set of units, from counters; or why it is unknown."""
    instance = Instance.of(variant)
    if instance is None:
        return NO_INSTANCE
    found: dict[UnitNames, int] = {}
    for units, blocker in blockers.ascending(sse=variant.sse):
        if sum(found.values()) >= round(uops):
            break
        if blocker.variant.jumps and not (variant.jumps and round(uops) == 1):
            continue  # at most one jump per cycle is taken, so its unit is idle some of the time
        count = max(BLOCKING_UOPS, 2 * round(uops)) * len(units)
        block = blocker.instances(count, instance.taken)
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


def both_less(both: RepeatedRun, alone: RepeatedRun, units: UnitNames) -> float | None:
    """Uops that stay on units, by counters; None if the counters do not cover them all."""
    if both.units is None or alone.units is None or not units <= both.units.keys():
        return None
    return sum(both.units[name] - alone.units.get(name, 0.0) for name in units)
