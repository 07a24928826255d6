"""Micro-fusion and lamination (G1 to G4) and macro-fusion (A1 to A3); rule labels as in docs/pipeline.md."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.units import UnitUse, UopKind
from cyclelens.analyzer.model.uops import UopTemplate
from cyclelens.analyzer.uops.registers import width
from msgspec.structs import replace

_WHOLE = 32
"""Writes of at least this many bits replace the whole register."""

_OPERATIONS = frozenset({"add", "sub", "and", "or", "xor"})
_SHIFTS = frozenset({"shl", "sal", "shr", "sar"})
_JOINING = frozenset({UopKind.LOAD, UopKind.STORE_ADDRESS})
"""Uops that share an issue slot with the next uop."""


def _group(count: int, groups: int, joins: Sequence[bool]) -> tuple[int, ...]:
    """Sizes of ``groups`` groups over ``count`` members.

    A member that may join takes its successor along while enough members remain for the other groups; the
    last group takes the rest.
    """
    sizes: list[int] = []
    position = 0
    for remaining in range(groups - 1, 0, -1):
        left = count - position - 1
        size = 2 if joins[position] and left > remaining else 1
        sizes.append(size)
        position += size
    sizes.append(count - position)
    return tuple(sizes)


def fuse(uops: Sequence[UopTemplate], retire_slots: int, *, stores_apart: bool = False) -> tuple[int, ...]:
    """Number of uops in each fused uop (G1).

    ``stores_apart``: no fused uop has two stores, as it could never retire where stores commit together (Z5).
    """
    joins = [uop.kind in _JOINING for uop in uops]
    sizes = _group(len(uops), retire_slots, joins)
    while stores_apart and sum(uop.kind is UopKind.STORE_DATA for uop in uops[-sizes[-1] :]) > 1:
        retire_slots += 1
        sizes = _group(len(uops), retire_slots, joins)
    return sizes


def laminate(uops: Sequence[UopTemplate], fused: Sequence[int], delivered: int) -> tuple[int, ...]:
    """Number of fused uops in each IDQ uop (G2); ``delivered`` is MITE plus MS uops."""
    joins = []
    position = 0
    for size in fused:
        joins.append(size == 1 and uops[position].kind in _JOINING)
        position += size
    return _group(len(fused), min(delivered, len(fused)), joins)


def joins_operation(move: Instruction, operation: Instruction) -> bool:
    """True if a move and the next operation share an issue slot (A4).

    The operation changes the moved-to register, by a register or, after a move from a register, by a
    constant.
    """
    if move.mnemonic != "mov" or len(move.operands) != 2 or not operation.operands:
        return False
    target, source = move.operands
    if target.register is None or operation.operands[0].register != target.register:
        return False
    if width(target.register) < _WHOLE:
        return False
    shifts = operation.mnemonic in _SHIFTS
    if not shifts and operation.mnemonic not in _OPERATIONS:
        return False
    by_register = len(operation.operands) == 2 and operation.operands[1].register is not None
    if source.kind is OperandKind.MEMORY:
        return by_register and not shifts and operation.operands[1].register != target.register
    return source.register is not None and (by_register or operation.immediate is not None)


def fuse_branch(
    uses: tuple[UnitUse, ...], uops: int, branch_uses: tuple[UnitUse, ...], branch_uops: int
) -> tuple[tuple[UnitUse, ...], int]:
    """Units and uop count of an instruction that has absorbed a branch (A2)."""
    if uops == 0:
        return branch_uses, branch_uops
    branch = branch_uses[0].units
    for position, own in enumerate(uses):
        if own.kind is not UopKind.COMPUTE or branch.mask & ~own.units.mask:
            continue
        rest = uses[:position] + uses[position + 1 :]
        if any(use.units == branch for use in rest):
            return tuple(replace(use, uops=own.uops) if use.units == branch else use for use in rest), uops
        return (*rest, replace(own, units=branch)), uops
    return uses, uops
