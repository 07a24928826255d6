"""Decides which loads the renamer can eliminate by reusing the value of a store in flight (W6)."""

from __future__ import annotations

from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, ValueKind
from cyclelens.analyzer.uops.registers import is_simd

_EXTENDING = ("movsx", "movsxd")
_LOCK = 0xF0


def takes_over(template: InstructionTemplate) -> bool:
    """True if its load can be renamed to a stored value (W6).

    It loads a general-purpose register like a move, or the operation on the loaded word reads only that and
    the register that it writes.
    """
    loads = [uop for uop in template.uops if uop.kind is UopKind.LOAD and uop.memory_operand >= 0]
    if len(loads) != 1:
        return False
    instruction = template.instruction
    if instruction.mnemonic in _EXTENDING or template.serializing or _LOCK in instruction.code[:1]:
        return False
    if any(operand.index for operand in instruction.operands):
        return False
    loaded = {value for value, _ in loads[0].outputs}
    users = [uop for uop in template.uops if uop.kind is UopKind.COMPUTE and loaded & {*uop.inputs}]
    values = [*loads[0].outputs, *(result for uop in users for result in uop.outputs)]
    written = {value for value, _ in values}
    return not any(is_simd(name) for (kind, name) in written if kind is ValueKind.REGISTER) and all(
        each in loaded or (each[0] is ValueKind.REGISTER and each in written)
        for uop in users
        for each in uop.inputs
    )


def stands_alone(template: InstructionTemplate) -> bool:
    """True if it only loads, or computes from the loaded word alone (W6)."""
    loaded = {value for uop in template.uops if uop.kind is UopKind.LOAD for value, _ in uop.outputs}
    return not any(
        uop.kind is UopKind.STORE_DATA or (uop.kind is UopKind.COMPUTE and {*uop.inputs} - loaded)
        for uop in template.uops
    )
