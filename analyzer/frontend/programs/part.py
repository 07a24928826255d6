"""A part of a text while it is read, and what its meaning depends on."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.frontend.programs.macros import Macro
from cyclelens.analyzer.frontend.programs.program import (
    CODE_SECTION,
    Assigned,
    Label,
    ParsedText,
    Program,
    Statement,
)
from cyclelens.analyzer.frontend.programs.scope import DistanceAt, StatementScope
from cyclelens.analyzer.frontend.source.dialect import ATT, Dialect
from cyclelens.analyzer.frontend.statements.expressions import LATER, ExpressionError, Value, evaluate
from cyclelens.analyzer.frontend.statements.names import symbols

MAXIMUM_STATEMENTS = 200_000
"""Statements after unrolling; a `.rept` that would make more is left alone and reported where it matters."""
MAXIMUM_EXPANDED = 100_000
"""Statements that macros may make in one file."""
MAXIMUM_EXPANDED_TEXT = 4_000_000
"""Characters of them."""


class Condition(NamedTuple):
    """An open `.if`."""

    statement: Statement
    active: bool
    """Is this branch assembled? Never within a branch that is not."""
    taken: bool
    """Was one of the branches?"""
    outer: Condition | None
    depth: int
    known: bool = True
    """False: the condition cannot be told here, all branches are read."""


class _SymbolValue(NamedTuple):
    """What a program knows of a symbol."""

    assigned: Assigned | None
    is_label: bool
    is_source: bool


_Section = tuple[str, int]
"""A section and a subsection of it."""


class Pushed(NamedTuple):
    """What `.popsection` goes back to."""

    section: _Section
    previous: _Section
    outer: Pushed | None


@dataclass(slots=True, eq=False)
class State:
    """What a statement means depends on, besides symbols."""

    dialect: Dialect
    section: _Section = (CODE_SECTION, 0)
    previous: _Section = (CODE_SECTION, 0)
    pushed: Pushed | None = None
    condition: Condition | None = None
    alternate: bool = False
    """Between `.altmacro` and `.noaltmacro`."""
    macros: int = 0
    """A hash of all definitions of macros so far."""

    def is_same(self, other: State) -> bool:
        """Does all that follows mean the same?"""
        return (
            self.dialect == other.dialect
            and (self.section, self.previous) == (other.section, other.previous)
            and self.pushed is other.pushed
            and self.condition is other.condition
            and self.alternate == other.alternate
            and self.macros == other.macros
        )


@dataclass(slots=True, eq=False)
class ParsedChunk(ParsedText):
    """What became of a part of the text, and of what else that depends."""

    program: Program = field(default_factory=Program)
    """What stands before."""
    entry: State = field(default_factory=lambda: State(ATT))
    state: State = field(default_factory=lambda: State(ATT))
    """At the end, once it is read."""
    number: int = 0
    """Uses of macros before."""
    measure: Callable[[Program], DistanceAt] | None = None
    """For conditions on the distance of two labels."""
    asked: dict[str, _SymbolValue] = field(default_factory=dict)
    """Symbols of what stands before."""
    is_numbered: bool = False
    """Something is called after the number of a macro's use."""
    is_limited: bool = False
    """Something was left out because of a limit."""
    is_measured: bool = False
    """Something depends on the sizes of statements."""
    left: bool = False
    """`.exitm`: the rest of this expansion is not read."""
    _latest: dict[str, Assigned] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    _sources: set[str] = field(default_factory=set)

    def assign(self, name: str, assigned: Assigned) -> None:
        """From the next statement on the symbol is set to this."""
        self.assignments.append((name, len(self.statements), assigned))
        self._latest[name] = assigned
        if assigned.value is None:
            self._sources.update(symbols(assigned.text))

    def assigned(self, name: str) -> Assigned | None:
        """What a symbol is set to by now."""
        return self._latest[name] if name in self._latest else self._ask(name).assigned

    def add_label(self, name: str, start: int, end: int) -> None:
        """The next statement has this label."""
        self.labels.append((name, Label(len(self.statements), self.state.section[0], start, end)))
        self._named.add(name)

    def is_label(self, name: str) -> bool:
        """Is there such a label by now?"""
        return name in self._named or self._ask(name).is_label

    def is_source(self, name: str) -> bool:
        """Is another symbol set to something with this one that is not known at once?"""
        return name in self._sources or self._ask(name).is_source

    def macro(self, name: str) -> Macro | None:
        """The macro of this name, in lower case."""
        return self.macros[name] if name in self.macros else self.program.macros.get(name)

    def evaluate(self, text: str) -> Value:
        """An expression as it is known by now, without the distances of labels. Raises ExpressionError."""
        return evaluate(text, self._lookup, dialect=self.state.dialect)

    def constant(self, text: str) -> int:
        """The value of an expression that has to be known by now. Raises ExpressionError."""
        value = self.evaluate(text)
        if value.later and self.measure is not None:
            self.is_measured = True
            program = self.program.copy()
            program.add(self.so_far(), 0)
            scope = StatementScope(program, len(program.statements) - 1, self.measure(program))
            value = scope.evaluate(text)
        if not value.is_constant:
            raise ExpressionError(f"'{value.symbol or text.strip()[:40]}' has no constant value.")
        return value.constant

    def _lookup(self, name: str) -> Value | None:
        assigned = self.assigned(name)
        if assigned is None:
            return None
        return LATER if assigned.value is None else assigned.value

    def _ask(self, name: str) -> _SymbolValue:
        if name not in self.asked:
            self.asked[name] = _known(self.program, name)
        return self.asked[name]

    def holds(self, program: Program, state: State) -> bool:
        """Would the part become the same behind this program?"""
        return (
            not self.is_limited
            and not self.is_measured
            and self.entry.is_same(state)
            and (not self.is_numbered or self.number == program.expansions)
            and len(program.statements) + len(self.statements) <= MAXIMUM_STATEMENTS
            and program.expanded + self.expanded <= MAXIMUM_EXPANDED
            and program.expanded_text + self.expanded_text <= MAXIMUM_EXPANDED_TEXT
            and all(_known(program, name) == answer for name, answer in self.asked.items())
        )


def _known(program: Program, name: str) -> _SymbolValue:
    return _SymbolValue(program.latest(name), program.has_label(name), program.is_source(name))
