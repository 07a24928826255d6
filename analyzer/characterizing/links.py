"""Closes a chain: finds instructions that carry a result to the operand that the next instance reads.

Chains of their own measure the latency of some of them. For others only a round trip can be measured (a move
to another register class and back, a store and a load). Each of those counts as one cycle, so that the result
is an upper bound, as in section 4.1.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of
Instructions on Intel Microarchitectures" (Abel and Reineke, 2019). A store or load of a general register
counts as zero where both together take at most one cycle (memory renaming).

A chain of vectors is closed by a shuffle, as there: by one of each domain, because a result that changes the
domain may be late (bypass delay), and in the encoding of the instruction, so that legacy SSE meets no AVX.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from cyclelens.analyzer.characterizing.instances import (
    ADDRESS,
    GENERAL,
    IMMEDIATE,
    INDEX,
    SPARE,
    UNCHANGED,
    EncodableVariant,
    family,
)
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.isa.encoder import EncoderMemory, encodings
from cyclelens.analyzer.model.facts import OperandFacts
from msgspec import Struct

REGISTER, FLAGS, CONTENTS = "", "flags", "memory"
BASE, INDEXED = "address", "address_index"
_WRITES_FLAGS = 1
"""Cycles from register to flags of the fastest of ``_writers``, by convention: only the sum with an
instruction that reads flags can be measured."""
_LEAST = 1
"""Least cycles of an instruction whose latency cannot be measured alone."""
_COPIES = 4
_CONDITIONS = {"C": "b", "Z": "e", "S": "s", "O": "o", "P": "p"}
_HIGH = ("AH", "BH", "CH", "DH")


class Domain(StrEnum):
    """Domain of an instruction on vectors."""

    FLOAT = "floating-point"
    INTEGER = "integer"


_SHUFFLES: dict[tuple[bool, Domain], tuple[str] | tuple[str, int]] = {
    (True, Domain.FLOAT): ("vpermilps", 0),
    (True, Domain.INTEGER): ("vpshufd", 0),
    (False, Domain.FLOAT): ("movshdup",),
    (False, Domain.INTEGER): ("pshufd", 0),
}
"""Mnemonic and immediate, by encoding (whether VEX) and domain; none reads its destination."""


class OperandPlace(Struct, frozen=True):
    """Location of an operand in an instance."""

    operand: OperandFacts
    part: str
    """Part of the source, as in ``Pair``."""
    register: str = ""
    """The chosen register, by its name at the operand's width."""

    @property
    def kind(self) -> str:
        """``R`` general, ``V`` vector, ``K`` mask, ``M`` MMX, or the part."""
        if self.part != REGISTER:
            return self.part
        full = family(self.register)
        if full in GENERAL.values():
            return "R"
        return "M" if full.startswith("MM") else full[0]


class ClosingStep(Struct, frozen=True):
    """Instructions that close a chain, and their latency."""

    code: bytes
    cycles: float
    known: bool = True
    """False if the latency cannot be measured alone; ``cycles`` is then a lower bound."""


Closing = tuple[ClosingStep, ...]


