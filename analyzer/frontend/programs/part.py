"""One statement parsed without context, and the parse state of a part of a text with the facts that the
part's meaning depends on."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.programs.macros import Macro
from cyclelens.analyzer.frontend.programs.measured import TextSoFar
from cyclelens.analyzer.frontend.programs.program import (
    CODE_SECTION,
    Assigned,
    Label,
    ParsedText,
    Program,
    Statement,
    StatementKind,
)
from cyclelens.analyzer.frontend.source.dialect import ATT, Dialect
from cyclelens.analyzer.frontend.source.lexer import LABEL, QUOTED_NAME, SYMBOL, has_odd_blank
from cyclelens.analyzer.frontend.statements.expressions import (
    LATER,
    ExpressionError,
    ExpressionValue,
    evaluate,
)
from cyclelens.analyzer.frontend.statements.names import symbol_of, symbols
from msgspec import Struct, field

_ASSIGNMENT = rf"(?s)\s*({SYMBOL}|{QUOTED_NAME})\s*==?(?!=)\s*(.*)"
_EQU = re.compile(rf"\s*({SYMBOL})\s+equ\s+(.*)", re.DOTALL | re.IGNORECASE)
_DIRECTIVE = re.compile(r"\.([A-Za-z_][\w.]*|\d+byte)\s*(.*)", re.DOTALL)
_NASM_DIRECTIVE = re.compile(
    r"\s*\[?\s*(section|segment|global|extern|bits|use64|default|cpu|align)\b\s*(.*)",
    re.DOTALL | re.IGNORECASE,
)
_STORE = rf"(?s)\s*({QUOTED_NAME}|[^,]*),?(.*)"
_STORED = frozenset(["set", "equ", "equiv", "eqv"])


class _Parsed(Struct, frozen=True):
    """A raw statement parsed without context; offsets are relative to its start."""

    labels: tuple[tuple[str, int, int], ...]
    offset: int
    """Offset of ``text``, after labels and blanks."""
    text: str
    kind: StatementKind
    name: str = ""
    arguments: str = ""
    assignment: tuple[str, str] | None = None
    """Symbol and expression."""


def parse(text: str, is_att: bool) -> _Parsed:
    labels = []
    position = 0
    while ":" in text and (match := LABEL.match(text, position)):
        name = symbol_of(match[1])
        labels.append((name.lstrip("0") or "0" if name.isdigit() else name, match.start(1), match.end(1)))
        position = match.end()
    if not text.isascii() and has_odd_blank(text):
        # It is refused where it would be encoded, with its labels if one of them has that character.
        if has_odd_blank(text[:position]):
            labels, position = [], 0
        rest = text[position:].lstrip(" \t")
        return _Parsed(tuple(labels), len(text) - len(rest), rest, StatementKind.INSTRUCTION)
    rest = text[position:].rstrip()
    stripped = rest.lstrip()
    found = (tuple(labels), position + len(rest) - len(stripped), stripped)
    if not stripped or stripped[0] == "/":
        return _Parsed(*found, StatementKind.NOTHING)
    if "=" in stripped and (match := re.fullmatch(_ASSIGNMENT, stripped)):
        return _Parsed(*found, StatementKind.NOTHING, assignment=(symbol_of(match[1]), match[2]))
    if stripped[0] == "." and (match := _DIRECTIVE.fullmatch(stripped)):
        name, arguments = match[1].lower(), match[2]
        assignment = None
        if name in _STORED and (stored := re.fullmatch(_STORE, arguments)):
            assignment = (symbol_of(stored[1].strip()), stored[2])
        return _Parsed(*found, StatementKind.DIRECTIVE, name, arguments, assignment)
    if not is_att and (match := _NASM_DIRECTIVE.fullmatch(stripped)):
        word = match[1].lower()
        name = {"align": "balign", "global": "globl", "extern": "extern", "default": "default"}.get(
            word, "section"
        )
        is_followed = word in ("section", "segment", "global", "extern", "align", "default")
        kind = StatementKind.DIRECTIVE if is_followed else StatementKind.NOTHING
        return _Parsed(*found, kind, name, match[2].rstrip("] \t"))
    if not is_att and (match := _EQU.fullmatch(stripped)):
        return _Parsed(*found, StatementKind.NOTHING, assignment=(match[1], match[2]))
    return _Parsed(*found, StatementKind.INSTRUCTION)


MAXIMUM_STATEMENTS = 200_000
"""Maximum statements after unrolling. A `.rept` beyond that is not unrolled, and is reported where it
matters."""
MAXIMUM_EXPANDED = 100_000
"""Maximum statements that macros may produce per file."""
MAXIMUM_EXPANDED_TEXT = 4_000_000
"""Maximum characters of these statements."""


class Condition(Struct, frozen=True):
    """An open `.if`."""

    statement: Statement
    active: bool
    """This branch is assembled; never true inside an inactive branch."""
    taken: bool | None
    """One of the branches was active. None if the condition cannot be evaluated here; then all are read."""
    outer: Condition | None
    depth: int


class _SymbolValue(Struct, frozen=True):
    """A program's facts about a symbol."""

    assigned: Assigned | None
    is_label: bool
    is_source: bool


