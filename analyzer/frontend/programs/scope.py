"""Meaning of symbols at a statement, as GNU as sees it while reading the text once from top to bottom, and
the statement that a jump there goes to.

A symbol that is set further down is not known yet, so it takes as much room as an address. The distance
between two labels is a number only if nothing between them can still grow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from cyclelens.analyzer.frontend.programs.fragments import MAXIMUM_DEPTH, JumpTarget, OpenError
from cyclelens.analyzer.frontend.programs.program import Assignment, Program, here, register_of
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME, SYMBOL
from cyclelens.analyzer.frontend.statements.expressions import (
    LATER,
    ExpressionError,
    ExpressionValue,
    evaluate,
)
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.names import symbol_of, symbols
from msgspec import Struct, field
from msgspec.structs import replace

DistanceAt = Callable[[str, str, int], "int | None"]
"""(first label, second label, statement) -> bytes from the second to the first as known at the statement;
None if they may still change."""
_MAXIMUM_DEPTH = 50
_HERE = frozenset([".", "$"])
_TERM = rf"(?:{SYMBOL}|{QUOTED_NAME}|\d\w*)"
_SUM = rf"\s*(?:\d\w*\s*\+\s*)*{_TERM}\s*(?:[-+]\s*{_TERM}\s*)*"
_MOST_IN_ORIGIN = 2
"""Symbols in a sum whose first one GNU as takes alone; of three it takes the sum of the first two."""


class FinalLayout(Protocol):
    """Final layout, once it is known."""

    def final(self, text: str, index: int, dot: int = 0) -> ExpressionValue:
        """Final value of an expression. Raises ExpressionError."""

    def stand_in(self, text: str, value: ExpressionValue, base: int, index: int, immediate: bool) -> int:
        """Placeholder for a value that a linker knows or that is filled in later."""


class StatementScope(Struct):
    """Meaning of symbols at one statement (operands.Scope). Without ``places``, only the sizes of the
    resulting code are correct."""

    program: Program
    index: int
    distance_at: DistanceAt | None = None
    places: FinalLayout | None = None
    asked: set[str] = field(default_factory=set)
    """Symbols whose assignments were used."""
    is_fleeting: bool = False
    """Distances between labels were used. A statement that asks for neither means the same in every text."""
    dot: int = 0
    """Bytes of the statement before the place that ``.`` means."""
    looks_ahead: bool = False
    """A symbol that is set further down was used; only NASM knows its value here."""
    divides_by_zero: bool = False
    """An expression divides by zero, which GNU as treats as a division by one."""
    looks_again: bool = False
    """A symbol set to another symbol's name has that symbol's current value."""

    @property
    def names_registers(self) -> bool:
        """Whether a name may stand for a register."""
        return self.program.has_register_names

    def register(self, name: str) -> str | None:
        """The register (lower case, without ``%``) that a name stands for; None if it does not."""
        self.asked.add(name)
        found = self.program.assignment(name, self.index)
        return register_of(found.assigned.value) if found else None

    @property
    def is_whole(self) -> bool:
        """Whether the whole text is parsed and laid out."""
        return self.places is not None

    def is_set(self, name: str) -> bool:
        """Whether a symbol is assigned before the statement."""
        self.asked.add(name)
        return self.program.assignment(name, self.index) is not None

    def evaluate(self, text: str) -> ExpressionValue:
        """Value of an expression, as far as it is known at the statement. Raises ExpressionError."""
        dialect = self.program.statements[self.index].dialect
        return evaluate(text, self.lookup, self._distance, dialect=dialect, divided_by_zero=self._note_zero)

    def _note_zero(self) -> None:
        # Cached results carry no warning.
        self.divides_by_zero = self.is_fleeting = True

    def final(self, text: str) -> ExpressionValue:
        """Value of an expression once the whole text is parsed. Raises ExpressionError."""
        return self.places.final(text, self.index, self.dot) if self.places is not None else LATER

    def stand_in(self, text: str, value: ExpressionValue, base: int, *, immediate: bool) -> int:
        """Placeholder for an expression without a constant value."""
        if self.places is None:
            return base
        return self.places.stand_in(text, value, base, self.index, immediate)

    def lookup(self, name: str) -> ExpressionValue | None:
        """Value assigned to a symbol before the statement; None if it has none."""
        if name in _HERE:
            self.is_fleeting = True
            return ExpressionValue(self.dot, here(self.index))
        self.asked.add(name)
        found = self.program.assignment(name, self.index)
        if found is None:
            return None
        value = self._value(found)
        if not value.later:
            return value
        if self.program.is_set_again(name):
            raise ExpressionError(f"Which value of '{name}' GNU as uses here is unclear.")
        return replace(LATER, symbol=name)

    def check_target(self, text: str) -> None:
        """Raise ExpressionError for a target that depends on a symbol whose value only later text determines.
        GNU as's estimate of the distance then depends on where else the symbol is used."""
        for name in symbols(text):
            found = self.program.assignment(name, self.index) or self.program.first_assignment(name)
            if found is not None and self._value(found).later:
                message = f"How GNU as encodes this jump is unclear: set the symbols of '{name}' further up."
                raise ExpressionError(message)

    def _value(self, found: Assignment, depth: int = 0) -> ExpressionValue:
        self.looks_ahead |= found.place > self.index
        value = found.assigned.value
        if value is not None:
            # The value may name a symbol that was set only later. GNU as looks through that name only in
            # jumps of Intel syntax. Further assignments create new symbols.
            named = self.program.first_assignment(value.symbol) if value.symbol else None
            if named is not None and not (self.looks_again and named.place < self.index):
                named = None
            if named is None or depth > _MAXIMUM_DEPTH:
                return value
            more = self._value(named, depth + 1)
            return replace(more, constant=more.constant + value.constant)
        self.is_fleeting = True
        # So its symbols have values: this goes no deeper.
        self.program.check_known(found)
        index = self.index if found.assigned.is_repeated else found.place
        return StatementScope(self.program, index, self.distance_at).evaluate(found.assigned.text)

    def _distance(self, first: str, second: str) -> int | None:
        if self.distance_at is None:
            return None
        self.is_fleeting = True
        return self.distance_at(first, second, self.index)


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
    written = symbol_of(text)
    name: str | None = written
    beyond, is_late, now = 0, False, index
    label = program.find_label(written, index)
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
        # Another symbol had this one's name before it was set; further assignments create new symbols.
        found = program.first_assignment(name)
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