class Links:
    """Closes chains on one machine; remembers measured latencies."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[bytes, float | None] = {}

    def close(
        self,
        variant: EncodableVariant,
        result: OperandPlace,
        source: OperandPlace,
        displacement: int,
        domain: Domain = Domain.FLOAT,
    ) -> Closing | None:
        """Step from a result to the source that reads it next; None if no such instructions are known.

        ``domain``: that of the shuffle between two vectors."""
        steps = list(self._steps(variant, result, source, displacement, domain))
        return None if any(step is None for step in steps) else tuple(step for step in steps if step)

    def more(
        self, variant: EncodableVariant, place: OperandPlace, domain: Domain = Domain.FLOAT
    ) -> tuple[bytes, float] | None:
        """An instruction that lengthens a chain at this register, and its cycles."""
        if place.part != REGISTER:
            return None
        own = _plain(place.register)
        code = _same_class(own, own, _SHUFFLES[variant.vex, domain])
        cycles = None if code is None else self.alone(code)
        return None if code is None or cycles is None else (code, cycles)

    def _steps(
        self,
        variant: EncodableVariant,
        result: OperandPlace,
        source: OperandPlace,
        displacement: int,
        domain: Domain,
    ) -> Iterator[ClosingStep | None]:
        here, there = result.kind, source.kind
        memory = variant.place(displacement, indexed=there == INDEXED)
        if here == there and here not in (FLAGS, CONTENTS):
            shuffle = _SHUFFLES[variant.vex, domain]
            code = _same_class(source.register, result.register, shuffle)
            yield self._measured(code, _same_class(result.register, result.register, shuffle))
            return
        if here == there == FLAGS and result.operand.flags_written & source.operand.flags_read:
            return
        if here == there == CONTENTS:
            return
        if here == FLAGS and source.register in _HIGH:
            # A full write of the register would have to be split again.
            yield self._reader("set", result, source.register)
            return
        if here == "V" and there == CONTENTS:
            yield _least(moved(variant, source.operand, family(result.register), memory, store=True))
            return
        if here == CONTENTS and there == "V":
            yield _least(moved(variant, result.operand, family(source.register), memory, store=False))
            return
        carrier = _carrier(result, source)
        if here != "R" or family(result.register) != carrier:
            yield self._to_general(variant, result, carrier, memory)
        if there != "R" or family(source.register) != carrier:
            yield self._from_general(variant, source, carrier, memory)

    def _to_general(
        self, variant: EncodableVariant, result: OperandPlace, carrier: str, memory: EncoderMemory
    ) -> ClosingStep | None:
        kind = result.kind
        if kind == "R":
            alone = _same_class(result.register, result.register)
            return self._measured(_same_class(carrier, result.register), alone)
        if kind == FLAGS:
            return self._reader("cmov", result, carrier)
        if kind == CONTENTS:
            return self._through_memory(_load(carrier, min(result.operand.width, 64), memory))
        return _least(_across(variant, carrier, family(result.register)))

    def _from_general(
        self, variant: EncodableVariant, source: OperandPlace, carrier: str, memory: EncoderMemory
    ) -> ClosingStep | None:
        kind = source.kind
        if kind == FLAGS:
            return self._writer(carrier)
        if kind in (BASE, INDEXED):
            # Twice, so that the address is restored.
            register = ADDRESS if kind == BASE else INDEX
            twice = next(encodings("xor", (register, carrier))) * 2
            return self._measured(twice, twice)
        if kind == CONTENTS:
            width = source.operand.width
            code = next(encodings("mov", (memory, _part(carrier, width))), None)
            return self._through_memory(code)
        return _least(_across(variant, family(source.register), carrier))

    def _reader(self, mnemonic: str, result: OperandPlace, register: str) -> ClosingStep | None:
        """Step from one of the written flags into a register."""
        written = result.operand.flags_written
        condition = next((name for flag, name in _CONDITIONS.items() if flag in written), None)
        if condition is None:
            return None
        operands = (register,) if mnemonic == "set" else (register, UNCHANGED)
        code = next(encodings(mnemonic + condition, operands))
        together = [self.alone(writer + code) for writer in _writers(register)]
        known = [cycles for cycles in together if cycles is not None]
        return ClosingStep(code, min(known) - _WRITES_FLAGS) if known else None

    def _writer(self, register: str) -> ClosingStep | None:
        """Step from a register to flags."""
        reader = next(encodings("cmovb", (register, UNCHANGED)))
        code = _writers(register)[0]
        together = [self.alone(writer + reader) for writer in _writers(register)]
        known = [cycles for cycles in together if cycles is not None]
        if together[0] is None:
            return None
        return ClosingStep(code, together[0] - min(known) + _WRITES_FLAGS)

    def _measured(self, code: bytes | None, alone: bytes | None) -> ClosingStep | None:
        """A step whose latency a chain of its own shows: that of ``alone``, on one register."""
        cycles = None if alone is None else self.alone(alone)
        return None if code is None or cycles is None else ClosingStep(code, cycles)

    def _through_memory(self, code: bytes | None) -> ClosingStep | None:
        """Step that stores or loads a general register."""
        if code is None:
            return None
        word = EncoderMemory(ADDRESS)
        both = self.alone(next(encodings("mov", (word, SPARE))) + next(encodings("mov", (SPARE, word))))
        return ClosingStep(code, _LEAST if both is None or round(both) > _LEAST else 0, known=False)

    def alone(self, code: bytes) -> float | None:
        """Cycles per instance of an instruction that depends on itself."""
        if code not in self._known:
            run = self._machine.run(code * _COPIES)
            self._known[code] = None if isinstance(run, str) else run.cycles / _COPIES
        return self._known[code]


def _writers(register: str) -> list[bytes]:
    """Instructions that set flags from a register."""
    return [next(encodings("cmp", (register, IMMEDIATE))), next(encodings("test", (register, register)))]


def _carrier(result: OperandPlace, source: OperandPlace) -> str:
    """The general register that carries a value: an operand's own if there is one."""
    for place in (source, result):
        if place.kind == "R" and (place is source or place.operand.width in (0, 32, 64)):
            return family(place.register)
    return SPARE


