"""Measures the latency of a pair of operands by a chain in which each destination is the next source.

The method is that of section 4.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of
Instructions on Intel Microarchitectures" (Abel and Reineke, 2019).
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.characterizing.instances import (
    IMMEDIATE,
    UNCHANGED,
    EncodableVariant,
    breakers,
    family,
)
from cyclelens.analyzer.characterizing.links import (
    BASE,
    CONTENTS,
    FLAGS,
    INDEXED,
    REGISTER,
    Domain,
    Links,
    OperandPlace,
)
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, Machine, Start
from cyclelens.analyzer.model.facts import OperandFacts
from msgspec import Struct

COPIES = 4
"""Links of a chain in the repeated block."""
_MORE_COPIES = 16
"""Links where instances would also wait for each other through memory: each gets its own address."""
MORE_LINKS = 3
_EXACT = 0.25
"""Largest distance, in cycles, of a chain's time from the whole number that it shows."""
_RELATIVE = 0.05
"""Least bypass delay, relative to the faster chain: a smaller one may be noise."""
_REMOVED = 0.75
"""Cycles per link below which a chain consists of moves that are mostly eliminated."""

_COUNT = "CL"

Pair = tuple[int, int, str]
"""Operand numbers of source and destination, and the part of the source: a register or flags (``""``),
``address``, ``address_index`` or ``memory`` (its contents), or ``same_register``."""
SAME_REGISTER = "same_register"


class BypassDelay(Struct, frozen=True):
    """What a shuffle of the other domain costs where it hands over an operand and takes the result."""

    cycles: int
    """Both crossings together, beside a shuffle of the instruction's own domain."""
    domain: Domain
    """Domain of the slower shuffle."""

    def __str__(self) -> str:
        cycles = "cycle" if self.cycles == 1 else "cycles"
        return f"bypass delay of {self.cycles} {cycles} beside {self.domain} shuffles"


class MeasuredLatency(Struct, frozen=True):
    """The latency of one pair."""

    cycles: int | None
    problem: str = ""
    upper_bound: bool = False
    """True if another dependence of the block takes as long, or a step of unknown latency closes the
    chain."""
    most: int | None = None
    """Latency of a division with values of many digits; None for other instructions."""
    bypass: BypassDelay | None = None
    """None if shuffles of both domains take the same time, or only one closes the chain."""


class _LatencyChain(Struct, frozen=True):
    """A repeated chain of dependent instructions."""

    links: tuple[bytes, ...]
    """Code of the links, in order."""
    breaking: bytes
    """Code after each link that breaks other dependences."""
    pairs: int = 1
    """Occurrences of the pair per link."""
    others: float = 0.0
    """Latency of the other instructions in a link, in cycles."""
    upper_bound: bool = False
    """True if ``others`` is a lower bound, so that the pair's latency is an upper bound."""
    domain: Domain | None = None
    """Domain of the shuffle that closes the chain; None without one."""


