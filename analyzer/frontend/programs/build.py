"""Turns raw statements into a program: handles labels, sections, constants, macros, repetitions and
conditions.

Nothing is encoded here. Text outside of regions is parsed too, but only for labels, constants, sections and
dialect switches; its mistakes are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from cyclelens.analyzer.frontend.programs import conditions, macros
from cyclelens.analyzer.frontend.programs.macros import Macro, MacroError
from cyclelens.analyzer.frontend.programs.measured import Measure, TextSoFar
from cyclelens.analyzer.frontend.programs.part import (
    MAXIMUM_EXPANDED,
    MAXIMUM_EXPANDED_TEXT,
    MAXIMUM_STATEMENTS,
    AssemblerState,
    ParsedChunk,
    SavedSection,
    parse,
)
from cyclelens.analyzer.frontend.programs.program import Assigned, Program, Statement, StatementKind
from cyclelens.analyzer.frontend.source.dialect import Dialect, of_directive
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME
from cyclelens.analyzer.frontend.source.scanner import RawStatement, ScannedPart, block_edge
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import LATER, ExpressionError, ExpressionValue
from cyclelens.analyzer.frontend.statements.names import symbol_of
from msgspec.structs import replace

_POLL_EVERY = 4096
_MAXIMUM_NESTING = 40

_DECLARING = frozenset(["globl", "global", "extern", "comm", "lcomm", "local", "hidden", "weak"])
_ARCHITECTURE_NAMES = """
default push pop generic64 pentiumpro pentiumii pentiumiii pentium4 prescott nocona yonah core merom core2
corei7 athlon sledgehammer opteron k8 amdfam10 bdver1 bdver2 bdver3 bdver4 znver1 znver2 znver3 znver4
btver1 btver2
"""
_ARCHITECTURES = frozenset(_ARCHITECTURE_NAMES.split())
"""`.arch` values that GNU as 2.40 accepts, except older processors for which it pads code with other NOPs."""
_REGISTER = r"\s*(%\s*)?([A-Za-z]\w*(?:\s*\(\s*\d\s*\))?)\s*"
_DECLARED = re.compile(rf"{QUOTED_NAME}|[^\s,]+")
_ARGUMENT = re.compile(r'"([^"]*)"|[^,]+')
_WITH_RESPECT_TO = re.compile(r"(?<=\s)[wW][rR][tT]\s+\.\.\w+(?=\s*(?:\]|$|[-+]))")
"""What a name is relative to in NASM, such as ``..plt`` and ``..got`` in position-independent code."""
REPETITIONS = frozenset(["rept", "rep", "irp", "irpc"])
_FIRST_WORD = r"[\w.$]*"


def build(
    parts: Iterable[tuple[int, ScannedPart]],
    dialect: Dialect,
    cancel: Callable[[], bool],
    measure: Measure | None = None,
) -> Program:
    """Parse a file whose parts come with their offsets. A part that was parsed before and means the same here
    is reused. Stops early if ``cancel()`` becomes true. ``measure`` gives distances between labels in the
    part parsed so far."""
    program = Program()
    state = AssemblerState(dialect)
    measured = None if measure is None else TextSoFar(measure)
    for offset, part in parts:
        chunk: ParsedChunk | None = part.parsed
        if chunk is None or not chunk.holds(program, state):
            chunk = ParsedChunk(
                program=program,
                entry=state,
                state=replace(state),
                number=program.expansions,
                measured=measured,
            )
            _read(chunk, part.statements, cancel, 0)
            if cancel():
                return program
            part.parsed = chunk
            chunk.program, chunk.measured = _NOTHING, None
        state = chunk.state
        program.add(chunk, offset)
    if state.condition is not None:
        conditions.report_never_closed(program, state.condition)
    return program


_NOTHING = Program()


def _read(part: ParsedChunk, raw: Sequence[RawStatement], cancel: Callable[[], bool], depth: int) -> None:
    state = part.state
    ends: dict[int, int] | None = None
    not_unrolled: dict[int, str] = {}
    position = 0
    while position < len(raw) and not part.left:
        if position % _POLL_EVERY == 0 and cancel():
            return
        item = raw[position]
        position += 1
        if (
            state.condition is not None
            and not state.condition.active
            and not conditions.EDGE.match(item.text)
        ):
            # Those of a macro within count, too.
            continue
        statement = _statement(part, item)
        part.statements.append(statement)
        if statement.kind is StatementKind.INSTRUCTION:
            if part.macros or part.program.macros:
                word = re.match(_FIRST_WORD, statement.text)
                macro = part.macro(word[0].lower()) if word else None
                if macro is not None:
                    _expand_macro(part, macro, statement, item, cancel, depth)
            continue
        if statement.kind is not StatementKind.DIRECTIVE:
            continue
        name = statement.name
        end = None
        if name == "macro" or name in REPETITIONS:
            ends = _block_ends(raw) if ends is None else ends
            end = ends.get(position - 1)
        if name == "macro":
            if end is None:
                statement.refusal = "This macro is never closed by .endm."
                continue
            _define(part, statement, _body(raw, position, end))
            position = end + 1
        elif name in REPETITIONS:
            if end is None:
                statement.refusal = f"This .{name} is never closed by .endr."
            elif refusal := _repeat(part, statement, _body(raw, position, end), cancel, depth):
                statement.refusal = refusal
                not_unrolled[end] = f"The .{name} that ends here is not unrolled. {refusal}"
            else:
                position = end + 1
        elif name == "endr" and position - 1 in not_unrolled:
            statement.refusal = not_unrolled[position - 1]
        elif name in conditions.WORDS:
            conditions.follow(part, statement)
        elif name == "exitm" and depth:
            statement.kind = StatementKind.NOTHING
            part.left = True
        elif name == "purgem":
            purged = statement.arguments.strip().lower()
            part.macros[purged] = None
            state.macros = hash((state.macros, purged))
        elif name == "include":
            part.includes.append(len(part.statements) - 1)
        elif name in _DECLARING:
            named = [symbol_of(name) for name in _DECLARED.findall(statement.arguments)]
            part.declared += named
            if name == "weak":
                part.weak += named
        else:
            _follow(part, statement, state)


def _define(part: ParsedChunk, statement: Statement, body: Sequence[RawStatement]) -> None:
    try:
        macro = macros.define(statement.arguments, body)
    except MacroError as error:
        statement.refusal = str(error)
        return
    statement.kind = StatementKind.NOTHING
    part.macros[macro.name.lower()] = macro
    part.state.macros = hash((part.state.macros, statement.arguments, *(raw.text for raw in body)))


def _expand_macro(
    part: ParsedChunk,
    macro: Macro,
    statement: Statement,
    item: RawStatement,
    cancel: Callable[[], bool],
    depth: int,
) -> None:
    """Parse the expansion of a macro, located at its use."""
    state, program = part.state, part.program
    number = part.number + part.expansions
    part.expansions += 1
    part.is_numbered |= state.alternate or any("\\@" in raw.text for raw in macro.body)
    try:
        if depth >= _MAXIMUM_NESTING:
            raise MacroError(f"Macros are nested more than {_MAXIMUM_NESTING} levels deep.")
        if program.expanded + part.expanded + len(macro.body) > MAXIMUM_EXPANDED:
            part.is_limited = True
            raise MacroError(f"Macros would make more than {MAXIMUM_EXPANDED:,} statements in this file.")
        if (
            program.expanded_text + part.expanded_text > MAXIMUM_EXPANDED_TEXT
            or len(statement.text) > macros.MAXIMUM_TEXT
        ):
            part.is_limited = True
            raise MacroError("The text that macros produce is too long.")
        arguments = statement.text[len(macro.name) :]
        if state.alternate:
            arguments = macros.alternate_arguments(arguments, part.constant)
        values = macros.bind(macro, arguments)
        place = RawStatement(statement.start, "", item.place or (statement.start, statement.end))
        expanded = macros.expand(macro.body, values, number, place, state.alternate)
    except (MacroError, ExpressionError) as error:
        statement.refusal = str(error)
        return
    statement.kind = StatementKind.NOTHING
    part.expanded += len(expanded)
    part.expanded_text += sum(len(made.text) for made in expanded)
    open_before = state.condition.depth if state.condition else 0
    _read(part, expanded, cancel, depth + 1)
    _leave(part, open_before)


def _leave(part: ParsedChunk, open_before: int) -> None:
    """Close the conditions that an expansion has opened: only ``.exitm`` may leave them open."""
    state = part.state
    while state.condition is not None and state.condition.depth > open_before:
        if not part.left:
            conditions.refuse_open(state.condition.statement)
            part.forget_measured()
        state.condition = state.condition.outer
    part.left = False


def _repeat(
    part: ParsedChunk,
    statement: Statement,
    body: Sequence[RawStatement],
    cancel: Callable[[], bool],
    depth: int,
) -> str:
    """Unroll `.rept`, `.irp` or `.irpc`; why that is impossible, otherwise an empty text."""
    if depth >= _MAXIMUM_NESTING:
        return f"Repetitions and macros are nested more than {_MAXIMUM_NESTING} levels deep."
    values: list[dict[str, str]]
    if statement.name in ("rept", "rep"):
        try:
            count = part.constant(statement.arguments)
        except ExpressionError as error:
            return str(error)
        if count < 0:
            return f"The count of .{statement.name} is negative."
        values = [{}] * min(count, MAXIMUM_STATEMENTS + 1)
    else:
        name, _, rest = statement.arguments.partition(",")
        symbol = name.strip()
        if not re.fullmatch(_FIRST_WORD, symbol):
            return f".{statement.name} is followed by a name, a comma and values."
        words = list(rest.strip().strip('"')) if statement.name == "irpc" else macros.split(rest)
        values = [{symbol: word.strip('"')} for word in words or [""]]
    before = len(part.program.statements)
    if len(values) * len(body) > MAXIMUM_STATEMENTS - before - len(part.statements):
        part.is_limited = True
        return f"Files of more than {MAXIMUM_STATEMENTS:,} statements are not unrolled."
    statement.kind = StatementKind.NOTHING
    open_before = part.state.condition.depth if part.state.condition else 0
    for value in values:
        if before + len(part.statements) > MAXIMUM_STATEMENTS:
            part.is_limited = True
            return ""
        if cancel():
            return ""
        repeated = body
        if value:
            part.is_numbered |= any("\\@" in raw.text for raw in body)
            try:
                repeated = [
                    raw if "\\" not in raw.text else _replaced(raw, value, part.number + part.expansions)
                    for raw in body
                ]
            except MacroError as error:
                statement.kind, statement.refusal = StatementKind.DIRECTIVE, str(error)
                part.forget_measured()
                return ""
        _read(part, repeated, cancel, depth + 1)
        if part.left:
            _leave(part, open_before)
            break
    return ""


def _replaced(raw: RawStatement, values: dict[str, str], number: int) -> RawStatement:
    text = macros.replace_names(raw.text, values, number)
    start = raw.start + len(raw.text) - len(raw.text.lstrip())
    return RawStatement(start, text, raw.place or (start, raw.start + len(raw.text.rstrip())))


def _statement(part: ParsedChunk, raw: RawStatement) -> Statement:
    """Parse a raw statement, and record its labels and assignment."""
    state = part.state
    if raw.refusal and raw.place is not None:
        kind, (start, stop) = StatementKind.INSTRUCTION, raw.place
        return Statement(kind, start, "", state.dialect, state.section[0], stop=stop, refusal=raw.refusal)
    text = raw.text
    if state.dialect.is_nasm and (found := _WITH_RESPECT_TO.search(text)):
        # It chooses a relocation, and no byte.
        text = f"{text[: found.start()]}{' ' * len(found[0])}{text[found.end() :]}"
    parsed = parse(text, state.dialect.is_att)
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


def _assign(part: ParsedChunk, directive: str, name: str, expression: str) -> None:
    """Record an assignment with its value, if known. The value may be a register, whose symbol is its name
    after ``%``."""
    if not name:
        return
    value: ExpressionValue | None
    named = re.fullmatch(_REGISTER, expression)
    register = re.sub(r"\s", "", named[2]).lower() if named else ""
    if named and register in registers.REGISTERS and (named[1] or part.state.dialect.bare_registers):
        value = ExpressionValue(0, f"%{register}")
    else:
        try:
            value = part.evaluate(expression)
        except ExpressionError:
            # The previous value no longer applies. The error is reported where the symbol is used.
            value = LATER
        if value.later or value.symbol == "." or directive == "eqv":
            value = None
    part.assign(name, Assigned(expression, value, directive == "eqv"))


def _block_ends(raw: Sequence[RawStatement]) -> dict[int, int]:
    """Index of the closing statement for each `.macro`, `.rept` and related directive."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {"endm": [], "endr": []}
    for position, item in enumerate(raw):
        word, _ = block_edge(item.text, inside=any(opened.values()))
        if word not in opened:
            if word:
                opened["endm" if word == "macro" else "endr"].append(position)
        elif opened[word]:
            ends[opened[word].pop()] = position
    return ends


