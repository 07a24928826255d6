"""Raw statements to a program: labels, sections, constants; macros, repetitions and conditions are done.

Nothing is encoded here. Text outside of regions passes through too, but only its labels, constants, sections
and dialect switches are looked at; its mistakes are nobody's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from cyclelens.analyzer.assembly import macros
from cyclelens.analyzer.assembly.dialect import Dialect, of_directive
from cyclelens.analyzer.assembly.expressions import ExpressionError, Value, constant, evaluate
from cyclelens.analyzer.assembly.macros import Macro, MacroError
from cyclelens.analyzer.assembly.scanner import BLOCK_EDGE, Part, RawStatement

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
_FIRST_WORD = re.compile(r"[\w.$]*")
_NUMERIC = re.compile(r"(\d+)([bf])")


class Kind(Enum):
    """What a statement is."""

    INSTRUCTION = 0
    DIRECTIVE = 1
    NOTHING = 2
    """Labels or an assignment only, or a part of a macro definition."""


@dataclass(slots=True, eq=False)
class Statement:
    """One statement without its labels and comments. Later versions of the text share it."""

    kind: Kind
    start: int
    """Offset of ``text`` in its part of the file; ``Program.span`` tells where it is in the file."""
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


class _Condition(NamedTuple):
    """An open `.if`."""

    statement: Statement
    active: bool
    """Is this branch assembled? Never within a branch that is not."""
    taken: bool
    """Was one of the branches?"""
    outer: _Condition | None
    depth: int
    known: bool = True
    """False: the condition cannot be told here, all branches are read."""


class _Pushed(NamedTuple):
    """What `.popsection` goes back to."""

    section: str
    previous: str
    outer: _Pushed | None


@dataclass(slots=True, eq=False)
class _State:
    """What a statement means depends on, besides symbols."""

    dialect: Dialect
    section: str = _CODE_SECTION
    previous: str = _CODE_SECTION
    pushed: _Pushed | None = None
    condition: _Condition | None = None
    alternate: bool = False
    """Between `.altmacro` and `.noaltmacro`."""
    macros: int = 0
    """A hash of all definitions of macros so far."""

    def is_same(self, other: _State) -> bool:
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
class _Reading:
    """What became of a part of the text, and of what else that depends. Offsets and indices count from the
    part's beginning."""

    program: Program
    """What stands before."""
    entry: _State
    state: _State
    """At the end, once it is read."""
    number: int
    """Uses of macros before."""
    statements: list[Statement] = field(default_factory=list)
    labels: list[tuple[str, Label]] = field(default_factory=list)
    constants: list[tuple[str, int, Value]] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    macros: dict[str, Macro | None] = field(default_factory=dict)
    """Defined, or no longer."""
    expansions: int = 0
    """Uses of macros."""
    expanded: int = 0
    """Statements that they became."""
    expanded_text: int = 0
    """Characters of these."""
    asked: dict[str, tuple[Value | None, bool]] = field(default_factory=dict)
    """Symbols of what stands before: the value, and whether it is a label."""
    is_numbered: bool = False
    """Something is called after the number of a macro's use."""
    is_limited: bool = False
    """Something was left out because of a limit."""
    left: bool = False
    """`.exitm`: the rest of this expansion is not read."""
    _values: dict[str, Value] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)

    def define(self, name: str, value: Value) -> None:
        """From the next statement on the symbol has this value."""
        self.constants.append((name, len(self.statements), value))
        self._values[name] = value

    def lookup(self, name: str) -> Value | None:
        """The latest value of a symbol."""
        return self._values[name] if name in self._values else self._ask(name)[0]

    def add_label(self, name: str, start: int, end: int) -> None:
        """The next statement has this label."""
        self.labels.append((name, Label(len(self.statements), self.state.section, start, end)))
        self._named.add(name)

    def is_label(self, name: str) -> bool:
        """Is there such a label by now?"""
        return name in self._named or self._ask(name)[1]

    def macro(self, name: str) -> Macro | None:
        """The macro of this name, in lower case."""
        return self.macros[name] if name in self.macros else self.program.macros.get(name)

    def _ask(self, name: str) -> tuple[Value | None, bool]:
        if name not in self.asked:
            self.asked[name] = self.program.latest(name), self.program.has_label(name)
        return self.asked[name]

    def holds(self, program: Program, state: _State) -> bool:
        """Would the part become the same behind this program?"""
        return (
            not self.is_limited
            and self.entry.is_same(state)
            and (not self.is_numbered or self.number == program.expansions)
            and len(program.statements) + len(self.statements) <= MAXIMUM_STATEMENTS
            and program.expanded + self.expanded <= MAXIMUM_EXPANDED
            and program.expanded_text + self.expanded_text <= MAXIMUM_EXPANDED_TEXT
            and all(
                (program.latest(name), program.has_label(name)) == known for name, known in self.asked.items()
            )
        )


