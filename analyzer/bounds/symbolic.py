"""Symbolic register values: which memory operands of a block have the same address.

A value is an origin and an offset from it. Two accesses are taken to be the same memory if all parts of their
addresses are equal; nothing else is known about aliasing (uiCA model).
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum

from cyclelens.analyzer.model.uops import InstructionTemplate, MemoryAccess
from cyclelens.analyzer.uops.registers import canonical

AddressKey = tuple[Hashable, ...]
_PAGE = 4096
_Value = tuple[Hashable, int]


class Aliasing(StrEnum):
    """What is assumed about the registers before the block."""

    DIFFERENT = "diff"
    """Every register points somewhere else."""
    STACK = "stack"
    """All point to the same memory except RSP and RBP, which each have their own."""


class SymbolicValues:
    """The values of all registers at one point of the program."""

    def __init__(self, aliasing: Aliasing, *, exact: bool = False) -> None:
        """``exact``: addresses are compared by their sums, and pushes and pops move the stack pointer
        (docs/pipeline.md, 4.6)."""
        self._aliasing = aliasing
        self._exact = exact
        self._values: dict[str, _Value] = {}
        self._origins = 0

    def _value(self, register: str) -> _Value:
        own = self._aliasing is Aliasing.DIFFERENT or register in ("RSP", "RBP")
        return self._values.get(register, (register if own else "", 0))

    def address(self, access: MemoryAccess, template: InstructionTemplate) -> AddressKey:
        """Equal keys are the same memory."""
        if self._exact:
            return self.place(access, template)
        base = None if access.base is None else self._value(canonical(access.base))
        index = None if access.index is None else self._value(canonical(access.index))
        return base, index, access.scale, access.displacement

    def place(self, access: MemoryAccess, template: InstructionTemplate) -> tuple[AddressKey, int]:
        """What an address is relative to, and how many bytes it is from there."""
        offset = access.displacement or 0
        if access.implicit_stack:
            offset += min(0, template.rsp_change)
        base: Hashable = None
        if access.base is not None:
            base, distance = self._value(canonical(access.base))
            offset += distance
            if access.base == "RIP":  # of a symbol, whose place is not known
                base = access.base, offset // _PAGE
        if access.index is None:
            return (base,), offset
        scale = access.scale or 1
        index, distance = self._value(canonical(access.index))
        return (base, index, scale), offset + distance * scale

    def advance(self, template: InstructionTemplate, step: int | None) -> None:
        """Applies an instruction with its ``step_of``: moves keep the value, steps by a constant change the
        offset, everything else gives a new origin."""
        if self._exact and template.rsp_change:
            origin, offset = self._value("RSP")
            self._values["RSP"] = (origin, offset + template.rsp_change)
        new: _Value | None = None
        if step is not None and template.register_inputs:
            origin, offset = self._value(template.register_inputs[0].canonical)
            new = (origin, offset + step)
        for output in template.register_outputs:
            if new is None:
                self._origins += 1
                self._values[output.canonical] = (self._origins, 0)
            else:
                self._values[output.canonical] = new


def step_of(template: InstructionTemplate) -> int | None:
    """By how much the result differs from the first register input, None if that is not known."""
    name, immediate = template.name, template.instruction.immediate
    if "MOV" in name and "CMOV" not in name:
        return 0
    if "ADD" in name and immediate is not None:
        return immediate
    if "SUB" in name and immediate is not None:
        return -immediate
    if "INC" in name:
        return 1
    if "DEC" in name:
        return -1
    return None
