"""Raw statements to a program: labels, sections, dialects, constants, `.rept` unrolled.

Nothing is encoded here. Text outside of regions passes through too, but only its labels, constants, sections
and dialect switches are looked at; its mistakes are nobody's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate

from cyclelens.analyzer.assembly.dialect import Dialect, of_directive
from cyclelens.analyzer.assembly.expressions import ExpressionError, Value, constant, evaluate
from cyclelens.analyzer.assembly.scanner import RawStatement

MAXIMUM_STATEMENTS = 1_000_000
"""Statements after unrolling; a `.rept` that would make more is left alone and reported where it matters."""
_POLL_EVERY = 4096
_MAXIMUM_NESTING = 20

_LABEL = re.compile(r'\s*("[^"\n]*"|[A-Za-z_.$?@][\w.$?@]*|\d+)\s*:(?!:)')
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s*==?(?!=)\s*(.*)", re.DOTALL)
_EQU = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s+equ\s+(.*)", re.DOTALL | re.IGNORECASE)
_DIRECTIVE = re.compile(r"\.([A-Za-z_][\w.]*|\d+byte)\s*(.*)", re.DOTALL)
_NASM_DIRECTIVE = re.compile(
    r"\s*\[?\s*(section|segment|global|extern|bits|use64|default|cpu|align)\b\s*(.*)",
    re.DOTALL | re.IGNORECASE,
)
_CODE_SECTION = ".text"
_STORED = frozenset(["set", "equ", "equiv", "eqv"])
_DECLARING = frozenset(["globl", "global", "extern", "comm", "lcomm", "local", "hidden", "weak"])
_NUMERIC = re.compile(r"(\d+)([bf])")


class Kind(Enum):
    """What a statement is."""

    INSTRUCTION = 0
    DIRECTIVE = 1
    NOTHING = 2
    """Labels or an assignment only, or a part of a macro definition."""


@dataclass(slots=True)
class Statement:
    """One statement without its labels and comments."""

    kind: Kind
    start: int
    """Offset of ``text`` in the file."""
    text: str
    dialect: Dialect
    section: str
    name: str = ""
    """Directives: in lower case without the dot."""
    arguments: str = ""

    @property
    def end(self) -> int:
        """Offset after the text."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Label:
    """Where a label stands: before the statement of this index."""

    index: int
    section: str
    start: int
    end: int


@dataclass(slots=True)
class Program:
    """A whole file, in order."""

    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, list[Label]] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    """Symbols that `.globl`, `.extern` and their like name."""
    macros: set[str] = field(default_factory=set)
    """Names of macros that are defined, and not expanded."""
    _constants: dict[str, tuple[list[int], list[Value]]] = field(default_factory=dict)
    _starts: list[int] = field(default_factory=list)
    _addresses: dict[str, int] = field(default_factory=dict)

    def define(self, name: str, value: Value) -> None:
        """From the next statement on the symbol has this value."""
        places, values = self._constants.setdefault(name, ([], []))
        places.append(len(self.statements))
        values.append(value)

    def lookup(self, name: str, index: int) -> Value | None:
        """The constant value of a symbol at a statement: the last assignment before it, else the first."""
        if name not in self._constants:
            return None
        places, values = self._constants[name]
        return values[max(bisect_right(places, index) - 1, 0)]

    def find_label(self, name: str, index: int) -> Label | None:
        """The label a statement means; for ``1b`` and ``1f`` the nearest one of that number."""
        match = _NUMERIC.fullmatch(name)
        if match is None:
            found = self.labels.get(name)
            return found[0] if found else None
        found = self.labels.get(match[1], [])
        after = bisect_right(found, index, key=lambda label: label.index)
        if match[2] == "b":
            return found[after - 1] if after else None
        return found[after] if after < len(found) else None

    def address(self, symbol: str) -> int:
        """A stand-in for an address that is not known: the same for the same symbol, far from all others."""
        return self._addresses.setdefault(symbol, 0x1000 * len(self._addresses))

    def is_declared(self, symbol: str) -> bool:
        """Does the file define the symbol, or say that another one does?"""
        name = symbol.partition("@")[0]
        if name[0].isdigit():
            return name[:-1] in self.labels
        return name in self.labels or name in self.declared or name == "."

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """Indices of the statements that stand between two offsets of the text."""
        if len(self._starts) != len(self.statements):
            # Unrolled statements go back in the text; the running maximum can be searched all the same.
            self._starts = list(accumulate((statement.start for statement in self.statements), max))
        return bisect_left(self._starts, start), bisect_left(self._starts, end)


@dataclass(frozen=True, slots=True)
class StatementScope:
    """What symbols mean at one statement (operands.Scope)."""

    program: Program
    index: int
    undefined: list[str] = field(default_factory=list)
    """Symbols of absolute addresses that nothing in the file defines or declares."""

    def lookup(self, name: str) -> Value | None:
        return self.program.lookup(name, self.index)

    def address(self, symbol: str, *, relative: bool) -> int:
        if not relative and not self.program.is_declared(symbol):
            self.undefined.append(symbol)
        return self.program.address(symbol)


@dataclass(slots=True)
class _State:
    dialect: Dialect
    section: str = _CODE_SECTION
    previous: str = _CODE_SECTION
    stack: list[tuple[str, str]] = field(default_factory=list)


def build(raw: list[RawStatement], dialect: Dialect, cancel: Callable[[], bool]) -> Program:
    """The program of a file; stops early when ``cancel()`` turns true."""
    program = Program()
    _read(program, raw, 0, len(raw), _State(dialect), cancel, 0)
    return program


