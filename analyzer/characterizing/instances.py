"""Instances of a variant of the tables' schema: operands chosen, so that nothing depends by accident."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cyclelens.analyzer.decoding.decoder import decode
from cyclelens.analyzer.decoding.encoder import Decoration, Memory, Operand, encodings
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts

IMMEDIATE, _WIDE = 3, 0x1234567
"""The value of immediates: neither 0 nor 1, which are special to some shifts, and where there is room too
large for the renamer to add (V9)."""
UNCHANGED = "R14"
"""Never written by an instance: what breaks dependences reads it. R15 counts rounds."""
ADDRESS, INDEX = "RSI", "R13"
"""Memory operands use them. Only chains through the address write them, and these keep their values."""
SPARE = "R12"
"""For values on their way from one operand to the next."""
LINE, _WORD = 64, 8
"""Bytes of a cache line, and of the words in it that loads may collide on."""
_KEPT = frozenset(["RSP", ADDRESS, INDEX, SPARE, UNCHANGED, "R15"])
_CONDITIONS = {"z": "e", "nz": "ne", "nb": "ae", "nbe": "a", "nl": "ge", "nle": "g"}
"""Of the tables, as the encoder spells them."""
_POINTERS = ("RSP", "RBP", "RSI", "RDI")
"""Memory that is not named begins where these point to."""
_BRANCHES = ("UNCOND_BR", "COND_BR")
_LEAVING = ("CALL", "RET", "SYSCALL", "SYSRET", "INTERRUPT")
"""Categories of the tables."""
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
        """The register operands, also those that are not named."""
        return tuple(each for each in self.facts.operands if each.kind == "reg")

    @property
    def memory(self) -> OperandFacts | None:
        """The memory operand, or the address of LEA."""
        operands = self.facts.operands
        return next((each for each in operands if each.kind in ("mem", "agen") and not _unnamed(each)), None)

    @property
    def pointers(self) -> tuple[str, ...]:
        """Registers that point to memory which is not named: stack and strings."""
        found = {each.base for each in self.facts.operands if _unnamed(each)}
        return tuple(name for name in _POINTERS if name in found)

    def restoring(self) -> bytes:
        """Instructions that lead the pointers back to where they began; a block that is repeated ends with
        them. No moves, which are removed some of the time."""
        return b"".join(next(encodings("lea", (name, Memory(UNCHANGED)))) for name in self.pointers)

    @property
    def apart(self) -> int:
        """Bytes between instances, a multiple of the operand's size. Loads meet neither in a line nor in a
        word of their lines; stores go to one line after the other (chapter 9 of docs/pipeline.md)."""
        if self.memory is None:
            return 0
        size = min(max(self.memory.width // 8, _WORD), LINE)
        return size if self.memory.written else LINE + size

    @property
    def vex(self) -> bool:
        """Whether it is encoded as AVX and later instructions are."""
        return self.facts.iform.startswith("V")

    @property
    def modifies_memory(self) -> bool:
        """It reads what it writes there: instances at one address wait for each other."""
        return self.memory is not None and self.memory.read and self.memory.written

    def fixed(self) -> frozenset[str]:
        """Families that an instance uses whatever is chosen."""
        names = [each.registers[0] for each in self.facts.operands if len(each.registers) == 1]
        return frozenset(family(name) for name in (*names, *self.pointers))

    def encode(
        self, chosen: Mapping[int, str], displacement: int = 0, *, indexed: bool = False
    ) -> bytes | None:
        """The instance with these registers by operand number, at an address that far (bytes) from the
        address register. None if no encoding of this variant has them."""
        operands: list[Operand] = []
        mask = ""
        for operand in self.facts.operands:
            if operand.suppressed:
                continue
            if operand.opmask:
                mask = chosen[operand.index]
            elif operand.kind == "imm":
                operands.append(self._immediate(operand))
            elif operand.kind == "mem":
                operands.append(Memory(ADDRESS, INDEX if indexed else "", 1, displacement))
            elif operand.kind == "agen":
                operands.append(_address_of(self.facts.attributes["agen"]))
            else:
                operands.append(chosen.get(operand.index, operand.registers[0]))
        mnemonic = _mnemonic(self.facts.iform)
        for code in encodings(mnemonic, operands, self._decoration(mask)):
            found = self.matcher.find(decode(code)[0], self.store)
            if found is not None and found.name == self.facts.name:
                return code
        return None

    def _immediate(self, operand: OperandFacts) -> int:
        if self.facts.attributes.get("immzero") == "1":
            return 0
        if operand.implicit:
            return 1
        return IMMEDIATE if operand.width <= 8 else _WIDE >> (12 if operand.width == 16 else 0)

    def _decoration(self, mask: str) -> Decoration:
        attributes = self.facts.attributes
        return Decoration(
            mask=mask,
            zeroing=attributes.get("zeroing") == "1",
            broadcast=attributes.get("bcast", "0") != "0",
            suppress_exceptions=attributes.get("sae") == "1",
            lock=self.facts.locked and not self.facts.iform.startswith("XCHG"),
        )

    def choose(
        self, together: Mapping[int, str] | None = None, avoid: frozenset[str] = frozenset()
    ) -> dict[int, str] | None:
        """A register for every register operand: all of different families, but for those that ``together``
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

    def choose_one(self) -> dict[int, str] | None:
        """One register for all register operands that can be chosen, but for masks. None if they have none in
        common, or are fewer than two."""
        named = [each for each in self.registers if len(each.registers) > 1 and not each.opmask]
        if len(named) < 2:
            return None
        common = set.intersection(*({family(name) for name in each.registers} for each in named))
        first = next((name for name in map(family, named[0].registers) if name in common - _KEPT), None)
        return None if first is None else self.choose({each.index: first for each in named})