def _least(code: bytes | None) -> ClosingStep | None:
    return None if code is None else ClosingStep(code, _LEAST, known=False)


def _across(variant: EncodableVariant, target: str, source: str) -> bytes | None:
    """A move between a general register and another class, in either direction."""
    names = [f"XMM{name[1:]}" if name[0] == "V" else name for name in (target, source)]
    classes = {name[0] for name in (target, source)} - {"R"}
    mnemonic = "kmovq" if "K" in classes else "vmovq" if "V" in classes and variant.vex else "movq"
    return next(encodings(mnemonic, names), None)


def _load(target: str, width: int, memory: EncoderMemory) -> bytes | None:
    if width in (8, 16):
        return _sized("movzx", (_half(target), memory), width)
    return next(encodings("mov", (_part(target, width), memory)), None)


def _sized(mnemonic: str, operands: tuple[str, EncoderMemory], width: int) -> bytes | None:
    """Encode MOVZX from a byte (first encoding) or from 16 bits (second)."""
    found = list(encodings(mnemonic, operands))
    return found[width == 16] if len(found) > 1 else None


def moved(
    variant: EncodableVariant, operand: OperandFacts, vector: str, memory: EncoderMemory, *, store: bool
) -> bytes | None:
    """A load or a store of a vector register as wide as the operand in memory."""
    number, prefix = vector[1:], "v" if variant.vex else ""
    names = {32: ("movss", "X"), 64: ("movsd", "X"), 128: ("movups", "X"), 256: ("movups", "Y")}
    mnemonic, letter = names.get(operand.width, ("movups", "Z") if operand.width == 512 else ("", ""))
    if not mnemonic:
        return None
    register = f"{letter}MM{number}"
    return next(encodings(prefix + mnemonic, (memory, register) if store else (register, memory)), None)


def _same_class(
    source: str, target: str, shuffle: tuple[str] | tuple[str, int] = _SHUFFLES[True, Domain.FLOAT]
) -> bytes | None:
    """A one-cycle instruction, never eliminated, from the target to the next source.

    ``shuffle``: the one for vectors, from ``_SHUFFLES``."""
    full, next_ = family(target), family(source)
    if full.startswith("V"):
        prefix = source[0]
        mnemonic, *immediate = shuffle
        names = (f"{prefix}MM{next_[1:]}", f"{prefix}MM{full[1:]}")
        return next(encodings(mnemonic, (*names, *immediate)), None)
    if full.startswith("K"):
        return next(encodings("kmovq", (next_, full)), None)
    if full.startswith("MM"):
        return next(encodings("pshufw", (next_, full, 0)), None)
    if target in (full, _half(full)):
        return next(encodings("movsxd", (next_, _half(full))), None)
    return next(encodings("movsx", (next_, target)), None)


def _plain(register: str) -> str:
    """A part of a register that can be widened to the full register without another uop."""
    full = family(register)
    return _half(full) if full in GENERAL.values() else register


def _half(full: str) -> str:
    return f"{full}D" if full[1:].isdecimal() else f"E{full[1:]}"


def _part(full: str, width: int) -> str:
    """A general register's name at a width of 8, 16, 32 or 64 bits."""
    if width >= 64:
        return full
    if width == 32:
        return _half(full)
    if full[1:].isdecimal():
        return f"{full}{'W' if width == 16 else 'B'}"
    short = full[1:]
    return short if width == 16 else f"{short[0]}L" if short.endswith("X") else f"{short}L"