class Latencies:
    """Measures latencies on a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.links = Links(machine)

    def of(self, variant: EncodableVariant) -> dict[Pair, MeasuredLatency]:
        """Latencies by source and destination."""
        found: dict[Pair, MeasuredLatency] = {}
        chosen = variant.choose()
        if chosen is None:
            return found
        # First a destination that is also a source: its latency bounds the others from below.
        every = sorted(pairs(variant, chosen), key=lambda pair: pair[0].operand is not pair[1].operand)
        for source, target in every:
            number = target.operand.index
            own = found.get((number, number, REGISTER))
            kind = REGISTER if source.part == FLAGS else source.part
            found[source.operand.index, number, kind] = self._pair(variant, chosen, source, target, own)
            if _other_registers(source, target):
                same = self._same_register(variant, source, target)
                if same is not None:
                    found[source.operand.index, number, SAME_REGISTER] = same
        return found

    def _pair(
        self,
        variant: EncodableVariant,
        chosen: dict[int, str],
        source: OperandPlace,
        target: OperandPlace,
        own: MeasuredLatency | None,
    ) -> MeasuredLatency:
        chains = self._chains(variant, chosen, source, target)
        found = [
            (cycles, chain)
            for chain in chains
            if (cycles := self._cycles(chain, _start(variant))) is not None
        ]
        if not found:
            return MeasuredLatency(None, "no known instruction closes the chain")
        cycles, chain = min(found, key=lambda each: each[0])
        if abs(cycles - round(cycles)) > _EXACT and cycles > _REMOVED:
            return MeasuredLatency(None, f"the chain takes {cycles:.2f} cycles, which is not a latency")
        if chain.upper_bound and cycles < _REMOVED:
            return MeasuredLatency(None, "the chain is as fast as independent instructions")
        covered = own is not None and own.cycles is not None and cycles < own.cycles - _EXACT
        # A locked instruction waits for the previous one's write, whatever it reads itself.
        bound = (
            chain.upper_bound or variant.facts.locked or (covered and source.operand is not target.operand)
        )
        return MeasuredLatency(max(round(cycles), 0), upper_bound=bound, bypass=_bypass(found))

    def _same_register(
        self, variant: EncodableVariant, source: OperandPlace, target: OperandPlace
    ) -> MeasuredLatency | None:
        """Latency of the pair if all operands of its class share one register."""
        names = [each for each in variant.registers if len(each.registers) > 1 and not each.opmask]
        shared = _shared(variant, source.operand, target.operand)
        if shared is None or len(names) < 2:
            return None
        together = {each.index: shared for each in names if any(family(r) == shared for r in each.registers)}
        same = variant.choose(together)
        code = None if same is None else variant.encode(same)
        if code is None:
            return None
        chain = _LatencyChain((code,) * COPIES, breakers(variant, frozenset(together), same))
        cycles = self._cycles(chain, _start(variant))
        if cycles is None or (abs(cycles - round(cycles)) > _EXACT and cycles > _REMOVED):
            return None
        return MeasuredLatency(0 if cycles < _REMOVED else round(cycles))

    def _cycles(self, chain: _LatencyChain, start: Start) -> float | None:
        # Breaking other dependences may cost more than they do.
        runs = [
            self._machine.run(b"".join(link + extra for link in chain.links), start)
            for extra in {b"", chain.breaking}
        ]
        known = [run.cycles for run in runs if not isinstance(run, str)]
        if not known:
            return None
        return min(known) / len(chain.links) / chain.pairs - chain.others

    def _chains(
        self, variant: EncodableVariant, chosen: dict[int, str], source: OperandPlace, target: OperandPlace
    ) -> Iterator[_LatencyChain]:
        kept = frozenset([source.operand.index, target.operand.index])
        breaking = breakers(variant, kept, chosen)
        shuffled = source.kind == target.kind == "V"
        for domain in Domain if shuffled else (None,):
            yield from self._closed(variant, chosen, source, target, domain)
        if source.operand is target.operand and source.part in (REGISTER, FLAGS):
            code = self._instances(variant, chosen, source, target)
            if code:
                yield _LatencyChain(tuple(code), breaking)
        elif source.part == target.part == REGISTER and not variant.modifies_memory:
            yield from _there_and_back(variant, chosen, source, target, breaking)

    def _closed(
        self,
        variant: EncodableVariant,
        chosen: dict[int, str],
        source: OperandPlace,
        target: OperandPlace,
        domain: Domain | None,
    ) -> Iterator[_LatencyChain]:
        """A chain closed by a shuffle of this domain, or by other instructions, and a longer one."""
        breaking = breakers(variant, frozenset([source.operand.index, target.operand.index]), chosen)
        shuffle = domain or Domain.FLOAT
        codes = self._instances(variant, chosen, source, target)
        closings = [
            self.links.close(variant, target, source, displacement, shuffle)
            for displacement in self._displacements(variant, source, target)
        ]
        if not codes or any(each is None for each in closings):
            return
        closing = closings[0] or ()
        others = sum(step.cycles for step in closing)
        bound = not all(step.known for step in closing)
        links = [
            code + b"".join(step.code for step in each or ())
            for code, each in zip(codes, closings, strict=True)
        ]
        yield _LatencyChain(tuple(links), breaking, 1, others, bound, domain)
        # A longer chain: otherwise an instruction of many uops would show its throughput.
        more = self.links.more(variant, source, shuffle) or self.links.more(variant, target, shuffle)
        if more is not None:
            code, cycles = more
            longer = [code * MORE_LINKS + link if source.part == REGISTER else link for link in links]
            if source.part != REGISTER:
                longer = [
                    instance + code * MORE_LINKS + link[len(instance) :]
                    for instance, link in zip(codes, links, strict=True)
                ]
            yield _LatencyChain(tuple(longer), breaking, 1, others + MORE_LINKS * cycles, bound, domain)

    @staticmethod
    def _displacements(variant: EncodableVariant, source: OperandPlace, target: OperandPlace) -> list[int]:
        if variant.modifies_memory and CONTENTS not in (source.part, target.part):
            return [number * variant.apart for number in range(_MORE_COPIES)]
        return [0] * COPIES

    def _instances(
        self, variant: EncodableVariant, chosen: dict[int, str], source: OperandPlace, target: OperandPlace
    ) -> list[bytes]:
        codes = [
            variant.encode(chosen, displacement, indexed=source.part == INDEXED)
            for displacement in self._displacements(variant, source, target)
        ]
        return [] if None in codes else [code for code in codes if code is not None]


def _bypass(found: list[tuple[float, _LatencyChain]]) -> BypassDelay | None:
    """The difference between the domains of the shuffles that close chains of one pair."""
    fewest = {
        domain: min((cycles for cycles, chain in found if chain.domain is domain), default=None)
        for domain in Domain
    }
    known = [(cycles, domain) for domain, cycles in fewest.items() if cycles is not None]
    if len(known) < len(fewest):
        return None
    (least, _), (most, slower) = sorted(known)
    delay = most - least
    whole = abs(delay - round(delay)) <= _EXACT and round(delay) > 0 and delay > _RELATIVE * least
    return BypassDelay(round(delay), slower) if whole else None


def _start(variant: EncodableVariant) -> Start:
    """Initial values: CL starts above zero for shifts, because a shift by zero preserves the flags."""
    if any(each.registers == (_COUNT,) for each in variant.registers):
        return Start(tuple((name, IMMEDIATE) for name in sorted({UNCHANGED, family(_COUNT)})))
    return ALL_THE_SAME


def _there_and_back(
    variant: EncodableVariant,
    chosen: dict[int, str],
    source: OperandPlace,
    target: OperandPlace,
    breaking: bytes,
) -> Iterator[_LatencyChain]:
    """Two instances with exchanged registers, because an instruction may be special if both are the same."""
    code = variant.encode(chosen)
    one, other = source.operand, target.operand
    swapped = {one.index: family(target.register), other.index: family(source.register)}
    again = variant.choose(swapped)
    back = None if again is None else variant.encode(again)
    if code is None:
        return
    if back is not None and one.width == other.width and back != code:
        yield _LatencyChain((code + back,) * COPIES, breaking, pairs=2)
    elif (shared := _shared(variant, one, other)) is not None:
        same = variant.choose({one.index: shared, other.index: shared})
        code_of_same = None if same is None else variant.encode(same)
        if code_of_same is not None:
            yield _LatencyChain((code_of_same,) * COPIES, breaking)


def pairs(variant: EncodableVariant, chosen: dict[int, str]) -> Iterator[tuple[OperandPlace, OperandPlace]]:
    """All pairs of source and destination."""
    sources, targets = [], []
    for operand in variant.facts.operands:
        if operand.kind == "reg":
            if operand.registers == ("RIP",):
                continue
            place = OperandPlace(operand, REGISTER, chosen[operand.index])
            sources += [place] * operand.read
            targets += [place] * operand.written
        elif operand.kind == "flags":
            place = OperandPlace(operand, FLAGS)
            sources += [place] * bool(operand.flags_read)
            targets += [place] * bool(operand.flags_written)
        elif operand.kind == "agen":
            parts = variant.facts.attributes["agen"].split("_")
            sources += [OperandPlace(operand, BASE)] * ("B" in parts)
            sources += [OperandPlace(operand, INDEXED)] * ("I" in parts or "IS" in parts)
        elif operand.kind == "mem":
            contents = OperandPlace(operand, CONTENTS)
            addresses = (
                [] if variant.absolute else [OperandPlace(operand, BASE), OperandPlace(operand, INDEXED)]
            )
            sources += addresses + [contents] * operand.read
            targets += [contents] * operand.written
    for target in targets:
        for source in sources:
            yield source, target


def _other_registers(source: OperandPlace, target: OperandPlace) -> bool:
    return (
        source.part == target.part == REGISTER
        and source.operand is not target.operand
        and source.kind == target.kind
        and len(source.operand.registers) > 1
        and len(target.operand.registers) > 1
    )


def _shared(variant: EncodableVariant, source: OperandFacts, target: OperandFacts) -> str | None:
    """A register that both operands accept; None if there is none."""
    chosen = variant.choose()
    if chosen is None:
        return None
    for operand, other in ((source, target), (target, source)):
        name = family(chosen[operand.index])
        if any(family(each) == name for each in other.registers):
            return name
    return None
