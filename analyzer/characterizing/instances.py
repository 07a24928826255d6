"""Makes instances of a variant of the tables' schema, with operands that cause no unintended dependence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.encoder import Decoration, EncoderMemory, Operand, RelativeTarget, encodings
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.measuring.requests import PATTERN
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts
from msgspec import Struct, field

IMMEDIATE, _WIDE = 3, 0x1234567
"""Values of immediates: neither 0 nor 1, which are special for some shifts; the wide one is too large for
the renamer to add (rule V9)."""
UNCHANGED = "R14"
"""Register that no instance writes; dependence-breaking instructions read it. R15 counts rounds."""
ADDRESS, INDEX = "RSI", "R13"
"""Registers for memory operands. Only chains through the address write them, and preserve their values."""
SPARE = "R12"
"""Register for values on their way from one operand to the next."""
ZERO_IDIOM = bytes.fromhex("4531e4")
"""``xor r12d, r12d`` on the spare register: one slot and no unit on every core, and new flags on most."""
VECTOR_INDEX, ONES, FULL_MASK = "V15", "V13", "K7"
"""For gathers and scatters: the register of their indices, all zero; one with all bits set; and a full
mask."""
LINE, _WORD = 64, 8
"""Bytes of a cache line, and of the words within it on which loads may collide."""
_KEPT = frozenset(["RSP", ADDRESS, INDEX, SPARE, UNCHANGED, "R15"])
_CONDITIONS = {"z": "e", "nz": "ne", "nb": "ae", "nbe": "a", "nl": "ge", "nle": "g"}
"""Conditions of the tables in the encoder's spelling."""
_POINTERS = ("RSP", "RBP", "RSI", "RDI", "RBX")
"""Registers that point to implicit memory operands."""
_ONE_ROUND = bytes.fromhex("b901000000")
"""``mov ecx, 1``: the repeat count of a string instruction."""
_REPEATED = 0xF0
"""Prefix of repeated string instructions, minus the tables' number for the repetition: 2 or 3."""
_JUMP_OVER = 0xEB
GENERAL = {
    name: full
    for full, low in (
        *((f"R{x}X", (f"E{x}X", f"{x}X", f"{x}L", f"{x}H")) for x in "ABCD"),
        *((f"R{x}", (f"E{x}", x, f"{x}L")) for x in ("SI", "DI", "SP", "BP")),
        *((f"R{n}", (f"R{n}D", f"R{n}W", f"R{n}B")) for n in range(8, 16)),
    )
    for name in (full, *low)
}


@cache
def family(register: str) -> str:
    """Common name of overlapping registers: ``RAX`` for ``AH``, ``V3`` for ``YMM3``."""
    vector = re.fullmatch(r"[XYZ]MM(\d+)", register)
    return f"V{vector[1]}" if vector else GENERAL.get(register, register)


def vector(width: str, shared: str) -> str:
    """A vector register's name at a width: ``YMM3`` for ``YMM`` and ``V3``."""
    return width + shared.removeprefix("V")