def variant(facts: InstructionFacts, matcher: Matcher, store: FactsStore) -> Variant | str:
    """The variant, or why no instance of it is made."""
    if facts.category in _LEAVING:
        return "calls, returns and system calls leave the code that is measured"
    if facts.category in _BRANCHES or any(each.kind == "relbr" for each in facts.operands):
        return "branches: what one takes depends on whether it is taken, and on where it leads"
    if facts.attributes.get("rep"):
        return "how often it repeats itself depends on a register's value"
    if "VSIB" in facts.name:
        return "gathers and scatters: no benchmark makes a vector of indices"
    found = Variant(facts, matcher, store)
    if any(_unnamed(each) and each.base not in _POINTERS for each in facts.operands):
        return "the memory that it uses without a name is not known"
    if any(not each.registers for each in found.registers):
        return "the registers of an operand are not known"
    written = {family(each.registers[0]) for each in found.registers if len(each.registers) == 1}
    if written & {ADDRESS, INDEX, SPARE, UNCHANGED}:
        return "it uses the registers that the benchmarks need"
    chosen = found.choose()
    code = None if chosen is None else found.encode(chosen)
    if code is None:
        return "no encoding was found"
    return refusal(decode(code)) or found


def _unnamed(operand: OperandFacts) -> bool:
    return operand.kind == "mem" and (operand.suppressed or operand.base is not None)


def _mnemonic(iform: str) -> str:
    """As the encoder spells it: ``cmova`` for ``CMOVNBE_GPRv_GPRv``."""
    name = iform.partition("_")[0].lower()
    for stem in ("cmov", "set"):
        if name.startswith(stem):
            condition = name.removeprefix(stem)
            return stem + _CONDITIONS.get(condition, condition)
    return name


def _address_of(form: str) -> Memory:
    """The address of a LEA of this form: ``B_IS_D8`` has base, scaled index and a displacement of a byte."""
    parts = form.split("_")
    size = 4 if "D32" in parts else 1 if "D8" in parts else 0
    base = "RIP" if "R" in parts else ADDRESS if "B" in parts else ""
    index = INDEX if "I" in parts or "IS" in parts else ""
    return Memory(base, index, 2 if "IS" in parts else 1, LINE if size else 0, size)


def breakers(variant: Variant, kept: frozenset[int], chosen: Mapping[int, str] | None = None) -> bytes:
    """Instructions that end every dependence from one instance to the next through what is both read and
    written, except the operands ``kept``. ``chosen``: the registers by operand; without them only
    what no choice can change is looked at. Memory is left to the instances' addresses."""
    code = b""
    for operand in variant.facts.operands:
        if operand.index in kept:
            continue
        if operand.kind == "flags":
            if operand.flags_read and operand.flags_written:
                code += next(encodings("test", (UNCHANGED, UNCHANGED)))
        elif operand.kind == "reg" and operand.written:
            fixed = operand.registers[0] if len(operand.registers) == 1 else ""
            name = family((chosen or {}).get(operand.index, fixed))
            if not operand.read and not _reads(variant, fixed, kept):
                continue
            if name in GENERAL:
                code += next(encodings("mov", (name, UNCHANGED)))
            elif name.startswith("V"):
                code += _cleared(variant, f"XMM{name[1:]}")
    return code


def _reads(variant: Variant, register: str, kept: frozenset[int]) -> bool:
    """Whether an operand reads a fixed register that another one writes, as IMUL reads AL and writes AX."""
    return any(
        each.read and len(each.registers) == 1 and family(each.registers[0]) == family(register)
        for each in variant.registers
        if register and each.index not in kept
    )


def _cleared(variant: Variant, vector: str) -> bytes:
    """An instruction that makes a vector register new."""
    if variant.vex:
        return next(encodings("vpxor", (vector, vector, vector)), b"")
    return next(encodings("pxor", (vector, vector)), b"")