@dataclass(slots=True)
class Program:
    """A whole file, in order."""

    statements: list[Statement] = field(default_factory=list)
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
    _labels: dict[str, list[tuple[int, int, Label]]] = field(default_factory=dict)
    """As they were read, with the first statement and the offset of their part."""
    _constants: dict[str, tuple[list[int], list[Value]]] = field(default_factory=dict)
    _addresses: dict[str, int] = field(default_factory=dict)
    _offsets: list[int] = field(default_factory=list)
    """Of the parts."""
    _firsts: list[int] = field(default_factory=list)
    """The first statement of each part."""

    def add(self, reading: _Reading, offset: int) -> None:
        """Put a part behind all others."""
        first = len(self.statements)
        self._offsets.append(offset)
        self._firsts.append(first)
        self.statements += reading.statements
        for name, label in reading.labels:
            self._labels.setdefault(name, []).append((first, offset, label))
        for name, index, value in reading.constants:
            places, values = self._constants.setdefault(name, ([], []))
            places.append(first + index)
            values.append(value)
        self.declared.update(reading.declared)
        for name, macro in reading.macros.items():
            if macro is not None:
                self.macros[name] = macro
            else:
                self.macros.pop(name, None)
        self.expansions += reading.expansions
        self.expanded += reading.expanded
        self.expanded_text += reading.expanded_text

    def span(self, index: int) -> tuple[int, int]:
        """Where a statement begins and ends in the text."""
        statement = self.statements[index]
        offset = self._offsets[bisect_right(self._firsts, index) - 1]
        return offset + statement.start, offset + statement.end

    def offsets(self, first: int, last: int) -> list[int]:
        """Where the parts begin that statements are of; ``last`` is exclusive."""
        begin = max(bisect_right(self._firsts, first) - 1, 0)
        return self._offsets[begin : bisect_left(self._firsts, last)]

    def latest(self, name: str) -> Value | None:
        """The value of a symbol behind the last statement."""
        return self._constants[name][1][-1] if name in self._constants else None

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
            found = self._labels.get(name)
            return _placed(*found[0]) if found else None
        found = self._labels.get(match[1], [])
        after = bisect_right(found, index, key=lambda known: known[0] + known[2].index)
        at = after - 1 if match[2] == "b" else after
        return _placed(*found[at]) if 0 <= at < len(found) else None

    def has_label(self, name: str) -> bool:
        """Is there such a label?"""
        return name in self._labels

    def label_names(self) -> Iterable[str]:
        """The names of all labels."""
        return self._labels

    def labels_again(self) -> Iterator[tuple[str, Label]]:
        """Labels whose name has a place before them, but for numeric ones."""
        for name, found in self._labels.items():
            if len(found) > 1 and not name.isdigit():
                yield from ((name, _placed(*known)) for known in found[1:])

    def address(self, symbol: str) -> int:
        """A stand-in for an address that is not known: the same for the same symbol, far from all others."""
        return self._addresses.setdefault(symbol, 0x1000 * len(self._addresses))

    def is_declared(self, symbol: str) -> bool:
        """Does the file define the symbol, or say that another one does?"""
        name = symbol.partition("@")[0]
        if name[0].isdigit():
            return name[:-1] in self._labels
        return name in self._labels or name in self.declared or name == "."

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """Indices of the statements that stand between two offsets of the text."""
        return self._index(start), self._index(end)

    def _index(self, offset: int) -> int:
        """The first statement that does not stand before an offset."""
        part = bisect_right(self._offsets, offset) - 1
        if part < 0:
            return 0
        first = self._firsts[part]
        last = self._firsts[part + 1] if part + 1 < len(self._firsts) else len(self.statements)
        # Unrolled statements go back in the text; the running maximum can be searched all the same.
        starts = list(accumulate((one.start for one in self.statements[first:last]), max))
        return first + bisect_left(starts, offset - self._offsets[part])


