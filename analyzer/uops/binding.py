"""Binds the operands of a record to the registers and addresses of an encoding."""

from __future__ import annotations

from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct


class BoundOperand(Struct, frozen=True):
    """A table operand with the register or address that the encoding gives it."""

    facts: OperandFacts
    register: str | None = None
    memory: DecodedOperand | None = None


class Binder:
    """Binds operands of the records of one core."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[_OperandBinding, ...]] = {}
        """Record name -> its operands."""

    def bind(self, instruction: Instruction, facts: InstructionFacts) -> tuple[BoundOperand, ...]:
        """Binds the operands of a record: fixed ones from the table, visible ones in order from the encoding,
        the opmask from the EVEX prefix."""
        places = self._places.get(facts.name)
        if places is None:
            places = self._places[facts.name] = tuple([_place(operand) for operand in facts.operands])
        visible = iter(instruction.operands)
        bound = []
        for place in places:
            if place.suppressed:
                bound.append(place.alone)
                continue
            if place.opmask and instruction.mask is not None:
                register: str | None = instruction.mask
            else:
                decoded = next(visible, None)
                if place.fixed or decoded is None:
                    bound.append(place.alone)
                    continue
                if not place.is_register:
                    bound.append(BoundOperand(place.alone.facts, None, decoded))
                    continue
                register = decoded.register
            known = place.bound.get(register)
            if known is None:
                known = place.bound[register] = BoundOperand(place.alone.facts, register)
            bound.append(known)
        return tuple(bound)


def fixed_registers(facts: InstructionFacts) -> frozenset[str]:
    """Canonical registers that every instruction of this record uses, whatever its encoding."""
    names: list[str | None] = []
    for operand in facts.operands:
        names += operand.registers if len(operand.registers) == 1 else ()
        names += (operand.base, operand.index_register)
    return frozenset([canonical(name) for name in names if name])


class _OperandBinding(Struct, frozen=True):
    """How a table operand is bound."""

    alone: BoundOperand
    """The operand without information from the encoding."""
    fixed: bool
    """True if the encoding adds nothing: a fixed register, an immediate, flags."""
    suppressed: bool
    opmask: bool
    is_register: bool
    bound: dict[str | None, BoundOperand]
    """Cache of bound operands by register."""


def _place(operand: OperandFacts) -> _OperandBinding:
    is_register = operand.kind == "reg"
    if operand.kind in ("mem", "agen"):
        alone, fixed = BoundOperand(operand, memory=_implicit_address(operand)), False
    elif is_register and len(operand.registers) == 1:
        alone, fixed = BoundOperand(operand, register=operand.registers[0]), True
    else:
        alone, fixed = BoundOperand(operand), not is_register
    return _OperandBinding(alone, fixed, operand.suppressed, operand.opmask, is_register, {})


def _implicit_address(operand: OperandFacts) -> DecodedOperand:
    return DecodedOperand(
        OperandKind.MEMORY,
        base=canonical(operand.base) if operand.base else None,
        index=canonical(operand.index_register) if operand.index_register else None,
    )
