"""A decoded instruction: what the bytes alone say, before any table is consulted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from cyclelens.analyzer.common.data_classes import dataclass


class OperandKind(StrEnum):
    """Kind of an operand that is visible in the encoding."""

    REGISTER = "reg"
    MEMORY = "mem"
    AGEN = "agen"
    """An address that is computed but not accessed (LEA, multi-byte NOP is MEMORY or REGISTER)."""
    IMMEDIATE = "imm"
    BRANCH = "relbr"


@dataclass(frozen=True, slots=True)
class DecodedOperand:
    """One operand of the encoding, in Intel order. Registers are upper-case names in Intel's spelling
    (``RAX R8D R8W R8B SPL AH XMM0 K1 MM0 ST0 CR0``); ``None`` where there is none.
    """

    kind: OperandKind
    register: str | None = None
    base: str | None = None
    index: str | None = None
    scale: int = 1
    displacement: int = 0
    """Signed; 0 if none. For RIP-relative operands the encoded displacement, not the target."""
    displacement_bits: int = 0
    """Width of the encoded displacement, 0 if none."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """What instructions have in common that differ in nothing but registers and numbers. A decoder makes one
    of each; two are equal if they are the same. Positions in bytes."""

    describe: Callable[[bytes], str]
    """The text of an instruction with these bytes."""
    mnemonic: str = ""
    iform: str = ""
    kinds: tuple[OperandKind, ...] = ()
    """Of the operands."""
    opcode_offset: int = 0
    has_66_prefix: bool = False
    immediate_bits: int = 0
    displacement_bits: int = 0
    effective_operand_size: int = 2
    masked: bool = False
    """A mask is the last of the registers."""
    zeroing: bool = False
    broadcast: bool = False
    suppress_exceptions: bool = False
    repeat: int = 0
    has_modrm: bool = False
    extensions: frozenset[str] = frozenset()

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Instruction:
    """One decoded instruction (docs/pipeline.md 2.2). Positions and lengths in bytes.

    Thousands are made of which only a few are ever looked at: what the pipeline asks of every one is in its
    slots, all else is worked out when it is asked for. It depends on the bytes alone, as equality does.
    """

    __slots__ = (
        *("_operands", "_text", "code", "displacement", "encoding", "high_bits", "immediate", "registers"),
        "scale",
    )

    def __init__(
        self,
        code: bytes,
        encoding: Encoding,
        registers: tuple[str | None, ...] = (),
        immediate: int | None = None,
        displacement: int = 0,
        scale: int = 1,
    ) -> None:
        self.code = code
        self.encoding = encoding
        self.registers = registers
        """In the order of the operands, base and index of an address; at the end the mask."""
        self.immediate = immediate
        """First immediate, sign-extended from its encoded width."""
        self.displacement = displacement
        """Of the address, or of a relative branch."""
        self.scale = scale
        """Of the address."""
        self.high_bits = 0
        """What ``loop_end`` found out about its registers; 0 before."""
        self._text: str | None = None
        self._operands: tuple[DecodedOperand, ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instruction) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    @property
    def text(self) -> str:
        """Intel syntax, lower case, for people."""
        if self._text is None:
            self._text = self.encoding.describe(self.code)
        return self._text

    @property
    def operands(self) -> tuple[DecodedOperand, ...]:
        """Explicit operands in Intel order, implicit fixed ones (``CL``, ``AL``) included where Intel syntax
        shows them; the EVEX mask is not among them."""
        if self._operands is None:
            registers = iter(self.registers)
            self._operands = tuple([self._operand(kind, registers) for kind in self.encoding.kinds])
        return self._operands

    def _operand(self, kind: OperandKind, registers: Iterator[str | None]) -> DecodedOperand:
        if kind is OperandKind.REGISTER:
            return DecodedOperand(kind, next(registers))
        if kind is OperandKind.IMMEDIATE or kind is OperandKind.BRANCH:
            return DecodedOperand(kind)
        base, index = next(registers), next(registers)
        bits = self.encoding.displacement_bits
        return DecodedOperand(kind, None, base, index, self.scale, self.displacement, bits)

    @property
    def mnemonic(self) -> str:
        """Lower-case Intel mnemonic; empty if the bytes are invalid."""
        return self.encoding.mnemonic

    @property
    def iform(self) -> str:
        """Name of the encoding form in the fact tables' spelling (``ADD_GPRv_GPRv_01``); empty if unknown."""
        return self.encoding.iform

    @property
    def opcode_offset(self) -> int:
        """Bytes before the nominal opcode byte; prefixes, REX, VEX/EVEX and escapes all count."""
        return self.encoding.opcode_offset

    @property
    def has_66_prefix(self) -> bool:
        """A 66 stands among the prefixes."""
        return self.encoding.has_66_prefix

    @property
    def immediate_bits(self) -> int:
        """Encoded width of the immediate, 0 if there is none."""
        return self.encoding.immediate_bits

    @property
    def effective_operand_size(self) -> int:
        """1, 2, 3 for 16, 32, 64 bits."""
        return self.encoding.effective_operand_size

    @property
    def mask(self) -> str | None:
        """``K1``..``K7``; None for no mask or K0."""
        return self.registers[-1] if self.encoding.masked else None

    @property
    def zeroing(self) -> bool:
        """What the mask leaves out becomes 0."""
        return self.encoding.zeroing

    @property
    def broadcast(self) -> bool:
        """One element of memory stands for all."""
        return self.encoding.broadcast

    @property
    def suppress_exceptions(self) -> bool:
        """By itself, or with a rounding of its own."""
        return self.encoding.suppress_exceptions

    @property
    def repeat(self) -> int:
        """3 for REP/REPE, 2 for REPNE, 0 for none."""
        return self.encoding.repeat

    @property
    def rm(self) -> int:
        """ModRM.rm digit (4 with SIB), 0 if there is no ModRM byte."""
        return self.code[self.encoding.opcode_offset + 1] & 7 if self.encoding.has_modrm else 0

    @property
    def branch_displacement(self) -> int | None:
        """For relative branches: target minus the address after the instruction."""
        return self.displacement if OperandKind.BRANCH in self.encoding.kinds else None

    @property
    def extensions(self) -> frozenset[str]:
        """Extensions of the instruction set that it needs, all of them, by the names of CPUID's feature flags
        as the decoder spells them (``AVX512F``, ``AVX512_VNNI``, ``FMA``)."""
        return self.encoding.extensions

    @property
    def length(self) -> int:
        """Bytes."""
        return len(self.code)

    @property
    def has_length_changing_prefix(self) -> bool:
        """66 prefix together with a 16-bit immediate (docs/pipeline.md 2.2)."""
        return self.encoding.has_66_prefix and self.encoding.immediate_bits == 16
