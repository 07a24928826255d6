"""Requests to assemblers, and the conversion of their answers to a statement's bytes."""

from __future__ import annotations

from enum import Enum

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemblers.assembler_client import Request
from cyclelens.analyzer.frontend.encoding.choice import Asked, Chosen, choose
from cyclelens.analyzer.frontend.encoding.verify import Written, mismatch
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.operand_types import (
    MemoryOperand,
    Operand,
    OperandError,
    Register,
)
from cyclelens.analyzer.frontend.statements.prefixes import prefixed
from msgspec import Struct

_VEX2, _VEX3 = 0xC5, 0xC4
_STORING = {0x11: 0x10, 0x29: 0x28, 0x7F: 0x6F}
"""Opcodes of vector moves that store -> opcodes of the same moves that load."""
MARK = 0x12345678
"""Displacement that marks an address in the bytes."""


class Repair(Enum):
    """Correction of the assembler's bytes."""

    NONE = 0
    ABSOLUTE = 1
    """Turn ``[reg*2 + mark]`` into an absolute address."""
    NOP_MEMORY = 2
    """Turn a LEA into a NOP of the same address."""
    NOP_REGISTER = 3
    """Turn a NOT into a NOP of the same register."""


class EncodingRequest(Struct):
    """Request to the assembler, with everything needed to check the answer. Filled in field by field while
    the statement is parsed, because copies take longer, and not changed afterwards."""

    request: Request | None
    """For Keystone; None if it cannot encode this."""
    mnemonic: str
    operands: tuple[Operand, ...]
    """In Intel order."""
    prefix: bytes
    repair: Repair = Repair.NONE
    asked: Asked | None = None
    """The instruction as written, without workarounds for Keystone's defects."""
    reason: str = ""
    """Why Keystone is not asked."""
    key: tuple[Dialect, str, bool] | None = None
    """Cache key of the answer, if it does not depend on the statement's context."""
    narrower: EncodingRequest | None = None
    """The same request with a smaller placeholder for an unknown number, for fields of fewer than 32 bits."""
    before: bytes = b""
    """Encoding of another instruction that precedes this one, such as FWAIT."""
    is_nasm: bool = False
    """Use NASM's prefix order, and the load form of register moves even if the store form is shorter."""

    def written(self, request: Request) -> Written:
        """Expected content of the answer to one of the requests."""
        return Written(self.mnemonic, self.operands, request[0] == "att")


class MismatchError(OperandError):
    """The assembler's bytes differ from the text."""


def _is_general(operand: Operand) -> bool:
    return isinstance(operand, Register) and registers.width(operand.name) > 0


def is_segment(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.name in registers.SEGMENTS


def finish(question: EncodingRequest, answer: bytes, caches: Caches | None = None) -> bytes:
    """The statement's bytes from Keystone's answer. ``caches`` keep decoded instructions. Raises
    MismatchError."""
    code = answer
    if question.repair is Repair.ABSOLUTE:
        code = _absolute(question, answer)
    elif question.repair is Repair.NOP_MEMORY:
        at = answer.index(b"\x8d")
        code = answer[:at] + b"\x0f\x1f" + answer[at + 1 :]
    elif question.repair is Repair.NOP_REGISTER:
        at = answer.index(b"\xf7")
        code = answer[:at] + b"\x0f\x1f" + bytes([answer[at + 1] & 0xC7])
    if any(is_segment(operand) for operand in question.operands) and not _is_general(question.operands[0]):
        # A general-purpose destination may be wider than the 16 bits of a segment register; others never are.
        code = code.removeprefix(b"\x66")
    code = prefixed(question.prefix, code, is_nasm=question.is_nasm)
    assert question.request is not None, "Keystone answers only what it was asked"
    wrong = mismatch(question.written(question.request), code, caches=caches)
    if wrong:
        raise MismatchError(f"The built-in assembler encodes this wrongly ({wrong}); its bytes are not used.")
    return question.before + (_loading(code) if question.is_nasm else code)


def complete(question: EncodingRequest, caches: Caches | None = None) -> Chosen | None:
    """The statement's encoding without Keystone; None if GNU as rejects it or there is none. ``caches``
    keep decoded instructions. Raises OperandError for prefixes that GNU as rejects or that change the
    instruction."""
    chosen = choose(question.asked) if question.asked is not None else None
    if question.asked is None or chosen is None:
        return None
    code = prefixed(question.prefix, chosen.code, is_nasm=question.is_nasm)
    if question.prefix:
        written = Written(question.asked.mnemonic, question.asked.operands, question.asked.is_att)
        if wrong := mismatch(written, code, evex=True, cut=True, caches=caches):
            raise MismatchError(f"A prefix makes another instruction of this ({wrong}).")
    return Chosen(question.before + (_loading(code) if question.is_nasm else code), chosen.shortened)


def _loading(code: bytes) -> bytes:
    """A move between vector registers in its load form; other code is unchanged."""
    if len(code) != 4 or code[0] != _VEX2 or code[1] & 0x80 or code[3] < 0xC0 or code[2] not in _STORING:
        return code
    target, source = code[3] & 7, code[3] >> 3 & 7
    registers_byte = bytes([0xC0 | target << 3 | source])
    return bytes([_VEX3, 0xC1, code[1] & 0x7F, _STORING[code[2]]]) + registers_byte


def _absolute(question: EncodingRequest, answer: bytes) -> bytes:
    mark = MARK.to_bytes(4, "little")
    at = answer.find(mark)
    # SIB: index rax, scale 2, no base -> no index, no base.
    if at < 1 or answer[at - 1] != 0x45 or answer.find(mark, at + 1) >= 0:
        raise MismatchError("The built-in assembler cannot encode this absolute address.")
    memory = next(operand for operand in question.operands if isinstance(operand, MemoryOperand))
    address = (memory.displacement % (1 << 32)).to_bytes(4, "little")
    return answer[: at - 1] + b"\x25" + address + answer[at + 4 :]
