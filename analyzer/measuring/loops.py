"""Makes a region's code measurable: a loop needs an end that the harness controls."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode, number_field
from cyclelens.analyzer.isa.effects import written_registers
from cyclelens.analyzer.measuring.requests import PATTERN, REGISTERS, Counter, Inputs
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind
from msgspec import Struct

_LINE = 64
_DATA = 1 << 28
"""Bytes from the code to the data beside it."""
_STEPS = {"inc": 1, "dec": -1}
_UNTIL_ZERO = ("jne", "jnz")
_WHILE_LESS = ("jne", "jnz", "jb", "jl", "jc", "jnae", "jnge")
_WHILE_MORE = ("jne", "jnz", "ja", "jg", "jnbe", "jnle")


class MeasurableLoop(Struct, frozen=True):
    """A loop with a known end."""

    code: bytes
    counter: Counter
    closed: bool
    """True if the code ends in its own jump; otherwise the harness adds a counter."""
    note: str = ""
    """How the code differs from the region's."""


def measurable(code: bytes, inputs: Inputs) -> MeasurableLoop | str:
    """The loop with a counter that ends it after a given number of rounds, or why there is none.

    A loop that counts a register to zero or up to another one stays unchanged. In any other loop, a jump that
    counts a free register down replaces the jump back.
    """
    instructions = decode(code)
    known = _own_end(instructions, inputs)
    if known is not None:
        return MeasurableLoop(code, known, closed=True)
    body = instructions[:-1]
    end = loop_end(body)
    if end is None:
        return "the loop uses every register: none is left to count its rounds"
    counter = decode(end)[0].operands[0].register
    assert counter is not None
    return MeasurableLoop(
        b"".join(each.code for each in body),
        Counter(REGISTERS.index(counter)),
        closed=False,
        note=f"'{instructions[-1].mnemonic}' was replaced by '{decode(end)[0].text}; jnz', "
        "so that the number of rounds is known",
    )


def with_data(code: bytes, offset: int) -> bytes:
    """Give each RIP-relative operand data of its own at the start of a cache line.

    ``offset`` is the code's offset in its line, in bytes. Before relocation these operands would address the
    code."""
    made, line = b"", 0
    for instruction in decode(code):
        each, end = instruction.code, offset + len(made) + len(instruction.code)
        field = number_field(each, immediate=False)
        if field.size == 4 and any(operand.base == "RIP" for operand in instruction.operands):
            displacement = _DATA + line - end
            line += _LINE
            each = each[: field.start] + displacement.to_bytes(4, "little") + each[field.start + field.size :]
        made += each
    return made


def _own_end(instructions: Sequence[Instruction], inputs: Inputs) -> Counter | None:
    """The counter of a loop that ends itself: ``add REG, N; jnz`` or ``cmp REG, LIMIT; jb``."""
    if len(instructions) < 2:
        return None
    *body, test, jump = instructions
    if test.mnemonic == "cmp" and len(test.operands) == 2:
        return _counts_to(body, test, jump, inputs)
    register = _register(test.operands[0]) if test.operands else None
    step = 0 if register is None else constant_step(test, register)
    # LEA sets no flags, so the jump reads those of another instruction.
    if (
        register is None
        or test.mnemonic == "lea"
        or not step
        or jump.mnemonic not in _UNTIL_ZERO
        or _written(body, register)
    ):
        return None
    return Counter(REGISTERS.index(register), 0, -step)


def _counts_to(
    body: Sequence[Instruction], test: Instruction, jump: Instruction, inputs: Inputs
) -> Counter | None:
    """The counter of a loop that compares a register with a constant or with another register, in either
    order."""
    first, second = map(_register, test.operands)
    for register, limit, ascending, descending in (
        (first, second, _WHILE_LESS, _WHILE_MORE),
        (second, first, _WHILE_MORE, _WHILE_LESS),
    ):
        if register is None or limit == register:
            continue
        writers = [each for each in body if register in written_registers(each.code)]
        step = constant_step(writers[0], register) if len(writers) == 1 else 0
        if not step or jump.mnemonic not in (ascending if step > 0 else descending):
            continue
        if limit is not None and not _written(body, limit):
            return Counter(REGISTERS.index(limit), inputs.registers.get(register, PATTERN), step)
        if test.operands[1].kind is OperandKind.IMMEDIATE:
            return Counter(REGISTERS.index(register), test.immediate or 0, -step)
    return None


def _register(operand: DecodedOperand) -> str | None:
    """The register of a 64-bit register operand; None for any other operand."""
    return operand.register if operand.register in REGISTERS else None


def _written(instructions: Sequence[Instruction], register: str) -> bool:
    return any(register in written_registers(each.code) for each in instructions)


def constant_step(instruction: Instruction, register: str) -> int:
    """The constant that the instruction adds to a register; 0 if unknown."""
    if not instruction.operands or instruction.operands[0].register != register:
        return 0
    if instruction.mnemonic in _STEPS:
        return _STEPS[instruction.mnemonic]
    constant = instruction.immediate if instruction.operands[-1].kind is OperandKind.IMMEDIATE else None
    if constant is not None and instruction.mnemonic in ("add", "sub"):
        return constant if instruction.mnemonic == "add" else -constant
    if instruction.mnemonic == "lea":
        address = instruction.operands[1]
        if address.base == register and address.index is None:
            return address.displacement
    return 0