def _placed(first: int, offset: int, label: Label) -> Label:
    return Label(first + label.index, label.section, offset + label.start, offset + label.end)


@dataclass(slots=True)
class StatementScope:
    """What symbols mean at one statement (operands.Scope)."""

    program: Program
    index: int
    undefined: list[str] = field(default_factory=list)
    """Symbols of absolute addresses that nothing in the file defines or declares."""
    was_asked: bool = False
    """What the statement becomes depends on what else is in the file."""

    def lookup(self, name: str) -> Value | None:
        self.was_asked = True
        return self.program.lookup(name, self.index)

    def address(self, symbol: str, *, relative: bool) -> int:
        self.was_asked = True
        if not relative and not self.program.is_declared(symbol):
            self.undefined.append(symbol)
        return self.program.address(symbol)


def build(parts: Iterable[tuple[int, Part]], dialect: Dialect, cancel: Callable[[], bool]) -> Program:
    """The program of a file, whose parts come with their offsets. A part that was read before and means the
    same here is not read again. Stops early when ``cancel()`` turns true."""
    program = Program()
    state = _State(dialect)
    for offset, part in parts:
        reading: _Reading | None = part.reading
        if reading is None or not reading.holds(program, state):
            reading = _Reading(program, state, replace(state), program.expansions)
            _read(reading, part.statements, cancel, 0)
            if cancel():
                return program
            part.reading = reading
            reading.program = _NOTHING
        state = reading.state
        program.add(reading, offset)
    _report_never_closed(program, state.condition)
    return program


_NOTHING = Program()


def _read(part: _Reading, raw: Sequence[RawStatement], cancel: Callable[[], bool], depth: int) -> None:
    state = part.state
    ends: dict[int, int] | None = None
    position = 0
    while position < len(raw) and not part.left:
        if position % _POLL_EVERY == 0 and cancel():
            return
        item = raw[position]
        position += 1
        if state.condition is not None and not state.condition.active and not _IF_EDGE.match(item.text):
            # What is skipped may hold a macro with conditions of its own.
            edge = BLOCK_EDGE.match(item.text)
            if edge and edge[1].lower() == "macro":
                ends = _block_ends(raw) if ends is None else ends
                position = ends.get(position - 1, position - 1) + 1
            continue
        statement = _statement(part, item)
        part.statements.append(statement)
        if statement.kind is Kind.INSTRUCTION:
            if (part.macros or part.program.macros) and (macro := _used_macro(part, statement)):
                _expand_macro(part, macro, statement, item, cancel, depth)
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
            _define(part, statement, raw[position:end])
            position = end + 1
        elif name in _REPETITIONS:
            if end is not None and depth < _MAXIMUM_NESTING:
                body = raw[position:end]
                if _repeat(part, statement, body, cancel, depth):
                    position = end + 1
        elif name in _IF_WORDS:
            _condition(part, statement)
        elif name == "exitm" and depth:
            statement.kind = Kind.NOTHING
            part.left = True
        elif name == "purgem":
            purged = statement.arguments.strip().lower()
            part.macros[purged] = None
            state.macros = hash((state.macros, purged))
        elif name in _DECLARING:
            part.declared += statement.arguments.replace(",", " ").split()
        else:
            _follow(statement, state)


def _used_macro(part: _Reading, statement: Statement) -> Macro | None:
    return part.macro(_FIRST_WORD.match(statement.text)[0].lower())  # type: ignore[index]


def _define(part: _Reading, statement: Statement, body: Sequence[RawStatement]) -> None:
    try:
        macro = macros.define(statement.arguments, body)
    except MacroError as error:
        statement.refusal = str(error)
        return
    statement.kind = Kind.NOTHING
    part.macros[macro.name.lower()] = macro
    part.state.macros = hash((part.state.macros, statement.arguments, *(raw.text for raw in body)))


