"""Raw statements to a program: labels, sections, constants; macros, repetitions and conditions are done.

Nothing is encoded here. Text outside of regions passes through too, but only its labels, constants, sections
and dialect switches are looked at; its mistakes are nobody's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cyclelens.analyzer.assembly import macros, registers
from cyclelens.analyzer.assembly.dialect import ATT, Dialect, of_directive
from cyclelens.analyzer.assembly.expressions import LATER, ExpressionError, Value, evaluate
from cyclelens.analyzer.assembly.macros import Macro, MacroError
from cyclelens.analyzer.assembly.program import (
    CODE_SECTION,
    Assigned,
    Found,
    Kind,
    Label,
    Program,
    Statement,
)
from cyclelens.analyzer.assembly.scanner import BLOCK_EDGE, Part, RawStatement
from cyclelens.analyzer.assembly.scope import DistanceAt, StatementScope

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
_STORED = frozenset(["set", "equ", "equiv", "eqv"])
_DECLARING = frozenset(["globl", "global", "extern", "comm", "lcomm", "local", "hidden", "weak"])
_ARCHITECTURE_NAMES = """
default push pop generic64 pentiumpro pentiumii pentiumiii pentium4 prescott nocona yonah core merom core2
corei7 athlon sledgehammer opteron k8 amdfam10 bdver1 bdver2 bdver3 bdver4 znver1 znver2 znver3 znver4
btver1 btver2
"""
_ARCHITECTURES = frozenset(_ARCHITECTURE_NAMES.split())
"""What `.arch` may say to GNU as 2.40, but for the older ones for which it fills code with other NOPs."""
_REGISTER = re.compile(r"\s*(%\s*)?([A-Za-z]\w*(?:\s*\(\s*\d\s*\))?)\s*")
_ARGUMENT = re.compile(r'"([^"]*)"|[^,]+')
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


_Section = tuple[str, int]
"""A section and a subsection of it."""


class _Pushed(NamedTuple):
    """What `.popsection` goes back to."""

    section: _Section
    previous: _Section
    outer: _Pushed | None


@dataclass(slots=True, eq=False)
class _State:
    """What a statement means depends on, besides symbols."""

    dialect: Dialect
    section: _Section = (CODE_SECTION, 0)
    previous: _Section = (CODE_SECTION, 0)
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
class _Reading(Found):
    """What became of a part of the text, and of what else that depends."""

    program: Program = field(default_factory=Program)
    """What stands before."""
    entry: _State = field(default_factory=lambda: _State(ATT))
    state: _State = field(default_factory=lambda: _State(ATT))
    """At the end, once it is read."""
    number: int = 0
    """Uses of macros before."""
    measure: Callable[[Program], DistanceAt] | None = None
    """For conditions on the distance of two labels."""
    asked: dict[str, tuple[Assigned | None, bool]] = field(default_factory=dict)
    """Symbols of what stands before: what they are set to, and whether there is a label."""
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

    def assign(self, name: str, assigned: Assigned) -> None:
        """From the next statement on the symbol is set to this."""
        self.assignments.append((name, len(self.statements), assigned))
        self._latest[name] = assigned

    def assigned(self, name: str) -> Assigned | None:
        """What a symbol is set to by now."""
        return self._latest[name] if name in self._latest else self._ask(name)[0]

    def add_label(self, name: str, start: int, end: int) -> None:
        """The next statement has this label."""
        self.labels.append((name, Label(len(self.statements), self.state.section[0], start, end)))
        self._named.add(name)

    def is_label(self, name: str) -> bool:
        """Is there such a label by now?"""
        return name in self._named or self._ask(name)[1]

    def macro(self, name: str) -> Macro | None:
        """The macro of this name, in lower case."""
        return self.macros[name] if name in self.macros else self.program.macros.get(name)

    def evaluate(self, text: str) -> Value:
        """An expression as it is known by now, without the distances of labels. Raises ExpressionError."""
        dialect = self.state.dialect
        words = not (dialect.is_att or dialect.is_nasm)
        return evaluate(text, self._lookup, words=words, suffixes=not dialect.is_gnu, nasm=dialect.is_nasm)

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

    def _ask(self, name: str) -> tuple[Assigned | None, bool]:
        if name not in self.asked:
            self.asked[name] = self.program.latest(name), self.program.has_label(name)
        return self.asked[name]

    def holds(self, program: Program, state: _State) -> bool:
        """Would the part become the same behind this program?"""
        return (
            not self.is_limited
            and not self.is_measured
            and self.entry.is_same(state)
            and (not self.is_numbered or self.number == program.expansions)
            and len(program.statements) + len(self.statements) <= MAXIMUM_STATEMENTS
            and program.expanded + self.expanded <= MAXIMUM_EXPANDED
            and program.expanded_text + self.expanded_text <= MAXIMUM_EXPANDED_TEXT
            and all(
                (program.latest(name), program.has_label(name)) == answer
                for name, answer in self.asked.items()
            )
        )


def build(
    parts: Iterable[tuple[int, Part]],
    dialect: Dialect,
    cancel: Callable[[], bool],
    measure: Callable[[Program], DistanceAt] | None = None,
) -> Program:
    """The program of a file, whose parts come with their offsets. A part that was read before and means the
    same here is not read again. Stops early when ``cancel()`` turns true. ``measure``: tells the distances of
    labels that stand in what has been read."""
    program = Program()
    state = _State(dialect)
    for offset, part in parts:
        reading: _Reading | None = part.reading
        if reading is None or not reading.holds(program, state):
            reading = _Reading(
                program=program,
                entry=state,
                state=replace(state),
                number=program.expansions,
                measure=measure,
            )
            _read(reading, part.statements, cancel, 0)
            if cancel():
                return program
            part.reading = reading
            reading.program, reading.measure = _NOTHING, None
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
            named = statement.arguments.replace(",", " ").split()
            part.declared += named
            if name == "weak":
                part.weak += named
        else:
            _follow(part, statement, state)


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
            arguments = macros.alternate_arguments(arguments, part.constant)
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
                program.changed.add(index)
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
        return (part.assigned(text) is not None or part.is_label(text)) == (name == "ifdef")
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


def _statement(part: _Reading, raw: RawStatement) -> Statement:
    """Take the labels off, tell what the rest is, note assignments."""
    state = part.state
    parsed = _parse(raw.text, state.dialect.is_att)
    for name, begin, end in parsed.labels:
        part.add_label(name, *(raw.place or (raw.start + begin, raw.start + end)))
    start, stop = raw.place or (raw.start + parsed.offset, -1)
    if parsed.assignment is not None:
        _assign(part, parsed.name, *parsed.assignment)
    section, subsection = state.section
    return Statement(
        parsed.kind,
        start,
        parsed.text,
        state.dialect,
        section,
        parsed.name,
        parsed.arguments,
        stop,
        subsection=subsection,
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
        name = {"align": "balign", "global": "globl", "extern": "extern", "default": "default"}.get(
            word, "section"
        )
        is_followed = word in ("section", "segment", "global", "extern", "align", "default")
        kind = Kind.DIRECTIVE if is_followed else Kind.NOTHING
        return _Parsed(*found, kind, name, match[2].rstrip("] \t"))
    if not is_att and (match := _EQU.fullmatch(stripped)):
        return _Parsed(*found, Kind.NOTHING, assignment=(match[1], match[2]))
    return _Parsed(*found, Kind.INSTRUCTION)


def _assign(part: _Reading, directive: str, name: str, expression: str) -> None:
    """Keep what a symbol is set to: its value if that is known by now, which may be a register (its name
    behind ``%``)."""
    if not name:
        return
    value: Value | None
    named = _REGISTER.fullmatch(expression)
    register = re.sub(r"\s", "", named[2]).lower() if named else ""
    if named and register in registers.REGISTERS and (named[1] or part.state.dialect.bare_registers):
        value = Value(0, f"%{register}")
    else:
        try:
            value = part.evaluate(expression)
        except ExpressionError:
            # It is not what it was set to before. Where it is used, it is said why.
            value = LATER
        if value.later or value.symbol == "." or directive == "eqv":
            value = None
    part.assign(name, Assigned(expression, value, directive == "eqv"))


def _repeat_count(part: _Reading, statement: Statement) -> int | None:
    try:
        count = part.constant(statement.arguments)
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


def _follow(part: _Reading, statement: Statement, state: _State) -> None:
    """Sections and syntax switches."""
    name, arguments = statement.name, [match[0].strip() for match in _ARGUMENT.finditer(statement.arguments)]
    if dialect := of_directive(name, statement.arguments):
        state.dialect = dialect
    elif name == "default" and state.dialect.is_nasm:
        state.dialect = replace(state.dialect, is_relative=statement.arguments.strip().lower() == "rel")
    elif name == "arch":
        word = statement.arguments.strip().lower()
        if word not in _ARCHITECTURES and not word.startswith("."):
            known = "GNU as 2.40 knows no architecture"
            statement.refusal = f"{known} '{word[:40]}', or one whose alignments are filled otherwise."
    elif name in ("altmacro", "noaltmacro"):
        state.alternate = name == "altmacro"
    elif name == "popsection":
        if state.pushed is not None:
            state.section, state.previous, state.pushed = state.pushed
    elif name == "previous":
        state.section, state.previous = state.previous, state.section
    elif name in ("text", "data", "bss", "subsection"):
        section = state.section[0] if name == "subsection" else f".{name}"
        subsection = _subsection(part, statement, arguments[0]) if arguments else 0
        state.previous, state.section = state.section, (section, subsection)
    elif name in ("section", "pushsection"):
        if name == "pushsection":
            state.pushed = _Pushed(state.section, state.previous, state.pushed)
        if not arguments:
            return
        subsection, rest = 0, arguments[1:]
        if name == "pushsection" and rest and not rest[0].startswith(('"', "@", "%")):
            subsection, rest = _subsection(part, statement, rest[0]), rest[1:]
        section = arguments[0].strip('"') if arguments[0].startswith('"') else arguments[0].split()[0]
        if rest and rest[0].startswith('"'):
            part.flags.setdefault(section, rest[0].strip('"'))
        state.previous, state.section = state.section, (section, subsection)


def _subsection(part: _Reading, statement: Statement, text: str) -> int:
    try:
        return part.constant(text)
    except ExpressionError as error:
        statement.refusal = str(error)
        return 0
