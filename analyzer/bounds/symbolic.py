"""Tracks symbolic register values to find memory operands with equal addresses.

A value is an origin and an offset from it. Two accesses alias if all parts of their addresses are equal;
nothing else is known about aliasing (uiCA model).
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
    """Initial targets of the registers."""

    DIFFERENT = "diff"
    """Every register points to different memory."""
    STACK = "stack"
    """All point to the same memory, except RSP and RBP, which each have their own."""


class SymbolicValues:
    """The values of all registers at one point of the program."""

    def __init__(self, aliasing: Aliasing, *, exact: bool) -> None:
        """``exact``: compare addresses by their sums, and follow changes of the stack pointer
        (docs/pipeline.md, 4.6)."""
        self._aliasing = aliasing
        self._exact = exact
        self._values: dict[str, _Value] = {}
        self._origins = 0

    def _value(self, register: str) -> _Value:
        own = self._aliasing is Aliasing.DIFFERENT or register in ("RSP", "RBP")
        return self._values.get(register, (register if own else "", 0))

    def address(self, access: MemoryAccess, template: InstructionTemplate) -> AddressKey:
        """Key of an address: equal keys mean the same memory."""
        if self._exact:
            return self.place(access, template)
        base = None if access.base is None else self._value(canonical(access.base))
        index = None if access.index is None else self._value(canonical(access.index))
        return base, index, access.scale, access.displacement

    def place(self, access: MemoryAccess, template: InstructionTemplate) -> tuple[AddressKey, int]:
        """The (origin, offset in bytes) of an address."""
        offset = access.displacement or 0
        if access.implicit_stack:
            offset += min(0, template.rsp_change)
        base: Hashable = None
        if access.base is not None:
            base, distance = self._value(canonical(access.base))
            offset += distance
            if access.base == "RIP":  # address of a symbol, whose position is unknown
                base = access.base, offset // _PAGE
        if access.index is None:
            return (base,), offset
        scale = access.scale or 1
        index, distance = self._value(canonical(access.index))
        return (base, index, scale), offset + distance * scale

    def advance(self, template: InstructionTemplate, step: int | None) -> None:
        """Applies an instruction and its ``step_of``: a known step changes the offset, anything
        else gives a new origin."""
        if self._exact and template.rsp_change:
            origin, offset = self._value("RSP")
            self._values["RSP"] = (origin, offset + template.rsp_step)
        new = self._continued(template, step)
        loaded = any(access.read for access in template.memory_operands)
        for output in template.register_outputs:
            self._values[output.canonical] = self._fresh(loaded) if new is None else new

    def synchronise(self, template: InstructionTemplate, step: int | None) -> None:
        """Synchronises the stack pointer for an instruction. In the published model it then has a new value,
        or that of the instruction's results."""
        if not self._exact:
            self._values["RSP"] = self._continued(template, step) or self._fresh(False)

    def _continued(self, template: InstructionTemplate, step: int | None) -> _Value | None:
        if step is None or not template.register_inputs:
            return None
        origin, offset = self._value(template.register_inputs[0].canonical)
        return origin, offset + step

    def _fresh(self, loaded: bool) -> _Value:
        """A new origin: positive for a loaded word, negative for anything else."""
        self._origins += 1
        return (self._origins if loaded else -self._origins), 0


def may_be_anywhere(key: AddressKey) -> bool:
    """True if an address is relative to a computed value, which may be near any other."""
    return any(isinstance(part, int) and part < 0 for part in key[:2])


def step_of(template: InstructionTemplate, *, exact: bool) -> int | None:
    """Difference of the result from the first register input; None if unknown.

    ``exact``: by what the instruction does (docs/pipeline.md, 4.6), not by its name (4.2).
    """
    if exact:
        return _exact_step(template)
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


def _exact_step(template: InstructionTemplate) -> int | None:
    instruction = template.instruction
    name, immediate = instruction.mnemonic, instruction.immediate
    if template.memory_operands or len(template.register_outputs) != 1:
        return None
    if name in ("mov", "movsxd"):
        return 0 if immediate is None else None
    if name == "lea":
        address = instruction.operands[1]
        known = address.base and not address.index and address.base != "RIP"
        return address.displacement if known else None
    if name in ("inc", "dec"):
        return 1 if name == "inc" else -1
    if name in ("add", "sub") and immediate is not None:
        return immediate if name == "add" else -immediate
    return None
