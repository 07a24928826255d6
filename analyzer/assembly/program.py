"""Raw statements to a program: labels, sections, constants; macros, repetitions and conditions are done.

Nothing is encoded here. Text outside of regions passes through too, but only its labels, constants, sections
and dialect switches are looked at; its mistakes are nobody's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from cyclelens.analyzer.assembly import macros
from cyclelens.analyzer.assembly.dialect import Dialect, of_directive
from cyclelens.analyzer.assembly.expressions import ExpressionError, Value, constant, evaluate
from cyclelens.analyzer.assembly.macros import Macro, MacroError
from cyclelens.analyzer.assembly.scanner import RawStatement

MAXIMUM_STATEMENTS = 200_000
"""Statements after unrolling; a `.rept` that would make more is left alone and reported where it matters."""
MAXIMUM_EXPANDED = 100_000
"""Statements that macros may make in one file."""
MAXIMUM_EXPANDED_TEXT = 4_000_000
"""Characters of them."""
_POLL_EVERY = 4096
_MAXIMUM_NESTING = 40

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
_REPETITIONS = frozenset(["rept", "rep", "irp", "irpc"])
_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "if": lambda value: value != 0,
    "ifne": lambda value: value != 0,
    "ifeq": lambda value: value == 0,
    "ifgt": lambda value: value > 0,
    "ifge": lambda value: value >= 0,
    "iflt": lambda value: value < 0,
    "ifle": lambda value: value <= 0,
}
_IF_WORDS = frozenset(
    [*_COMPARISONS, "ifdef", "ifndef", "ifnotdef", "ifb", "ifnb", "ifc", "ifnc", "ifeqs", "ifnes"]
).union(["else", "elseif", "endif"])
_IF_EDGE = re.compile(rf"\s*\.({'|'.join(sorted(_IF_WORDS))})\b", re.IGNORECASE)
_BLOCK_EDGE = re.compile(r"\s*\.(rept|rep|irp|irpc|endr|macro|endm)\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[\w.$]*")
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
    stop: int = -1
    """Statements made by a macro: where its use ends."""
    refusal: str = ""
    """Why this statement (a use of a macro, a condition) could not be followed."""

    @property
    def end(self) -> int:
        """Offset after the text."""
        return self.start + len(self.text) if self.stop < 0 else self.stop


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
    macros: dict[str, Macro] = field(default_factory=dict)
    """By name in lower case."""
    expansions: int = 0
    """Uses of macros so far."""
    expanded: int = 0
    """Statements that they became."""
    expanded_text: int = 0
    """Characters of these."""
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

    def is_assigned(self, name: str, index: int) -> bool:
        """Does the symbol have its value from a statement before this one?"""
        return name in self._constants and self._constants[name][0][0] <= index

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
class _Condition:
    """An open `.if`."""

    statement: Statement
    active: bool
    """Is this branch assembled? Never within a branch that is not."""
    taken: bool
    """Was one of the branches?"""
    known: bool = True
    """False: the condition cannot be told here, all branches are read."""


@dataclass(slots=True)
class _State:
    dialect: Dialect
    section: str = _CODE_SECTION
    previous: str = _CODE_SECTION
    stack: list[tuple[str, str]] = field(default_factory=list)
    conditions: list[_Condition] = field(default_factory=list)
    alternate: bool = False
    """Between `.altmacro` and `.noaltmacro`."""
    left: bool = False
    """`.exitm`: the rest of this expansion is not read."""


def build(raw: list[RawStatement], dialect: Dialect, cancel: Callable[[], bool]) -> Program:
    """The program of a file; stops early when ``cancel()`` turns true."""
    program = Program()
    state = _State(dialect)
    _read(program, raw, state, cancel, 0)
    _report_open(state.conditions)
    return program


def _read(
    program: Program, raw: list[RawStatement], state: _State, cancel: Callable[[], bool], depth: int
) -> None:
    ends: dict[int, int] | None = None
    position = 0
    while position < len(raw) and not state.left:
        if position % _POLL_EVERY == 0 and cancel():
            return
        item = raw[position]
        position += 1
        if state.conditions and not state.conditions[-1].active and not _IF_EDGE.match(item.text):
            # What is skipped may hold a macro with conditions of its own.
            edge = _BLOCK_EDGE.match(item.text)
            if edge and edge[1].lower() == "macro":
                ends = _block_ends(raw) if ends is None else ends
                position = ends.get(position - 1, position - 1) + 1
            continue
        statement = _statement(program, item, state)
        program.statements.append(statement)
        if statement.kind is Kind.INSTRUCTION:
            if program.macros and (macro := _used_macro(program, statement)):
                _expand_macro(program, macro, statement, item, state, cancel, depth)
            continue
        if statement.kind is not Kind.DIRECTIVE:
            continue
        name = statement.name
        end = None
        if name == "macro" or name in _REPETITIONS:
            ends = _block_ends(raw) if ends is None else ends
            end = ends.get(position - 1)
        if name == "macro":
            if end is None:
                statement.refusal = "This macro is never closed by .endm."
                continue
            _define(program, statement, raw[position:end])
            position = end + 1
        elif name in _REPETITIONS:
            if end is not None and depth < _MAXIMUM_NESTING:
                body = raw[position:end]
                if _repeat(program, statement, body, state, cancel, depth):
                    position = end + 1
        elif name in _IF_WORDS:
            _condition(program, statement, state)
        elif name == "exitm" and depth:
            statement.kind = Kind.NOTHING
            state.left = True
        elif name == "purgem":
            program.macros.pop(statement.arguments.strip().lower(), None)
        elif name in _DECLARING:
            program.declared.update(statement.arguments.replace(",", " ").split())
        else:
            _follow(statement, state)


def _used_macro(program: Program, statement: Statement) -> Macro | None:
    return program.macros.get(_FIRST_WORD.match(statement.text)[0].lower())  # type: ignore[index]


def _define(program: Program, statement: Statement, body: list[RawStatement]) -> None:
    try:
        macro = macros.define(statement.arguments, body)
    except MacroError as error:
        statement.refusal = str(error)
        return
    statement.kind = Kind.NOTHING
    program.macros[macro.name.lower()] = macro


def _expand_macro(
    program: Program,
    macro: Macro,
    statement: Statement,
    item: RawStatement,
    state: _State,
    cancel: Callable[[], bool],
    depth: int,
) -> None:
    """Read what a use of a macro stands for, at the place of the use."""
    number = program.expansions
    program.expansions += 1
    try:
        if depth >= _MAXIMUM_NESTING:
            raise MacroError(f"Macros are followed {_MAXIMUM_NESTING} levels deep.")
        if program.expanded + len(macro.body) > MAXIMUM_EXPANDED:
            raise MacroError(f"Macros may make {MAXIMUM_EXPANDED:,} statements in a file.")
        if program.expanded_text > MAXIMUM_EXPANDED_TEXT or len(statement.text) > macros.MAXIMUM_TEXT:
            raise MacroError("The text that macros make becomes too long.")
        arguments = statement.text[len(macro.name) :]
        if state.alternate:
            index = len(program.statements)
            arguments = macros.alternate_arguments(
                arguments, lambda text: constant(text, lambda symbol: program.lookup(symbol, index))
            )
        values = macros.bind(macro, arguments)
        place = RawStatement(statement.start, "", item.place or (statement.start, statement.end))
        expanded = macros.expand(macro.body, values, number, place, state.alternate)
    except (MacroError, ExpressionError) as error:
        statement.refusal = str(error)
        return
    statement.kind = Kind.NOTHING
    program.expanded += len(expanded)
    program.expanded_text += sum(len(made.text) for made in expanded)
    open_conditions = len(state.conditions)
    _read(program, expanded, state, cancel, depth + 1)
    if not state.left:
        _report_open(state.conditions[open_conditions:])
    state.left = False
    del state.conditions[open_conditions:]


def _repeat(
    program: Program,
    statement: Statement,
    body: list[RawStatement],
    state: _State,
    cancel: Callable[[], bool],
    depth: int,
) -> bool:
    """Unroll `.rept`, `.irp` or `.irpc`; False if that cannot be done."""
    values: list[dict[str, str]]
    if statement.name in ("rept", "rep"):
        count = _repeat_count(program, statement)
        if count is None:
            return False
        values = [{}] * count
    else:
        name, _, rest = statement.arguments.partition(",")
        symbol = name.strip()
        if not _FIRST_WORD.fullmatch(symbol):
            return False
        words = list(rest.strip().strip('"')) if statement.name == "irpc" else macros.split(rest)
        values = [{symbol: word.strip('"')} for word in words or [""]]
    if len(values) * len(body) > MAXIMUM_STATEMENTS - len(program.statements):
        return False
    statement.kind = Kind.NOTHING
    for value in values:
        if cancel() or len(program.statements) > MAXIMUM_STATEMENTS:
            return True
        repeated = body
        if value:
            try:
                repeated = [
                    raw if "\\" not in raw.text else _replaced(raw, value, program.expansions) for raw in body
                ]
            except MacroError as error:
                statement.kind, statement.refusal = Kind.DIRECTIVE, str(error)
                return True
        _read(program, repeated, state, cancel, depth + 1)
    return True


def _replaced(raw: RawStatement, values: dict[str, str], number: int) -> RawStatement:
    text = macros.replace_names(raw.text, values, number)
    start = raw.start + len(raw.text) - len(raw.text.lstrip())
    return RawStatement(start, text, raw.place or (start, raw.start + len(raw.text.rstrip())))


def _report_open(conditions: list[_Condition]) -> None:
    for condition in conditions:
        condition.statement.kind = Kind.DIRECTIVE
        condition.statement.refusal = f".{condition.statement.name} is never closed by .endif."


def _condition(program: Program, statement: Statement, state: _State) -> None:
    """Open, turn over or close a condition."""
    name = statement.name
    conditions = state.conditions
    if name in ("else", "elseif", "endif"):
        if not conditions:
            return
        statement.kind = Kind.NOTHING
        current = conditions[-1]
        if name == "endif":
            conditions.pop()
        elif current.known:
            possible = not current.taken and (len(conditions) < 2 or conditions[-2].active)
            met = possible and (name == "else" or bool(_met(program, "if", statement.arguments)))
            current.active, current.taken = met, current.taken or met
        return
    statement.kind = Kind.NOTHING
    if conditions and not conditions[-1].active:
        conditions.append(_Condition(statement, active=False, taken=True))
        return
    holds = _met(program, name, statement.arguments)
    if holds is None:
        statement.kind = Kind.DIRECTIVE
        statement.refusal = "This condition cannot be told here: all of its branches are read."
        conditions.append(_Condition(statement, active=True, taken=True, known=False))
        return
    conditions.append(_Condition(statement, holds, holds))


def _met(program: Program, name: str, text: str) -> bool | None:
    """Does a condition hold? None if that cannot be told."""
    text = text.strip()
    if name in ("ifdef", "ifndef", "ifnotdef"):
        index = len(program.statements)
        is_defined = program.lookup(text, index) is not None and program.is_assigned(text, index)
        return (is_defined or text in program.labels) == (name == "ifdef")
    if name in ("ifb", "ifnb"):
        return (not text) == (name == "ifb")
    if name in ("ifc", "ifnc", "ifeqs", "ifnes"):
        first, comma, second = _comparands(text)
        if not comma:
            return None
        return (first == second) == (name in ("ifc", "ifeqs"))
    index = len(program.statements)
    try:
        value = constant(text, lambda symbol: program.lookup(symbol, index))
    except ExpressionError:
        return None
    return _COMPARISONS[name](value)


def _comparands(text: str) -> tuple[str, str, str]:
    """The two texts that `.ifc` compares, which may stand in quotes."""
    match = re.match(r"\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^,]*)\s*(,?)\s*(.*)", text, re.DOTALL)
    assert match is not None, "everything in it is optional"
    first, comma, second = match[1].strip(), match[2], match[3].strip()

    def plain(word: str) -> str:
        return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word

    return plain(first), comma, plain(second)


class _Parsed(NamedTuple):
    """What a raw statement is, whatever stands around it; offsets count from its start."""

    labels: tuple[tuple[str, int, int], ...]
    offset: int
    """Of the text without labels and blanks."""
    text: str
    kind: Kind
    name: str = ""
    arguments: str = ""
    assignment: tuple[str, str] | None = None
    """Symbol and expression."""


def _statement(program: Program, raw: RawStatement, state: _State) -> Statement:
    """Take the labels off, tell what the rest is, note assignments."""
    parsed = _parse(raw.text, state.dialect.is_att)
    for name, begin, end in parsed.labels:
        span = raw.place or (raw.start + begin, raw.start + end)
        program.labels.setdefault(name, []).append(Label(len(program.statements), state.section, *span))
    start, stop = raw.place or (raw.start + parsed.offset, -1)
    if parsed.assignment is not None:
        _assign(program, *parsed.assignment)
    return Statement(
        parsed.kind, start, parsed.text, state.dialect, state.section, parsed.name, parsed.arguments, stop
    )


@lru_cache(maxsize=1 << 16)
def _parse(text: str, is_att: bool) -> _Parsed:
    """Remembered: when a text is read again, most of its statements are the same."""
    labels = []
    position = 0
    while ":" in text and (match := _LABEL.match(text, position)):
        name = match[1].strip('"')
        labels.append((name.lstrip("0") or "0" if name.isdigit() else name, match.start(1), match.end(1)))
        position = match.end()
    rest = text[position:].rstrip()
    stripped = rest.lstrip()
    found = (tuple(labels), position + len(rest) - len(stripped), stripped)
    if not stripped or stripped[0] == "/":
        return _Parsed(*found, Kind.NOTHING)
    if "=" in stripped and (match := _ASSIGNMENT.fullmatch(stripped)):
        return _Parsed(*found, Kind.NOTHING, assignment=(match[1], match[2]))
    if stripped[0] == "." and (match := _DIRECTIVE.fullmatch(stripped)):
        name, arguments = match[1].lower(), match[2]
        symbol, _, expression = arguments.partition(",")
        assignment = (symbol.strip(), expression) if name in _STORED else None
        return _Parsed(*found, Kind.DIRECTIVE, name, arguments, assignment)
    if not is_att and (match := _NASM_DIRECTIVE.fullmatch(stripped)):
        word = match[1].lower()
        name = {"align": "balign", "global": "globl", "extern": "extern"}.get(word, "section")
        is_followed = word in ("section", "segment", "global", "extern", "align")
        kind = Kind.DIRECTIVE if is_followed else Kind.NOTHING
        return _Parsed(*found, kind, name, match[2].rstrip("] \t"))
    if not is_att and (match := _EQU.fullmatch(stripped)):
        return _Parsed(*found, Kind.NOTHING, assignment=(match[1], match[2]))
    return _Parsed(*found, Kind.INSTRUCTION)


def _assign(program: Program, name: str, expression: str) -> None:
    """A value that cannot be told is left out: the symbol then is one whose address is not known."""
    if not name:
        return
    index = len(program.statements)
    try:
        value = evaluate(expression, lambda symbol: program.lookup(symbol, index))
    except ExpressionError:
        return
    if value.symbol != ".":
        program.define(name, value)


def _repeat_count(program: Program, statement: Statement) -> int | None:
    index = len(program.statements)
    try:
        count = constant(statement.arguments, lambda symbol: program.lookup(symbol, index))
    except ExpressionError:
        return None
    return count if 0 <= count <= MAXIMUM_STATEMENTS else None


def _block_ends(raw: list[RawStatement]) -> dict[int, int]:
    """Positions of `.macro`, `.rept` and their like, each with that of the statement that closes it."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {"endm": [], "endr": []}
    for position, item in enumerate(raw):
        match = _BLOCK_EDGE.match(item.text)
        if match is None:
            continue
        word = match[1].lower()
        if word not in opened:
            opened["endm" if word == "macro" else "endr"].append(position)
        elif opened[word]:
            ends[opened[word].pop()] = position
    return ends


def _follow(statement: Statement, state: _State) -> None:
    """Sections and syntax switches."""
    name, words = statement.name, statement.arguments.replace(",", " ").split()
    if dialect := of_directive(name, statement.arguments):
        state.dialect = dialect
    elif name in ("altmacro", "noaltmacro"):
        state.alternate = name == "altmacro"
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
