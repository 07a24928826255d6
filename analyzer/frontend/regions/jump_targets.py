"""Resolves the target of a jump to a statement."""

from __future__ import annotations

from cyclelens.analyzer.frontend.programs.fragments import MAXIMUM_DEPTH, JumpTarget, OpenError
from cyclelens.analyzer.frontend.programs.program import Assignment, Program
from cyclelens.analyzer.frontend.programs.scope import DistanceAt, StatementScope
from cyclelens.analyzer.frontend.statements.expressions import LATER, ExpressionError, ExpressionValue
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.names import symbol_of, symbols


def jump_scope(program: Program, index: int, target: str, distance: DistanceAt) -> StatementScope:
    """Scope for a jump's target. In Intel syntax GNU as leaves a weak symbol to the linker if it knows the
    addend at the jump."""
    is_intel = program.statements[index].dialect.is_intel_gnu
    looks_again = is_intel and program.may_be_replaced(target, index)
    return StatementScope(program, index, distance, looks_again=looks_again)


def find_target(program: Program, index: int, jump: Jump, distance: DistanceAt) -> JumpTarget | None:
    """The statement that a jump goes to. None if it is not in this file, or if another file may replace it.
    Raises OpenError and ExpressionError."""
    text = jump.target.text.strip()
    name: str | None = symbol_of(text)
    beyond, is_late, now = 0, False, index
    label = program.find_label(symbol_of(text), index)
    if label is None:
        value = jump_scope(program, index, text, distance).evaluate(text)
        if value.later:
            raise OpenError
        name, beyond = value.symbol, value.constant
        label = program.find_label(name, index) if name is not None else None
        is_late = label is not None and _is_renamed(program, text, index, label.index)
    if program.may_be_replaced(text, index):
        return None
    for _ in range(MAXIMUM_DEPTH):
        if name is None:
            return None
        if label is not None:
            # In Intel syntax GNU as replaces the alias by the label.
            is_late = is_late and program.statements[index].dialect.is_att
            return JumpTarget(label.index, label.section, beyond, is_late)
        found = program.assignment(name, now) or program.first_assignment(name)
        if found is None:
            return None
        value = found.assigned.value or _assigned(program, found, distance)
        if value.later:
            raise OpenError
        name, beyond, now = value.symbol, beyond + value.constant, found.place
        label = program.find_label(name, now) if name is not None else None
        is_late = is_late or (label is not None and label.index > now)
    return None


def _is_renamed(program: Program, text: str, index: int, label: int) -> bool:
    """Whether an expression uses a symbol that was set to a label before the label was defined."""
    found = [program.assignment(name, index) for name in symbols(text)]
    return any(
        each is not None
        and each.place < label
        and (each.assigned.value is None or each.assigned.value.symbol is not None)
        for each in found
    )


def _assigned(program: Program, found: Assignment, distance: DistanceAt) -> ExpressionValue:
    try:
        return StatementScope(program, found.place, distance).evaluate(found.assigned.text)
    except ExpressionError:
        return LATER
