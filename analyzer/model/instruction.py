"""A decoded instruction: what the bytes alone say, before any table is consulted."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from cyclelens.analyzer.model.frozen import dataclass


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


class Instruction(NamedTuple):
    """One decoded instruction (docs/pipeline.md 2.2). Positions and lengths in bytes.

    A named tuple, because it is made five times as fast as a frozen data class with so many fields.
    """

    code: bytes
    text: str
    """Intel syntax, lower case, for people."""
    mnemonic: str
    """Lower-case Intel mnemonic; empty if the bytes are invalid."""
    iform: str
    """Name of the encoding form in the fact tables' spelling (``ADD_GPRv_GPRv_01``); empty if unknown."""
    operands: tuple[DecodedOperand, ...] = ()
    """Explicit operands in Intel order, implicit fixed ones (``CL``, ``AL``) included where Intel syntax
    shows them; the EVEX mask is not among them."""
    opcode_offset: int = 0
    """Bytes before the nominal opcode byte; prefixes, REX, VEX/EVEX and escapes all count."""
    has_66_prefix: bool = False
    immediate: int | None = None
    """First immediate, sign-extended from its encoded width."""
    immediate_bits: int = 0
    effective_operand_size: int = 2
    """1, 2, 3 for 16, 32, 64 bits."""
    mask: str | None = None
    """``K1``..``K7``; None for no mask or K0."""
    zeroing: bool = False
    broadcast: bool = False
    suppress_exceptions: bool = False
    repeat: int = 0
    """3 for REP/REPE, 2 for REPNE, 0 for none."""
    rm: int = 0
    """ModRM.rm digit (4 with SIB), 0 if there is no ModRM byte."""
    branch_displacement: int | None = None
    """For relative branches: target minus the address after the instruction."""
    extensions: frozenset[str] = frozenset()
    """Extensions of the instruction set that it needs, all of them, by the names of CPUID's feature flags as
    the decoder spells them (``AVX512F``, ``AVX512_VNNI``, ``FMA``)."""

    @property
    def length(self) -> int:
        """Bytes."""
        return len(self.code)

    @property
    def has_length_changing_prefix(self) -> bool:
        """66 prefix together with a 16-bit immediate (docs/pipeline.md 2.2)."""
        return self.has_66_prefix and self.immediate_bits == 16