_Section = tuple[str, int]
"""Section and subsection."""


class SavedSection(Struct, frozen=True):
    """Stack entry of `.pushsection`, restored by `.popsection`."""

    section: _Section
    previous: _Section
    outer: SavedSection | None


class AssemblerState(Struct, eq=False):
    """Assembler state before a statement (dialect, section stack, open conditions, macros); symbols are kept
    elsewhere."""

    dialect: Dialect
    section: _Section = (CODE_SECTION, 0)
    previous: _Section = (CODE_SECTION, 0)
    pushed: SavedSection | None = None
    condition: Condition | None = None
    alternate: bool = False
    """Between `.altmacro` and `.noaltmacro`."""
    macros: int = 0
    """Hash of all macro definitions so far."""

    def is_same(self, other: AssemblerState) -> bool:
        """Whether all following statements mean the same in both states."""
        return (
            self.dialect == other.dialect
            and (self.section, self.previous) == (other.section, other.previous)
            and self.pushed is other.pushed
            and self.condition is other.condition
            and self.alternate == other.alternate
            and self.macros == other.macros
        )


class ParsedChunk(ParsedText, eq=False):
    """Parsed chunk of text and the facts that its meaning depends on."""

    program: Program = field(default_factory=Program)
    """The program before this chunk."""
    entry: AssemblerState = field(default_factory=lambda: AssemblerState(ATT))
    state: AssemblerState = field(default_factory=lambda: AssemblerState(ATT))
    """State while parsing; finally the state after the chunk."""
    number: int = 0
    """Number of macro uses before the chunk."""
    measured: TextSoFar | None = None
    """Knows distances between labels, for conditions."""
    asked: dict[str, _SymbolValue] = field(default_factory=dict)
    """Facts about symbols that are defined before the chunk."""
    is_numbered: bool = False
    """A name contains the number of a macro expansion."""
    is_limited: bool = False
    """Something was left out because of a limit."""
    is_measured: bool = False
    """Something depends on sizes of statements."""
    left: bool = False
    """`.exitm` was reached: the rest of this expansion or repetition is skipped."""
    _latest: dict[str, Assigned] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    _sources: set[str] = field(default_factory=set)

    def assign(self, name: str, assigned: Assigned) -> None:
        """Set a symbol from the next statement on."""
        self.assignments.append((name, len(self.statements), assigned))
        self._latest[name] = assigned
        if assigned.value is None:
            self._sources.update(symbols(assigned.text))

    def assigned(self, name: str) -> Assigned | None:
        """Current assignment of a symbol; None if it has none."""
        return self._latest[name] if name in self._latest else self._ask(name).assigned

    def add_label(self, name: str, start: int, end: int) -> None:
        """Add a label before the next statement."""
        self.labels.append((name, Label(len(self.statements), self.state.section[0], start, end)))
        self._named.add(name)

    def is_label(self, name: str) -> bool:
        """Whether this label has been defined so far."""
        return name in self._named or self._ask(name).is_label

    def is_source(self, name: str) -> bool:
        """Whether another symbol is set to an expression with this symbol whose value was not known at
        once."""
        return name in self._sources or self._ask(name).is_source

    def macro(self, name: str) -> Macro | None:
        """The macro with this (lower-case) name; None if there is none."""
        return self.macros[name] if name in self.macros else self.program.macros.get(name)

    def evaluate(self, text: str) -> ExpressionValue:
        """Value of an expression with the symbols known so far, without distances of labels. Raises
        ExpressionError."""
        return evaluate(text, self._lookup, dialect=self.state.dialect)

    def constant(self, text: str) -> int:
        """Value of an expression that must be known by now. Raises ExpressionError."""
        value = self.evaluate(text)
        if value.later and self.measured is not None:
            self.is_measured = True
            value = self.measured.evaluate(text, self.program.parts, self)
        if not value.is_constant:
            raise ExpressionError(f"'{value.symbol or text.strip()[:40]}' has no constant value.")
        return value.constant

    def forget_measured(self) -> None:
        """An earlier statement has changed: distances are measured anew."""
        if self.measured is not None:
            self.measured.forget()

    def _lookup(self, name: str) -> ExpressionValue | None:
        assigned = self.assigned(name)
        if assigned is None:
            return None
        return LATER if assigned.value is None else assigned.value

    def _ask(self, name: str) -> _SymbolValue:
        if name not in self.asked:
            self.asked[name] = _known(self.program, name)
        return self.asked[name]

    def holds(self, program: Program, state: AssemblerState) -> bool:
        """Whether parsing the chunk after this program and state would give the same result."""
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