def origin_of(program: Program, index: int, text: str) -> str:
    """The part of an ``.org`` directive's expression that GNU as takes. Of one with a symbol that it does not
    know yet, it takes the first symbol alone, with a warning (``get_known_segmented_expression`` and
    ``do_org`` of ``gas/read.c``). Raises ExpressionError where only GNU as can tell what it takes."""
    named: list[str] = []

    def note(name: str) -> None:
        found = program.assignment(name, index)
        value = found.assigned.value if found is not None else None
        if value is None or not value.is_constant:
            named.append(name)

    evaluate(text, note, dialect=program.statements[index].dialect)
    if not any(_is_unknown(program, name, index) for name in named):
        return text
    is_subtracted = "-" in text.partition(named[0])[0]
    if is_subtracted or len(named) > _MOST_IN_ORIGIN or not re.fullmatch(_SUM, text):
        raise ExpressionError(
            f"What GNU as takes of '{text.strip()[:40]}' is unclear: set its symbols further up."
        )
    return named[0]


def _is_unknown(program: Program, name: str, index: int) -> bool:
    """Whether a symbol is neither defined nor set before a statement, or was set to the name of another one
    that was not. An expression that was not known yet is one that is evaluated later."""
    found = program.assignment(name, index)
    if found is not None:
        value = found.assigned.value
        if value is None or value.symbol is None:
            return False
        name, index = value.symbol, found.place
    label = program.find_label(name, index) if name not in _HERE else None
    return name not in _HERE and (label is None or label.index > index)
