"""A decoded instruction: what its bytes alone tell, before any table is consulted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from msgspec import Struct


class OperandKind(StrEnum):
    """Kind of an operand that is visible in the encoding."""

    REGISTER = "reg"
    MEMORY = "mem"
    AGEN = "agen"
    """An address that is computed but not accessed (LEA, multi-byte NOP is MEMORY or REGISTER)."""
    IMMEDIATE = "imm"
    BRANCH = "relbr"


class DecodedOperand(Struct, frozen=True):
    """One operand of the encoding, in Intel order. Registers have Intel's upper-case names (``RAX R8D R8W R8B
    SPL AH XMM0 K1 MM0 ST0 CR0``); None if absent."""

    kind: OperandKind
    register: str | None = None
    base: str | None = None
    index: str | None = None
    scale: int = 1
    displacement: int = 0
    """Signed; 0 if absent. RIP-relative operands have the encoded displacement, not the target."""
    displacement_bits: int = 0
    """Bits of the encoded displacement; 0 if absent."""


class Encoding(Struct, frozen=True):
    """What instructions share that differ only in registers and numbers.

    A decoder makes one object per encoding, so equality is identity. Positions are in bytes.
    """

    describe: Callable[[bytes], str]
    """Returns the text of an instruction from its bytes."""
    mnemonic: str = ""
    iform: str = ""
    kinds: tuple[OperandKind, ...] = ()
    """Kinds of the operands."""
    opcode_offset: int = 0
    has_66_prefix: bool = False
    immediate_bits: int = 0
    displacement_bits: int = 0
    effective_operand_size: int = 2
    masked: bool = False
    """True if the last register is a mask."""
    zeroing: bool = False
    broadcast: bool = False
    suppress_exceptions: bool = False
    repeat: int = 0
    evex: bool = False
    has_modrm: bool = False
    extensions: frozenset[str] = frozenset()

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Instruction:
    """One decoded instruction (docs/pipeline.md 2.2). Positions and lengths in bytes.

    Thousands are made, few are inspected: the slots hold what the pipeline needs from each, everything else
    is computed on demand. All of it depends on the bytes alone, as equality does.
    """

    __slots__ = (
        *("_operands", "_text", "code", "displacement", "encoding", "high_bits", "immediate", "mnemonic"),
        *("registers", "scale"),
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
        self.mnemonic = encoding.mnemonic
        """Lower-case Intel mnemonic; empty if the bytes are invalid."""
        self.registers = registers
        """Operands in order, an address as base and index; the mask comes last."""
        self.immediate = immediate
        """First immediate, sign-extended from its encoded width."""
        self.displacement = displacement
        """Displacement of the address or of a relative branch."""
        self.scale = scale
        """Scale of the address."""
        self.high_bits = 0
        """Cache of ``loop_end`` about its registers; 0 until known."""
        self._text: str | None = None
        self._operands: tuple[DecodedOperand, ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instruction) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    @property
    def text(self) -> str:
        """Text in lower-case Intel syntax."""
        if self._text is None:
            self._text = self.encoding.describe(self.code)
        return self._text

    @property
    def operands(self) -> tuple[DecodedOperand, ...]:
        """Explicit operands in Intel order, including implicit fixed ones (``CL``, ``AL``) that Intel syntax
        shows, without the EVEX mask."""
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
    def iform(self) -> str:
        """Encoding form in the fact tables' spelling (``ADD_GPRv_GPRv_01``); empty if unknown."""
        return self.encoding.iform

    @property
    def opcode_offset(self) -> int:
        """Bytes before the nominal opcode byte: prefixes, REX, VEX/EVEX and escapes."""
        return self.encoding.opcode_offset

    @property
    def has_66_prefix(self) -> bool:
        """True if 66 is among the prefixes."""
        return self.encoding.has_66_prefix

    @property
    def immediate_bits(self) -> int:
        """Bits of the encoded immediate; 0 if absent."""
        return self.encoding.immediate_bits

    @property
    def effective_operand_size(self) -> int:
        """1, 2, 3 for 16, 32, 64 bits."""
        return self.encoding.effective_operand_size

    @property
    def mask(self) -> str | None:
        """Mask register ``K1`` to ``K7``; None for no mask or K0."""
        return self.registers[-1] if self.encoding.masked else None

    @property
    def zeroing(self) -> bool:
        """True if masked-out elements become 0."""
        return self.encoding.zeroing

    @property
    def broadcast(self) -> bool:
        """True if one element of memory is broadcast to all."""
        return self.encoding.broadcast

    @property
    def suppress_exceptions(self) -> bool:
        """True if exceptions are suppressed, alone or by an embedded rounding mode."""
        return self.encoding.suppress_exceptions

    @property
    def repeat(self) -> int:
        """3 for REP/REPE, 2 for REPNE, 0 for none."""
        return self.encoding.repeat

    @property
    def rm(self) -> int:
        """The ModRM.rm digit (4 with SIB); 0 without a ModRM byte."""
        return self.code[self.encoding.opcode_offset + 1] & 7 if self.encoding.has_modrm else 0

    @property
    def branch_displacement(self) -> int | None:
        """Target minus the address after the instruction; None unless it is a relative branch."""
        return self.displacement if OperandKind.BRANCH in self.encoding.kinds else None

    @property
    def extensions(self) -> frozenset[str]:
        """All instruction-set extensions that it needs, in the decoder's spelling of CPUID's feature flags
        (``AVX512F``, ``AVX512_VNNI``, ``FMA``)."""
        return self.encoding.extensions

    @property
    def length(self) -> int:
        """Length in bytes."""
        return len(self.code)

    @property
    def has_length_changing_prefix(self) -> bool:
        """True for a 66 prefix with a 16-bit immediate (docs/pipeline.md 2.2)."""
        return self.encoding.has_66_prefix and self.encoding.immediate_bits == 16