def _expand_macro(
    part: _Reading,
    macro: Macro,
    statement: Statement,
    item: RawStatement,
    cancel: Callable[[], bool],
    depth: int,
) -> None:
    """Read what a use of a macro stands for, at the place of the use."""
    state, program = part.state, part.program
    number = part.number + part.expansions
    part.expansions += 1
    part.is_numbered |= state.alternate or any("\\@" in raw.text for raw in macro.body)
    try:
        if depth >= _MAXIMUM_NESTING:
            raise MacroError(f"Macros are followed {_MAXIMUM_NESTING} levels deep.")
        if program.expanded + part.expanded + len(macro.body) > MAXIMUM_EXPANDED:
            part.is_limited = True
            raise MacroError(f"Macros may make {MAXIMUM_EXPANDED:,} statements in a file.")
        if (
            program.expanded_text + part.expanded_text > MAXIMUM_EXPANDED_TEXT
            or len(statement.text) > macros.MAXIMUM_TEXT
        ):
            part.is_limited = True
            raise MacroError("The text that macros make becomes too long.")
        arguments = statement.text[len(macro.name) :]
        if state.alternate:
            arguments = macros.alternate_arguments(arguments, lambda text: constant(text, part.lookup))
        values = macros.bind(macro, arguments)
        place = RawStatement(statement.start, "", item.place or (statement.start, statement.end))
        expanded = macros.expand(macro.body, values, number, place, state.alternate)
    except (MacroError, ExpressionError) as error:
        statement.refusal = str(error)
        return
    statement.kind = Kind.NOTHING
    part.expanded += len(expanded)
    part.expanded_text += sum(len(made.text) for made in expanded)
    open_before = state.condition.depth if state.condition else 0
    _read(part, expanded, cancel, depth + 1)
    while state.condition is not None and state.condition.depth > open_before:
        if not part.left:
            _refuse_open(state.condition.statement)
        state.condition = state.condition.outer
    part.left = False


def _repeat(
    part: _Reading,
    statement: Statement,
    body: Sequence[RawStatement],
    cancel: Callable[[], bool],
    depth: int,
) -> bool:
    """Unroll `.rept`, `.irp` or `.irpc`; False if that cannot be done."""
    values: list[dict[str, str]]
    if statement.name in ("rept", "rep"):
        count = _repeat_count(part, statement)
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
    before = len(part.program.statements)
    if len(values) * len(body) > MAXIMUM_STATEMENTS - before - len(part.statements):
        part.is_limited = True
        return False
    statement.kind = Kind.NOTHING
    for value in values:
        if before + len(part.statements) > MAXIMUM_STATEMENTS:
            part.is_limited = True
            return True
        if cancel():
            return True
        repeated = body
        if value:
            part.is_numbered |= any("\\@" in raw.text for raw in body)
            try:
                repeated = [
                    raw if "\\" not in raw.text else _replaced(raw, value, part.number + part.expansions)
                    for raw in body
                ]
            except MacroError as error:
                statement.kind, statement.refusal = Kind.DIRECTIVE, str(error)
                return True
        _read(part, repeated, cancel, depth + 1)
    return True


def _replaced(raw: RawStatement, values: dict[str, str], number: int) -> RawStatement:
    text = macros.replace_names(raw.text, values, number)
    start = raw.start + len(raw.text) - len(raw.text.lstrip())
    return RawStatement(start, text, raw.place or (start, raw.start + len(raw.text.rstrip())))


def _report_never_closed(program: Program, condition: _Condition | None) -> None:
    """Statements belong to later versions of the text, too: the refused ones of this are others."""
    opened = set()
    while condition is not None:
        opened.add(id(condition.statement))
        condition = condition.outer
    if opened:
        for index, statement in enumerate(program.statements):
            if id(statement) in opened:
                program.statements[index] = refused = replace(statement)
                _refuse_open(refused)


def _refuse_open(statement: Statement) -> None:
    statement.kind = Kind.DIRECTIVE
    statement.refusal = f".{statement.name} is never closed by .endif."


