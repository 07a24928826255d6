"""Instances of a variant of the tables' schema: operands chosen, so that nothing depends by accident."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cyclelens.analyzer.assembly.decoder import decode
from cyclelens.analyzer.assembly.encoder import Operand, encodings
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts

IMMEDIATE = 3
"""The value of immediates: neither 0 nor 1, which are special to some shifts."""
UNCHANGED = "R14"
"""Never written by an instance: what breaks dependences reads it. R15 counts rounds."""
_KEPT = frozenset(["RSP", "R14", "R15"])
GENERAL = {
    name: full
    for full, low in (
        *((f"R{x}X", (f"E{x}X", f"{x}X", f"{x}L", f"{x}H")) for x in "ABCD"),
        *((f"R{x}", (f"E{x}", x, f"{x}L")) for x in ("SI", "DI", "SP", "BP")),
        *((f"R{n}", (f"R{n}D", f"R{n}W", f"R{n}B")) for n in range(8, 16)),
    )
    for name in (full, *low)
}


def family(register: str) -> str:
    """What registers share that overlap: ``RAX`` for ``AH``, ``V3`` for ``YMM3``."""
    vector = re.fullmatch(r"[XYZ]MM(\d+)", register)
    return f"V{vector[1]}" if vector else GENERAL.get(register, register)


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of the schema that can be made."""

    facts: InstructionFacts
    """Only its name and its operands are used to find anything out."""
    matcher: Matcher
    store: FactsStore

    @property
    def registers(self) -> tuple[OperandFacts, ...]:
        """The visible register operands."""
        return tuple(each for each in self.facts.operands if each.kind == "reg" and not each.suppressed)

    @property
    def hidden(self) -> tuple[OperandFacts, ...]:
        """Registers and flags that are read or written without being named."""
        return tuple(each for each in self.facts.operands if each.suppressed)

    def fixed(self) -> frozenset[str]:
        """Families that an instance uses whatever is chosen."""
        names = [each.registers[0] for each in self.facts.operands if len(each.registers) == 1]
        return frozenset(family(name) for name in names)

    def encode(self, chosen: Mapping[int, str]) -> bytes | None:
        """The instance with these registers by operand number; None if no encoding of this variant has
        them."""
        operands: list[Operand] = []
        for operand in self.facts.operands:
            if operand.suppressed:
                continue
            if operand.kind == "imm":
                operands.append(1 if operand.implicit else IMMEDIATE)
            else:
                operands.append(chosen.get(operand.index, operand.registers[0]))
        mnemonic = self.facts.iform.partition("_")[0].lower()
        for code in encodings(mnemonic, operands):
            instruction = decode(code)[0]
            found = self.matcher.find(instruction, self.store)
            if found is not None and found.name == self.facts.name:
                return code
        return None

    def choose(
        self, together: Mapping[int, str] | None = None, avoid: frozenset[str] = frozenset()
    ) -> dict[int, str] | None:
        """A register for every visible operand: all of different families, but for those that ``together``
        puts into one. None if there are not enough."""
        given = dict(together or {})
        used = set(avoid) | self.fixed() | set(given.values()) | _KEPT
        chosen = {}
        for operand in self.registers:
            wanted = given.get(operand.index)
            if len(operand.registers) == 1:
                fitting = [name for name in operand.registers if wanted in (None, family(name))]
            elif wanted is not None:
                fitting = [name for name in operand.registers if family(name) == wanted]
            else:
                fitting = [name for name in operand.registers if family(name) not in used]
            if not fitting:
                return None
            chosen[operand.index] = fitting[0]
            used.add(family(fitting[0]))
        return chosen


def variant(facts: InstructionFacts, matcher: Matcher, store: FactsStore) -> Variant | str:
    """The variant, or why no instance of it is made."""
    kinds = {each.kind for each in facts.operands}
    if "mask" in facts.attributes and facts.attributes["mask"] == "1":
        return "variants with a mask are not made yet"
    if kinds & {"mem", "agen"}:
        return "variants with memory are not made yet"
    if "relbr" in kinds or facts.category in ("CALL", "RET", "UNCOND_BR", "COND_BR", "SYSCALL", "INTERRUPT"):
        return "branches and system calls are not made"
    found = Variant(facts, matcher, store)
    if any(not each.registers for each in found.registers):
        return "the registers of an operand are not known"
    chosen = found.choose()
    code = None if chosen is None else found.encode(chosen)
    if code is None:
        return "no encoding was found"
    return refusal(decode(code)) or found


def breakers(variant: Variant, kept: frozenset[int], chosen: Mapping[int, str] | None = None) -> bytes:
    """Instructions that end every dependence from one instance to the next through what is both read and
    written, except the operands ``kept``. ``chosen``: the registers of visible operands; without them only
    what no choice can change is looked at."""
    code = b""
    for operand in variant.facts.operands:
        if operand.index in kept:
            continue
        if operand.kind == "flags":
            if operand.flags_read and operand.flags_written:
                code += next(encodings("test", (UNCHANGED, UNCHANGED)))
        elif operand.kind == "reg" and operand.read and operand.written:
            fixed = operand.registers[0] if len(operand.registers) == 1 else ""
            name = family((chosen or {}).get(operand.index, fixed))
            if name in GENERAL:
                code += next(encodings("mov", (name, UNCHANGED)))
            elif name.startswith("V"):
                vector = f"XMM{name[1:]}"
                vex = variant.facts.iform.startswith("V")
                operands = (vector, vector, vector) if vex else (vector, vector)
                code += next(encodings("vpxor" if vex else "pxor", operands))
    return code


def pairs(variant: Variant) -> Iterator[tuple[OperandFacts, OperandFacts]]:
    """Sources and destinations among the visible registers."""
    for target in variant.registers:
        if target.written:
            for source in variant.registers:
                if source.read:
                    yield source, target