class EncodableVariant(Struct, frozen=True):
    """One variant of the schema that can be encoded."""

    facts: InstructionFacts
    """Record from the schema; measurements use only its name and operands."""
    matcher: Matcher
    store: FactsStore
    encoded: dict[tuple[object, ...], bytes | None] = field(default_factory=dict)
    """What ``encode`` found, by its arguments: benchmarks ask for the same instances again and again."""

    @property
    def registers(self) -> tuple[OperandFacts, ...]:
        """The register operands, including implicit ones."""
        return tuple(each for each in self.facts.operands if each.kind == "reg")

    @property
    def memory(self) -> OperandFacts | None:
        """The memory operand, or the address of LEA."""
        operands = self.facts.operands
        return next((each for each in operands if each.kind in ("mem", "agen") and not _unnamed(each)), None)

    @property
    def pointers(self) -> tuple[str, ...]:
        """Registers that point to implicit memory: stack and strings."""
        found = {each.base for each in self.facts.operands if _unnamed(each)}
        return tuple(name for name in _POINTERS if name in found)

    def restoring(self) -> bytes:
        """Instructions at the end of a repeated block that reset the pointers.

        They are not moves, which are eliminated some of the time."""
        return b"".join(next(encodings("lea", (name, EncoderMemory(UNCHANGED)))) for name in self.pointers)

    @property
    def jumps(self) -> bool:
        """Whether it is a jump; instances jump to the next instruction."""
        return any(each.registers == ("RIP",) and each.written for each in self.registers)

    @property
    def index_width(self) -> str:
        """``XMM``, ``YMM`` or ``ZMM`` for the indices of a gather or scatter; empty for all others."""
        found = re.search(r"VSIB_([XYZ]MM)", self.facts.name)
        return found[1] if found else ""

    @property
    def absolute(self) -> bool:
        """Whether its encoding contains the address, so that no register is part of it."""
        return "Moffs" in self.facts.name

    @property
    def prepared(self) -> bool:
        """Whether every instance needs its operands set beforehand."""
        return bool(self.index_width or "rep" in self.facts.attributes) or (
            self.jumps and not any(each.kind == "relbr" for each in self.facts.operands)
        )

    def before(self, chosen: Mapping[int, str], length: int, displacement: int = 0) -> bytes:
        """Instructions that set the operands of an instance of ``length`` bytes.

        Length 0 means no instance, so that the cost of these instructions alone can be measured."""
        if not self.prepared:
            return b""
        if self.index_width:
            return self.zero_indices() + self.full_mask(chosen)
        if "rep" in self.facts.attributes:
            return _ONE_ROUND
        if self.facts.category == "RET":
            # A call to the return, which returns to the jump over it.
            call = next(encodings("call", (RelativeTarget(2 if length else 0),)))
            return call + bytes([_JUMP_OVER, length])
        # The address of the next instruction: in a register, or in memory.
        if self.memory is None:
            target = next(chosen[each.index] for each in self.registers if len(each.registers) > 1)
            return next(
                encodings("lea", (target, EncoderMemory("RIP", displacement=length, displacement_bytes=4)))
            )
        store = next(encodings("mov", (EncoderMemory(ADDRESS, displacement=displacement), SPARE)))
        distance = len(store) + length
        lea = next(
            encodings("lea", (SPARE, EncoderMemory("RIP", displacement=distance, displacement_bytes=4)))
        )
        return lea + store

    @staticmethod
    def zero_indices() -> bytes:
        """An instruction that clears all indices of a gather or scatter."""
        name = vector("XMM", VECTOR_INDEX)
        return next(encodings("vpxor", (name, name, name)))

    def full_mask(self, chosen: Mapping[int, str]) -> bytes:
        """Instructions that refill the mask, which an instance leaves empty.

        They copy another register, because an instruction that sets all bits may wait for its destination."""
        mask = chosen[self.mask.index]
        if mask.startswith("K"):
            full = (FULL_MASK,) * 3
            return next(encodings("kxnorw", full)) + next(encodings("kmovw", (mask, FULL_MASK)))
        ones = vector(mask[:3], ONES)
        return next(encodings("vpcmpeqd", (ones, ones, ones))) + next(encodings("vpor", (mask, ones, ones)))

    @property
    def mask(self) -> OperandFacts:
        """Mask operand of a gather or scatter; with AVX2 it is the last operand, a vector register."""
        return next((each for each in self.registers if each.opmask), self.registers[-1])

    @property
    def apart(self) -> int:
        """Bytes between the addresses of instances, a multiple of the operand's size.

        Loads share neither a line nor a word offset within their lines; stores go to successive lines
        (chapter 9 of docs/pipeline.md)."""
        if self.memory is None:
            return 0
        size = min(max(self.memory.width // 8, _WORD), LINE)
        return size if self.memory.written else LINE + size

    @property
    def vex(self) -> bool:
        """Whether it has a VEX or EVEX encoding."""
        return self.facts.iform.startswith("V")

    @property
    def sse(self) -> bool:
        """Whether it names vector registers in a legacy SSE encoding.

        Beside 256-bit code such an instruction may cost a transition, or a merge with the upper half."""
        return not self.vex and any(family(each.registers[0]).startswith("V") for each in self.registers)

    @property
    def wide(self) -> bool:
        """Whether it has 512-bit uops: while these wait, some units accept no vector uop (Intel)."""
        return any(each.width == 512 for each in self.registers)

    @property
    def modifies_memory(self) -> bool:
        """Whether it reads and writes the same memory, so that instances at one address wait for each
        other."""
        return self.memory is not None and self.memory.read and self.memory.written

    def fixed(self) -> frozenset[str]:
        """Register families that every instance uses, whatever the choice."""
        names = [each.registers[0] for each in self.facts.operands if len(each.registers) == 1]
        of_gathers = (VECTOR_INDEX, ONES, FULL_MASK) if self.index_width else ()
        return frozenset(family(name) for name in (*names, *self.pointers)).union(of_gathers)

    def instance(
        self, chosen: Mapping[int, str], displacement: int = 0, *, indexed: bool = False
    ) -> bytes | None:
        """As ``encode``, preceded by the instructions that set its operands."""
        code = self.encode(chosen, displacement, indexed=indexed)
        return None if code is None else self.before(chosen, len(code), displacement) + code

    def encode(
        self, chosen: Mapping[int, str], displacement: int = 0, *, indexed: bool = False
    ) -> bytes | None:
        """The instance with these registers by operand number, and ``displacement`` bytes in its address.

        None if no encoding of this variant accepts them."""
        key = (*chosen.items(), displacement, indexed)
        if key not in self.encoded:
            self.encoded[key] = self._encode(chosen, displacement, indexed=indexed)
        return self.encoded[key]

    def _encode(self, chosen: Mapping[int, str], displacement: int, *, indexed: bool) -> bytes | None:
        operands: list[Operand] = []
        mask = ""
        for operand in self.facts.operands:
            if operand.suppressed:
                continue
            if operand.opmask:
                mask = chosen[operand.index]
            elif operand.kind == "imm":
                operands.append(self._immediate(operand))
            elif operand.kind == "relbr":
                operands.append(RelativeTarget())
            elif operand.kind == "mem":
                operands.append(self.place(displacement, indexed=indexed))
            elif operand.kind == "agen":
                operands.append(_address_of(self.facts.attributes["agen"]))
            else:
                operands.append(chosen.get(operand.index, operand.registers[0]))
        repetition = self.facts.attributes.get("rep")
        prefix = b"" if repetition is None else bytes([_REPEATED + int(repetition)])
        # The encoder accepts some 32-bit forms (LSL) only by their 64-bit names.
        wide = [GENERAL.get(each, each) if isinstance(each, str) else each for each in operands]
        for spelled in (operands, wide):
            # Longer ones have prefixes with another meaning, such as a return to a 16-bit address.
            every = encodings(_mnemonic(self.facts.iform), spelled, self._decoration(mask))
            for code in sorted(every, key=len):
                found = self.matcher.find(decode(prefix + code)[0], self.store)
                if found is not None and found.name == self.facts.name:
                    return prefix + code
        return None

    def place(self, displacement: int, *, indexed: bool) -> EncoderMemory:
        """Address of an instance, ``displacement`` bytes from the first."""
        if self.absolute:
            return EncoderMemory(displacement=PATTERN + displacement, displacement_bytes=4)
        if self.index_width:
            return EncoderMemory(ADDRESS, vector(self.index_width, VECTOR_INDEX), 1, displacement)
        return EncoderMemory(ADDRESS, INDEX if indexed else "", 1, displacement)

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
        """A register for every register operand, each of a different family except those that share one by
        ``together``. None if there are not enough."""
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
        """One register for all selectable register operands except masks.

        None if they have no register in common, or are fewer than two."""
        named = [each for each in self.registers if len(each.registers) > 1 and not each.opmask]
        if len(named) < 2:
            return None
        common = set.intersection(*({family(name) for name in each.registers} for each in named))
        first = next((name for name in map(family, named[0].registers) if name in common - _KEPT), None)
        return None if first is None else self.choose({each.index: first for each in named})


def variant(facts: InstructionFacts, matcher: Matcher, store: FactsStore) -> EncodableVariant | str:
    """The variant, or why it has no instance."""
    found = EncodableVariant(facts, matcher, store)
    if any(_unnamed(each) and each.base not in _POINTERS for each in facts.operands):
        return "its implicit memory operand is not known"
    if any(not each.registers for each in found.registers):
        return "the registers of an operand are not known"
    named = {family(each.registers[0]) for each in found.registers if len(each.registers) == 1}
    if named & {ADDRESS, INDEX, SPARE, UNCHANGED}:
        return "it uses the registers that the benchmarks need"
    chosen = found.choose()
    code = None if chosen is None else found.encode(chosen)
    if code is None:
        return "input and output are not run" if facts.category == "IOSTRINGOP" else "no encoding was found"
    return refusal(decode(code)) or found


def _unnamed(operand: OperandFacts) -> bool:
    return operand.kind == "mem" and (operand.suppressed or operand.base is not None)


def _mnemonic(iform: str) -> str:
    """The mnemonic in the encoder's spelling: ``cmova`` for ``CMOVNBE_GPRv_GPRv``."""
    name = re.sub("^REPN?E?_", "", iform).partition("_")[0].lower()
    if name == "xlat":
        return "xlatb"
    for stem in ("cmov", "set", "j"):
        if name.startswith(stem):
            condition = name.removeprefix(stem)
            return stem + _CONDITIONS.get(condition, condition)
    return name


def _address_of(form: str) -> EncoderMemory:
    """The address of a LEA of this form: ``B_IS_D8`` has base, scaled index and a displacement of a byte."""
    parts = form.split("_")
    size = 4 if "D32" in parts else 1 if "D8" in parts else 0
    base = "RIP" if "R" in parts else ADDRESS if "B" in parts else ""
    index = INDEX if "I" in parts or "IS" in parts else ""
    return EncoderMemory(base, index, 2 if "IS" in parts else 1, LINE if size else 0, size)


def breakers(
    variant: EncodableVariant,
    kept: frozenset[int],
    chosen: Mapping[int, str] | None = None,
    *,
    idioms: bool = False,
) -> bytes:
    """Instructions that break every dependence between instances, except through the operands ``kept``.

    ``chosen``: registers by operand; without it, only fixed operands are considered. ``idioms``: a zero idiom
    breaks the dependence on flags, which does not hold on every core. Memory dependences are avoided by the
    instances' addresses."""
    code = b""
    for operand in variant.facts.operands:
        if operand.index in kept:
            continue
        if operand.kind == "flags":
            if operand.flags_read and operand.flags_written:
                code += ZERO_IDIOM if idioms else next(encodings("test", (UNCHANGED, UNCHANGED)))
        elif operand.kind == "reg" and operand.written:
            fixed = operand.registers[0] if len(operand.registers) == 1 else ""
            name = family((chosen or {}).get(operand.index, fixed))
            if not operand.read and not _reads(variant, fixed, kept):
                continue
            if name in GENERAL:
                code += next(encodings("mov", (name, UNCHANGED)))
            elif name.startswith("V") and not (variant.index_width and operand is variant.mask):
                code += _cleared(variant, f"XMM{name[1:]}")
    return code


def _reads(variant: EncodableVariant, register: str, kept: frozenset[int]) -> bool:
    """Whether an operand reads a fixed register that another one writes.

    Examples: IMUL reads AL and writes AX; XLAT reads AL in an address."""
    operands = variant.facts.operands if register else ()
    return any(
        each.read and len(each.registers) == 1 and family(each.registers[0]) == family(register)
        for each in variant.registers
        if register and each.index not in kept
    ) or any(each.index_register and family(each.index_register) == family(register) for each in operands)


def _cleared(variant: EncodableVariant, vector: str) -> bytes:
    """An instruction that clears a vector register without depending on it."""
    if variant.vex:
        return next(encodings("vpxor", (vector, vector, vector)), b"")
    return next(encodings("pxor", (vector, vector)), b"")