def _body(raw: Sequence[RawStatement], first: int, end: int) -> list[RawStatement]:
    """Statements up to the one that closes the block, including labels before that one."""
    _, behind = block_edge(raw[end].text, inside=True)
    labels = replace(raw[end], text=raw[end].text[:behind])
    return [*raw[first:end], *([labels] if labels.text.strip() else [])]


def _follow(part: ParsedChunk, statement: Statement, state: AssemblerState) -> None:
    """Apply directives that change the section or the syntax."""
    name, arguments = statement.name, [match[0].strip() for match in _ARGUMENT.finditer(statement.arguments)]
    if dialect := of_directive(name, statement.arguments):
        state.dialect = dialect
    elif name == "default" and state.dialect.is_nasm:
        state.dialect = replace(state.dialect, is_relative=statement.arguments.strip().lower() == "rel")
    elif name == "arch":
        word = statement.arguments.strip().lower()
        if word not in _ARCHITECTURES and not word.startswith("."):
            known = "GNU as 2.40 does not know the architecture"
            statement.refusal = f"{known} '{word[:40]}', or pads alignments differently for it."
    elif name in ("altmacro", "noaltmacro"):
        state.alternate = name == "altmacro"
    elif name == "popsection":
        if state.pushed is not None:
            pushed = state.pushed
            state.section, state.previous, state.pushed = pushed.section, pushed.previous, pushed.outer
    elif name == "previous":
        state.section, state.previous = state.previous, state.section
    elif name in ("text", "data", "bss", "subsection"):
        section = state.section[0] if name == "subsection" else f".{name}"
        subsection = _subsection(part, statement, arguments[0]) if arguments else 0
        state.previous, state.section = state.section, (section, subsection)
    elif name in ("section", "pushsection"):
        if name == "pushsection":
            state.pushed = SavedSection(state.section, state.previous, state.pushed)
        if not arguments:
            return
        subsection, rest = 0, arguments[1:]
        if name == "pushsection" and rest and not rest[0].startswith(('"', "@", "%")):
            subsection, rest = _subsection(part, statement, rest[0]), rest[1:]
        section = arguments[0].strip('"') if arguments[0].startswith('"') else arguments[0].split()[0]
        if rest and rest[0].startswith('"'):
            part.flags.setdefault(section, rest[0].strip('"'))
        state.previous, state.section = state.section, (section, subsection)


def _subsection(part: ParsedChunk, statement: Statement, text: str) -> int:
    try:
        return part.constant(text)
    except ExpressionError as error:
        statement.refusal = str(error)
        return 0
