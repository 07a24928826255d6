"""Evaluates `.if`, `.ifdef` and related directives, selects branches, and finds conditions that are never
closed."""

from __future__ import annotations

import re
from collections.abc import Callable

from cyclelens.analyzer.frontend.programs.part import Condition, ParsedChunk
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError
from msgspec.structs import replace

_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "if": lambda value: value != 0,
    "ifne": lambda value: value != 0,
    "ifeq": lambda value: value == 0,
    "ifgt": lambda value: value > 0,
    "ifge": lambda value: value >= 0,
    "iflt": lambda value: value < 0,
    "ifle": lambda value: value <= 0,
}
WORDS = frozenset(
    [*_COMPARISONS, "ifdef", "ifndef", "ifnotdef", "ifb", "ifnb", "ifc", "ifnc", "ifeqs", "ifnes"]
).union(["else", "elseif", "endif"])
EDGE = re.compile(rf"\s*\.({'|'.join(sorted(WORDS))})\b", re.IGNORECASE)


def report_never_closed(program: Program, innermost: Condition) -> None:
    """Refuse the conditions that are still open: the innermost one and those around it. Statements are shared
    with later versions of the text, so the refused ones are copies."""
    opened = set()
    condition: Condition | None = innermost
    while condition is not None:
        opened.add(id(condition.statement))
        condition = condition.outer
    for index, statement in enumerate(program.statements):
        if id(statement) in opened:
            program.statements[index] = refused = replace(statement)
            program.changed.add(index)
            refuse_open(refused)


def refuse_open(statement: Statement) -> None:
    """Mark a statement that opens a block without an end."""
    statement.kind = StatementKind.DIRECTIVE
    statement.refusal = f".{statement.name} is never closed by .endif."


def follow(part: ParsedChunk, statement: Statement) -> None:
    """Open, switch or close a condition."""
    state, name = part.state, statement.name
    current = state.condition
    if name in ("else", "elseif", "endif"):
        if current is None:
            return
        statement.kind = StatementKind.NOTHING
        if name == "endif":
            state.condition = current.outer
        elif current.taken is not None:
            possible = not current.taken and (current.outer is None or current.outer.active)
            met = possible and (name == "else" or bool(_met(part, "if", statement.arguments)))
            state.condition = replace(current, active=met, taken=current.taken or met)
        return
    statement.kind = StatementKind.NOTHING
    depth = current.depth + 1 if current else 1
    if current is not None and not current.active:
        state.condition = Condition(statement, False, True, current, depth)
        return
    holds = _met(part, name, statement.arguments)
    if holds is None:
        statement.kind = StatementKind.DIRECTIVE
        statement.refusal = "This condition cannot be evaluated here: all of its branches are read."
        state.condition = Condition(statement, True, None, current, depth)
        return
    state.condition = Condition(statement, holds, holds, current, depth)


def _met(part: ParsedChunk, name: str, text: str) -> bool | None:
    """Whether a condition holds; None if unknown."""
    text = text.strip()
    if name in ("ifdef", "ifndef", "ifnotdef"):
        assigned = part.assigned(text)
        if assigned is not None and assigned.value is None and part.is_source(text):
            # If another symbol was set to this one before its value was known, GNU as forgets that
            # expression.
            return None
        return (assigned is not None or part.is_label(text)) == (name == "ifdef")
    if name in ("ifb", "ifnb"):
        return (not text) == (name == "ifb")
    if name in ("ifc", "ifnc", "ifeqs", "ifnes"):
        first, comma, second = _comparands(text)
        if not comma:
            return None
        return (first == second) == (name in ("ifc", "ifeqs"))
    try:
        value = part.constant(text)
    except ExpressionError:
        return None
    return _COMPARISONS[name](value)


def _comparands(text: str) -> tuple[str, str, str]:
    """The two texts that `.ifc` compares, which may be quoted, and the comma between them."""
    match = re.match(r"\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^,]*)\s*(,?)\s*(.*)", text, re.DOTALL)
    assert match is not None, "everything in it is optional"
    first, comma, second = match[1].strip(), match[2], match[3].strip()

    def plain(word: str) -> str:
        return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word

    return plain(first), comma, plain(second)
