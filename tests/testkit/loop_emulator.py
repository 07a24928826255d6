"""Runs loops instruction by instruction, to see which addresses they access: general registers, and flags
as far as a loop's end needs them. It shares nothing with the analysis of addresses but the decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind

_MASK = (1 << 64) - 1
_MOST_STEPS = 10_000_000


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


_TAKEN: Mapping[str, Callable[[int, int], bool]] = {
    "jne": lambda one, other: one != other,
    "jnz": lambda one, other: one != other,
    "jb": lambda one, other: one < other,
    "ja": lambda one, other: one > other,
    "jl": lambda one, other: _signed(one) < _signed(other),
    "jg": lambda one, other: _signed(one) > _signed(other),
}


def accessed(
    code: bytes, registers: Mapping[str, int], memory: Mapping[int, int] | None = None
) -> Iterator[int]:
    """Addresses of the memory operands of a loop until it ends, in order.

    ``memory``: 64-bit words that loads into general registers read."""
    state, words = dict(registers), memory or {}
    instructions = decode(code)
    for _ in range(_MOST_STEPS):
        compared = (0, 0)
        for instruction in instructions:
            for operand in instruction.operands:
                if operand.kind is OperandKind.MEMORY:
                    yield _address(operand, state)
            if instruction.mnemonic in _TAKEN:
                break
            compared = _step(instruction, state, words, compared)
        if not _TAKEN[instruction.mnemonic](*compared):
            return
    raise AssertionError("the loop does not end")


def _address(operand: DecodedOperand, state: Mapping[str, int]) -> int:
    parts = ((operand.base, 1), (operand.index, operand.scale))
    return (sum(state[name] * scale for name, scale in parts if name) + operand.displacement) & _MASK


def _step(
    instruction: Instruction, state: dict[str, int], words: Mapping[int, int], compared: tuple[int, int]
) -> tuple[int, int]:
    """Changes the state; returns the two values that a jump then compares."""
    operands = instruction.operands
    name = operands[0].register
    if name not in state:
        return compared  # vectors
    if instruction.mnemonic == "lea":
        state[name] = _address(operands[1], state)
        return compared
    other = 0
    if len(operands) > 1:
        source = operands[1]
        other = state.get(source.register or "", instruction.immediate or 0)
        if source.kind is OperandKind.MEMORY:
            other = words.get(_address(source, state), 0)
    changes = {"add": other, "sub": -other, "inc": 1, "dec": -1}
    if instruction.mnemonic in changes:
        state[name] = (state[name] + changes[instruction.mnemonic]) & _MASK
        return state[name], 0
    if instruction.mnemonic == "cmp":
        return state[name], other & _MASK
    if instruction.mnemonic == "test":
        return state[name] & other, 0
    assert instruction.mnemonic == "mov", instruction.text
    state[name] = other
    return compared