def _read(
    program: Program,
    raw: list[RawStatement],
    first: int,
    last: int,
    state: _State,
    cancel: Callable[[], bool],
    depth: int,
) -> None:
    position = first
    while position < last:
        if position % _POLL_EVERY == 0 and cancel():
            return
        statement = _statement(program, raw[position], state)
        position += 1
        program.statements.append(statement)
        if statement.kind is not Kind.DIRECTIVE:
            continue
        if statement.name == "macro":
            words = statement.arguments.replace(",", " ").split()
            if words:
                program.macros.add(words[0].lower())
            position = _skip_macro(program, raw, position, last, state)
        elif statement.name == "rept":
            end = _matching_end(raw, position, last)
            count = _repeat_count(program, statement)
            if end is not None and count is not None and depth < _MAXIMUM_NESTING:
                room = MAXIMUM_STATEMENTS - len(program.statements)
                if count * (end - position) <= room:
                    statement.kind = Kind.NOTHING
                    for _ in range(count):
                        if cancel() or len(program.statements) > MAXIMUM_STATEMENTS:
                            return
                        _read(program, raw, position, end, state, cancel, depth + 1)
                    position = end + 1
        elif statement.name in _DECLARING:
            program.declared.update(statement.arguments.replace(",", " ").split())
        else:
            _follow(statement, state)


def _statement(program: Program, raw: RawStatement, state: _State) -> Statement:
    """Take the labels off, tell what the rest is, note assignments."""
    text = raw.text
    position = 0
    while ":" in text and (match := _LABEL.match(text, position)):
        name = match[1].strip('"')
        label = Label(
            len(program.statements), state.section, raw.start + match.start(1), raw.start + match.end(1)
        )
        program.labels.setdefault(name.lstrip("0") or "0" if name.isdigit() else name, []).append(label)
        position = match.end()
    rest = text[position:].rstrip()
    stripped = rest.lstrip()
    start = raw.start + position + len(rest) - len(stripped)
    statement = Statement(Kind.NOTHING, start, stripped, state.dialect, state.section)
    if not stripped or stripped[0] == "/":
        return statement
    if "=" in stripped and (match := _ASSIGNMENT.fullmatch(stripped)):
        _assign(program, match[1], match[2])
    elif stripped[0] == "." and (match := _DIRECTIVE.fullmatch(stripped)):
        statement.kind = Kind.DIRECTIVE
        statement.name, statement.arguments = match[1].lower(), match[2]
        if statement.name in _STORED:
            name, _, expression = statement.arguments.partition(",")
            _assign(program, name.strip(), expression)
    elif not state.dialect.is_att and (match := _NASM_DIRECTIVE.fullmatch(stripped)):
        statement.kind = Kind.DIRECTIVE
        word = match[1].lower()
        statement.name = {"align": "balign", "global": "globl", "extern": "extern"}.get(word, "section")
        if word not in ("section", "segment", "global", "extern", "align"):
            statement.kind = Kind.NOTHING
        statement.arguments = match[2].rstrip("] \t")
    elif not state.dialect.is_att and (match := _EQU.fullmatch(stripped)):
        _assign(program, match[1], match[2])
    else:
        statement.kind = Kind.INSTRUCTION
    return statement


def _assign(program: Program, name: str, expression: str) -> None:
    """A value that cannot be told is left out: the symbol then is one whose address is not known."""
    if not name:
        return
    index = len(program.statements)
    try:
        value = evaluate(expression, lambda symbol: program.lookup(symbol, index))
    except ExpressionError:
        return
    if value.symbol is None or not value.symbol.startswith("."):
        program.define(name, value)


def _repeat_count(program: Program, statement: Statement) -> int | None:
    index = len(program.statements)
    try:
        count = constant(statement.arguments, lambda symbol: program.lookup(symbol, index))
    except ExpressionError:
        return None
    return count if 0 <= count <= MAXIMUM_STATEMENTS else None


_BLOCK_EDGE = re.compile(r"\s*\.(rept|irp|irpc|endr|macro|endm)\b", re.IGNORECASE)


def _matching_end(raw: list[RawStatement], position: int, last: int) -> int | None:
    """Position of the `.endr` that closes a block of which ``position`` is the first statement."""
    depth = 1
    while position < last:
        match = _BLOCK_EDGE.match(raw[position].text)
        if match:
            word = match[1].lower()
            depth += {"endr": -1, "rept": 1, "irp": 1, "irpc": 1}.get(word, 0)
            if depth == 0:
                return position
        position += 1
    return None


def _skip_macro(program: Program, raw: list[RawStatement], position: int, last: int, state: _State) -> int:
    """Pass over a macro's body: its text is not part of the code."""
    depth = 1
    while position < last and depth:
        text = raw[position].text
        match = _BLOCK_EDGE.match(text)
        if match:
            depth += {"macro": 1, "endm": -1}.get(match[1].lower(), 0)
        start = raw[position].start + len(text) - len(text.lstrip())
        program.statements.append(Statement(Kind.NOTHING, start, text.strip(), state.dialect, state.section))
        position += 1
    return position


def _follow(statement: Statement, state: _State) -> None:
    """Sections and syntax switches."""
    name, words = statement.name, statement.arguments.replace(",", " ").split()
    if dialect := of_directive(name, statement.arguments):
        state.dialect = dialect
    elif name == "pushsection":
        state.stack.append((state.section, state.previous))
        state.previous, state.section = state.section, words[0].strip('"') if words else state.section
    elif name == "popsection":
        if state.stack:
            state.section, state.previous = state.stack.pop()
    elif name == "previous":
        state.section, state.previous = state.previous, state.section
    elif name in ("text", "data", "bss"):
        state.previous, state.section = state.section, f".{name}"
    elif name == "section" and words:
        state.previous, state.section = state.section, words[0].strip('"')
