"""Separately renamed AH to DH: merge uops, and the extra cycle of clean reads (H1,
H2 of docs/pipeline.md)."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.uops import RegisterOperand
from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import HIGH8

_TRACKED = frozenset({"RAX", "RBX", "RCX", "RDX"})


class _DirtyRegisters:
    """Which of RAX to RDX have a dirty high-8 part."""

    def __init__(self) -> None:
        self.dirty: set[str] = set()

    def update(self, instruction: Prepared) -> None:
        for operand in (
            *instruction.register_inputs,
            *instruction.address_inputs,
            *instruction.register_outputs,
        ):
            if operand.canonical in _TRACKED and operand.width > 8:
                self.dirty.discard(operand.canonical)
        for operand in instruction.register_outputs:
            if operand.name in HIGH8:
                self.dirty.add(operand.canonical)


def high8_effects(
    block: Sequence[Prepared | None],
) -> list[tuple[frozenset[int], tuple[str, ...]]]:
    """For each instruction: (positions of register inputs that read a clean high-8 register, which adds one
    cycle to each output; 64-bit registers to merge before it).

    Two passes over the block give the steady state of a loop. Unknown instructions (None) change nothing.
    """
    state = _DirtyRegisters()
    for instruction in block:
        if instruction is not None:
            state.update(instruction)
    effects: list[tuple[frozenset[int], tuple[str, ...]]] = []
    for instruction in block:
        if instruction is None:
            effects.append((frozenset(), ()))
            continue
        slower = frozenset(
            position
            for position, operand in enumerate(instruction.register_inputs)
            if operand.name in HIGH8 and operand.canonical not in state.dirty
        )
        merged = tuple(
            operand.canonical
            for operand in (*instruction.register_inputs, *instruction.address_inputs)
            if _is_wide(operand) and operand.canonical in state.dirty
        )
        effects.append((slower, merged))
        state.update(instruction)
    return effects


def _is_wide(operand: RegisterOperand) -> bool:
    return operand.canonical in _TRACKED and operand.width > 8