def _condition(part: _Reading, statement: Statement) -> None:
    """Open, turn over or close a condition."""
    state, name = part.state, statement.name
    current = state.condition
    if name in ("else", "elseif", "endif"):
        if current is None:
            return
        statement.kind = Kind.NOTHING
        if name == "endif":
            state.condition = current.outer
        elif current.known:
            possible = not current.taken and (current.outer is None or current.outer.active)
            met = possible and (name == "else" or bool(_met(part, "if", statement.arguments)))
            state.condition = current._replace(active=met, taken=current.taken or met)
        return
    statement.kind = Kind.NOTHING
    depth = current.depth + 1 if current else 1
    if current is not None and not current.active:
        state.condition = _Condition(statement, False, True, current, depth)
        return
    holds = _met(part, name, statement.arguments)
    if holds is None:
        statement.kind = Kind.DIRECTIVE
        statement.refusal = "This condition cannot be told here: all of its branches are read."
        state.condition = _Condition(statement, True, True, current, depth, known=False)
        return
    state.condition = _Condition(statement, holds, holds, current, depth)


def _met(part: _Reading, name: str, text: str) -> bool | None:
    """Does a condition hold? None if that cannot be told."""
    text = text.strip()
    if name in ("ifdef", "ifndef", "ifnotdef"):
        return (part.lookup(text) is not None or part.is_label(text)) == (name == "ifdef")
    if name in ("ifb", "ifnb"):
        return (not text) == (name == "ifb")
    if name in ("ifc", "ifnc", "ifeqs", "ifnes"):
        first, comma, second = _comparands(text)
        if not comma:
            return None
        return (first == second) == (name in ("ifc", "ifeqs"))
    try:
        value = constant(text, part.lookup)
    except ExpressionError:
        return None
    return _COMPARISONS[name](value)


def _comparands(text: str) -> tuple[str, str, str]:
    """The two texts that `.ifc` compares, which may stand in quotes."""
    match = re.match(r"\s*(\"(?:[^\"\\]++|\\.)*+\"|'[^']*'|[^,]*)\s*(,?)\s*(.*)", text, re.DOTALL)
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


def _statement(part: _Reading, raw: RawStatement) -> Statement:
    """Take the labels off, tell what the rest is, note assignments."""
    state = part.state
    parsed = _parse(raw.text, state.dialect.is_att)
    for name, begin, end in parsed.labels:
        part.add_label(name, *(raw.place or (raw.start + begin, raw.start + end)))
    start, stop = raw.place or (raw.start + parsed.offset, -1)
    if parsed.assignment is not None:
        _assign(part, *parsed.assignment)
    return Statement(
        parsed.kind, start, parsed.text, state.dialect, state.section, parsed.name, parsed.arguments, stop
    )


def _parse(text: str, is_att: bool) -> _Parsed:
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


def _assign(part: _Reading, name: str, expression: str) -> None:
    """A value that cannot be told is left out: the symbol then is one whose address is not known."""
    if not name:
        return
    try:
        value = evaluate(expression, part.lookup)
    except ExpressionError:
        return
    if value.symbol != ".":
        part.define(name, value)


def _repeat_count(part: _Reading, statement: Statement) -> int | None:
    try:
        count = constant(statement.arguments, part.lookup)
    except ExpressionError:
        return None
    return count if 0 <= count <= MAXIMUM_STATEMENTS else None


def _block_ends(raw: Sequence[RawStatement]) -> dict[int, int]:
    """Positions of `.macro`, `.rept` and their like, each with that of the statement that closes it."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {"endm": [], "endr": []}
    for position, item in enumerate(raw):
        match = BLOCK_EDGE.match(item.text)
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
        state.pushed = _Pushed(state.section, state.previous, state.pushed)
        state.previous, state.section = state.section, words[0].strip('"') if words else state.section
    elif name == "popsection":
        if state.pushed is not None:
            state.section, state.previous, state.pushed = state.pushed
    elif name == "previous":
        state.section, state.previous = state.previous, state.section
    elif name in ("text", "data", "bss"):
        state.previous, state.section = state.section, f".{name}"
    elif name == "section" and words:
        state.previous, state.section = state.section, words[0].strip('"')
