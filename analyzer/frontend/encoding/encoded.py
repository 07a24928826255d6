"""An instruction's bytes: the chosen encoding with the prefixes that the text has before it."""

from __future__ import annotations

from cyclelens.analyzer.frontend.encoding.choice import EncodingRequest, choose
from cyclelens.analyzer.frontend.encoding.nasm_choices import loading
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    OperandError,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.prefixes import changing, prefixed
from cyclelens.analyzer.frontend.statements.refusals import refused
from cyclelens.analyzer.isa import decoder
from msgspec import Struct
from msgspec.structs import replace

NARROW = {1: 0x55, 2: 0x4321}
"""Placeholders for unknown values in fields of 1 or 2 bytes."""


class Encoded(Struct, frozen=True):
    """Bytes that need no layout, and the backend that made them."""

    code: bytes
    backend: str = "cyclelens"
    shortened: int | None = None
    """The encoded immediate if the written one is too long for its operand."""


def encoded(request: EncodingRequest, prefix: bytes, before: bytes, *, is_nasm: bool) -> Encoded:
    """The bytes of an instruction after its ``prefix`` bytes and the instruction ``before`` it, such as
    FWAIT. Raises OperandError for a prefix that GNU as does not accept there, or that would make it a
    different instruction, and UnsupportedError where GNU as accepts no encoding."""
    chosen = choose(request)
    if chosen is None:
        chosen = next(filter(None, map(choose, _narrower(request))), None)
    if chosen is None:
        raise _refusal(request)
    code = prefixed(prefix, chosen.code, is_nasm=is_nasm)
    if changing(prefix) and not _is_same(chosen.code, code):
        raise OperandError(f"The prefix would make '{request.mnemonic}' a different instruction.")
    return Encoded(before + (loading(code) if is_nasm else code), "iced-x86", chosen.shortened)


def _refusal(request: EncodingRequest) -> OperandError | UnsupportedError:
    """Why an instruction has no encoding."""
    for operand in request.operands:
        if isinstance(operand, MemoryOperand) and operand.is_far:
            return OperandError("An address of more than 32 bits needs 'movabs'.")
    small = [replace(each, value=1) if isinstance(each, Immediate) else each for each in request.operands]
    if small != request.operands and choose(replace(request, operands=small)) is not None:
        return OperandError(f"The number does not fit '{request.mnemonic}' with these operands.")
    return UnsupportedError(refused(request.mnemonic, request.operands, "The built-in assembler"))


def _narrower(request: EncodingRequest) -> list[EncodingRequest]:
    """The instruction with smaller placeholders for an address that is an immediate, if it has one."""
    if not any(isinstance(operand, Immediate) and operand.is_address for operand in request.operands):
        return []
    return [
        replace(
            request,
            operands=[
                replace(operand, value=number)
                if isinstance(operand, Immediate) and operand.is_address
                else operand
                for operand in request.operands
            ],
        )
        for _, number in sorted(NARROW.items(), reverse=True)
    ]


def _is_same(code: bytes, prefixed_code: bytes) -> bool:
    """Whether processors read the same operands with the prefixes as without them."""
    read = [decoder.decode(each) for each in (code, prefixed_code)]
    if len(read[1]) != 1:
        return False
    (one,), (other,) = read
    return (one.mnemonic, one.operands, one.immediate) == (other.mnemonic, other.operands, other.immediate)
