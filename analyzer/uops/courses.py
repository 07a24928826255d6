"""Finds the branches that a loop passes without jumping, and the units of branches by course (D6, D8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UnitUse
from cyclelens.analyzer.uops.operands import Prepared
from msgspec.structs import replace

AS_RECORDED, TAKEN, PASSED = range(3)
"""Courses of a branch: it has the units of its record, is the branch back, or does not jump."""
_MOST = 10
"""Most conditional branches of which the courses are tried."""
_NONE: frozenset[int] = frozenset()


def passed_branches(instructions: Sequence[Instruction], branches: Sequence[int]) -> frozenset[int]:
    """Positions of the conditional branches that do not jump in a loop's iteration; empty if that is not
    known. ``branches``: positions of all branches."""
    taken = taken_branches(instructions, branches)
    return _NONE if taken is None else frozenset(_conditional(instructions, branches)) - taken


def taken_branches(instructions: Sequence[Instruction], branches: Sequence[int]) -> frozenset[int] | None:
    """Positions of the conditional branches within a loop that jump in its iteration.

    ``branches``: positions of all branches. The bytes and jumps of an iteration lead back to its start, so
    their distances tell which branches jump. None if they allow several courses. A branch to the next
    instruction is none of them: it may jump or not.
    """
    *inner, last = branches
    if last != len(instructions) - 1 or not all(map(_is_direct, (instructions[at] for at in branches))):
        return None
    missing = -sum(len(each.code) for each in instructions) - instructions[last].displacement
    missing -= sum(instructions[at].displacement for at in inner if instructions[at].mnemonic == "jmp")
    if not missing:
        return _NONE
    conditional = _conditional(instructions, branches)
    if len(conditional) > _MOST:
        return None
    courses = [
        taken
        for count in range(1, len(conditional) + 1)
        for taken in combinations(conditional, count)
        if sum(instructions[at].displacement for at in taken) == missing
    ]
    return frozenset(courses[0]) if len(courses) == 1 else None


def _conditional(instructions: Sequence[Instruction], branches: Sequence[int]) -> list[int]:
    """Branches within a loop that may jump to another place than the next instruction."""
    return [
        at for at in branches[:-1] if instructions[at].mnemonic != "jmp" and instructions[at].displacement
    ]


def on_course(
    uses: tuple[UnitUse, ...], course: int, microarchitecture: Microarchitecture
) -> tuple[UnitUse, ...]:
    """Units of a conditional branch by its course."""
    if course == AS_RECORDED:
        return uses
    units = microarchitecture.taken_branch_units if course == TAKEN else microarchitecture.passed_branch_units
    return tuple(replace(use, units=units) if units.mask & use.units.mask else use for use in uses)


def with_jump_units(prepared: Prepared, microarchitecture: Microarchitecture) -> Prepared:
    """A jump with the units of taken branches, where others execute branches that do not jump."""
    passed, taken = microarchitecture.passed_branch_units, microarchitecture.taken_branch_units
    if prepared.instruction.mnemonic != "jmp":
        return prepared
    uses = tuple(replace(use, units=taken) if use.units == passed else use for use in prepared.uses)
    return replace(prepared, uses=uses)


def _is_direct(branch: Instruction) -> bool:
    """True if it jumps by a distance and does not call."""
    return branch.mnemonic != "call" and any(o.kind is OperandKind.BRANCH for o in branch.operands)
