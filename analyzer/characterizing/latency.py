"""Latency of a pair of operands: the cycles of a chain in which the destination is the next source.

As in section 4.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of Instructions on Intel
Microarchitectures" (Abel and Reineke, 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclelens.analyzer.assembly.encoder import encodings
from cyclelens.analyzer.characterizing.instances import GENERAL, Variant, breakers, family, pairs
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.model.facts import OperandFacts

COPIES = 4
"""Links of a chain in the block that is repeated."""
MORE_LINKS = 3
_EXACT = 0.25
"""Cycles by which a chain may be off and still show a whole number."""
_REMOVED = 0.75
"""A chain of fewer cycles is one of moves that are removed, at least most of them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The latency of one pair."""

    cycles: int | None
    problem: str = ""
    upper_bound: bool = False
    """Another dependence of the same block takes as long."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """Instructions that wait for each other, over and over."""

    links: bytes
    breaking: bytes
    """Ends other dependences."""
    pairs: int = 1
    """Times that the pair is among the links."""
    others: float = 0.0
    """Latency of the other links."""


class Latencies:
    """The latencies that a machine shows; remembers those of the instructions that close chains."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._partners: dict[str, float | None] = {}

    def of(self, variant: Variant) -> dict[tuple[int, int], Measured]:
        """By operand numbers of source and destination."""
        found: dict[tuple[int, int], Measured] = {}
        # A destination that is also a source first: its latency bounds the others from below.
        every = sorted(pairs(variant), key=lambda pair: pair[0].index != pair[1].index)
        for source, target in every:
            own = found.get((target.index, target.index))
            found[source.index, target.index] = self._pair(variant, source, target, own)
        return found

    def _pair(
        self, variant: Variant, source: OperandFacts, target: OperandFacts, own: Measured | None
    ) -> Measured:
        if _kind(source) != _kind(target):
            return Measured(None, "registers of different classes: no partner is known yet")
        found = [
            cycles
            for chain in self._chains(variant, source, target)
            if (cycles := self._cycles(chain)) is not None
        ]
        if not found:
            return Measured(None, "no instruction is known that closes the chain")
        cycles = min(found)
        if abs(cycles - round(cycles)) > _EXACT and cycles > _REMOVED:
            return Measured(None, f"the chain takes {cycles:.2f} cycles, which is no latency")
        covered = own is not None and own.cycles is not None and cycles < own.cycles - _EXACT
        return Measured(max(round(cycles), 0), upper_bound=covered and source is not target)

    def _cycles(self, chain: _Chain) -> float | None:
        # What breaks other dependences may cost more than they do.
        runs = [self._machine.run((chain.links + extra) * COPIES) for extra in {b"", chain.breaking}]
        known = [run.cycles for run in runs if not isinstance(run, str)]
        return min(known) / COPIES / chain.pairs - chain.others if known else None

    def _chains(self, variant: Variant, source: OperandFacts, target: OperandFacts) -> Iterator[_Chain]:
        kept = frozenset([source.index, target.index])
        chosen = variant.choose()
        code = None if chosen is None else variant.encode(chosen)
        if chosen is None or code is None:
            return
        breaking = breakers(variant, kept, chosen)
        closing = _closing(chosen[source.index], chosen[target.index])
        partner = self._partner(chosen[target.index])
        if closing is not None and partner is not None:
            yield _Chain(code + closing, breaking, others=partner)
            # Longer, or an instruction of many uops would show its throughput.
            own = _plain(chosen[source.index])
            link, cycles = _closing(own, own), self._partner(own)
            if link is not None and cycles is not None:
                others = partner + MORE_LINKS * cycles
                yield _Chain(code + closing + link * MORE_LINKS, breaking, others=others)
        if source is target:
            yield _Chain(code, breaking)
            return
        if not target.read:
            # There and back, because an instruction may be special if both registers are the same.
            swapped = {source.index: family(chosen[target.index]), target.index: family(chosen[source.index])}
            other = variant.choose(swapped)
            back = None if other is None else variant.encode(other)
            if back is not None and source.width == target.width:
                yield _Chain(code + back, breaking, pairs=2)
            elif (shared := _shared(variant, source, target)) is not None:
                same = variant.choose({source.index: shared, target.index: shared})
                code_of_same = None if same is None else variant.encode(same)
                if code_of_same is not None:
                    yield _Chain(code_of_same, breaking)

    def _partner(self, register: str) -> float | None:
        """The latency of the instruction that closes chains from a register of this class and width."""
        code = _closing(register, register)
        if code is None:
            return None
        key = code.hex()
        if key not in self._partners:
            run = self._machine.run(code * COPIES)
            self._partners[key] = None if isinstance(run, str) else run.cycles / COPIES
        return self._partners[key]


def _kind(operand: OperandFacts) -> str:
    return family(operand.registers[0])[0] if operand.registers[0][:1] in "XYZVKM" else "R"


def _shared(variant: Variant, source: OperandFacts, target: OperandFacts) -> str | None:
    """A register that both may be."""
    chosen = variant.choose()
    if chosen is None:
        return None
    for operand, other in ((source, target), (target, source)):
        name = family(chosen[operand.index])
        if any(family(each) == name for each in other.registers):
            return name
    return None


def _closing(source: str, target: str) -> bytes | None:
    """An instruction of one cycle that no processor removes, from the target to the next source."""
    full, next_ = family(target), family(source)
    if full.startswith("V"):
        prefix = source[0]
        names = (f"{prefix}MM{next_[1:]}", f"{prefix}MM{full[1:]}", 0)
        return next(encodings("vpermilps", names), None)
    if full.startswith("K"):
        return next(encodings("kmovq", (next_, full)), None)
    if full.startswith("MM"):
        return next(encodings("pshufw", (next_, full, 0)), None)
    if target in (full, _half(full)):
        return next(encodings("movsxd", (next_, _half(full))), None)
    return next(encodings("movsx", (next_, target)), None)


def _plain(register: str) -> str:
    """A part of a register that can be widened to all of it without another uop."""
    full = family(register)
    return _half(full) if full in GENERAL.values() else register


def _half(full: str) -> str:
    return f"{full}D" if full[1:].isdecimal() else f"E{full[1:]}"
