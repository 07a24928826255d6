"""Text to regions of bytes: the assembly front end as the rest of the project sees it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from cyclelens.analyzer.assembly import blocks, directives, listed
from cyclelens.analyzer.assembly.assembler_client import (
    AssemblerClient,
    Failure,
    Reply,
    shared_client,
)
from cyclelens.analyzer.assembly.control_flow import scattered
from cyclelens.analyzer.assembly.dialect import (
    BY_NAME,
    Dialect,
    detect,
    needs_nasm,
    semicolon_starts_comment,
    style,
    without_masm,
)
from cyclelens.analyzer.assembly.directives import Alignment
from cyclelens.analyzer.assembly.expansion import (
    INCLUDING,
    Expanded,
    Note,
    inline_includes,
    not_preprocessed,
    place_statements,
    plain,
    preprocess,
    wants_preprocessor,
)
from cyclelens.analyzer.assembly.expressions import ExpressionError, evaluate
from cyclelens.analyzer.assembly.fallbacks import FALLBACKS
from cyclelens.analyzer.assembly.iaca import find_iaca, may_have_iaca
from cyclelens.analyzer.assembly.instructions import (
    Encoded,
    Jump,
    MismatchError,
    Question,
    finish,
    finish_fallback,
    prepare,
)
from cyclelens.analyzer.assembly.layout import Piece, find_targets, lay_out
from cyclelens.analyzer.assembly.loops import FoundCode, find_loops
from cyclelens.analyzer.assembly.operands import OperandError, UnsupportedError
from cyclelens.analyzer.assembly.problems import make_problem
from cyclelens.analyzer.assembly.program import Kind, Program, Statement, StatementScope, build
from cyclelens.analyzer.assembly.refusals import no_such
from cyclelens.analyzer.assembly.regions import (
    MAXIMUM_REGIONS,
    Span,
    coverage,
    find_latencies,
    find_regions,
    with_latencies,
)
from cyclelens.analyzer.assembly.scanner import MARKER_WORDS, Lines, Part, RawStatement, Scan, scan
from cyclelens.analyzer.assembly.stretches import Source
from cyclelens.analyzer.assembly.whole_file import ASSEMBLERS, BACKENDS, Assembled, assemble_file
from cyclelens.analyzer.model.source import (
    LINE_BYTES,
    NOWHERE,
    AssembledFile,
    Origin,
    Placement,
    Problem,
    Region,
    Severity,
    SourceLine,
)
from cyclelens.analyzer.recent import Recent
from cyclelens.analyzer.suggestions import did_you_mean

MAXIMUM_CHARACTERS = 5 * 1024 * 1024
MAXIMUM_LINES = 300_000
"""Lines, statements and labels."""
MAXIMUM_REGION = 20_000
"""Statements of one region."""
MAXIMUM_ENCODED = 100_000
"""Statements of all regions together; regions behind that are not encoded."""
MAXIMUM_PROBLEMS = 1_000
"""Problems that are reported, from the top of the file; nobody reads more."""
MAXIMUM_STATEMENT = 2_000
"""Characters of one instruction statement; data directives may be longer."""
_NEIGHBOURHOOD = 256
"""Statements with bytes by which a window may be widened at once, for a jump or an alignment."""
_FARTHEST = 4096
"""The same for statements of any kind."""
_WIDENINGS = 4
_WHOLE_SECTION = 2_000
"""Statements of a section that is laid out whole, for the fill of an alignment within a region."""
_NASM_ALIGNMENT = 16
"""Bytes to which NASM and MASM align a section of code by themselves."""
_LEAVING = frozenset(["jmp", "jmpq", "call", "callq", "xbegin"])
"""Jumps that often go to another file."""
_HERE = re.compile(r"(?<![\w.$])[.$](?![\w.$])")
"""The address of the statement itself."""
_PLAIN_SYMBOL = re.compile(r"[A-Za-z_.?][\w.$?]*")

_IACA = re.compile(r"\biaca", re.IGNORECASE)
"""IACA's markers may be a macro of an included file."""
_NO_PROGRAMS = (
    "Other programs may not be run here: the folder is not trusted, or a setting or an option forbids it."
)
_REFUSED = "A statement before it in its section could not be encoded"

_Place = TypeVar("_Place", bound=tuple[Any, ...])
_Content = Encoded | Question | Jump | Alignment
_Circumstances = tuple[tuple[object, ...], list[object]]
"""The statements of a window and where they are, and what they ask of the rest of the text."""


class _Memory:
    """What is remembered of the texts that an assembler encoded."""

    def __init__(self) -> None:
        self.contents: Recent[tuple[Dialect, str], _Content] = Recent(MAXIMUM_ENCODED)
        """What statements become that mean the same wherever they stand."""
        self.regions: Recent[tuple[object, ...], tuple[list[object], list[Region]]] = Recent(MAXIMUM_REGIONS)
        """Regions without a problem, with what else they depend on."""


_MEMORIES: WeakKeyDictionary[AssemblerClient, _Memory] = WeakKeyDictionary()


class _Refused(ValueError):
    """A statement that cannot be encoded: code and message of its problem."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(slots=True)
class _Window:
    """A region with the statements around it that its layout needs; indices of statements."""

    found: FoundCode
    first: int
    last: int
    low: int
    high: int
    section: str
    too_large: bool = False
    whole: bool = False
    """From the beginning of the section to its end."""
    known: int = 1
    """Bytes of which ``low`` lies at a multiple."""
    circumstances: _Circumstances = field(init=False)
    """All that its regions depend on."""

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.found.span


def assemble(
    text: str,
    *,
    syntax: str = "auto",
    regions: str = "markers",
    cancel: Callable[[], bool] | None = None,
    client: AssemblerClient | None = None,
    allow_external_programs: bool = True,
    assembler: str = "auto",
    origin: Origin = NOWHERE,
) -> AssembledFile:
    """Find the regions of a text and encode them: the marked ones (``regions="markers"``), the innermost
    loops (``loops``), or ``both``, without the loops in marked regions. A region that branches within itself
    comes as its basic blocks.

    Never raises: what is wrong is reported as problems, each at its line, and only for text inside of regions
    and for the markers themselves. A region that could not be encoded wholly is ``incomplete``; the others
    are not affected. ``syntax`` is the dialect at the file's beginning (``auto att intel``); directives
    in the file always switch. When ``cancel()`` turns true, an answer without regions is returned. ``client``
    replaces the process's own assembler child. ``allow_external_programs``: the C preprocessor, GNU as and
    NASM may be run, if they are on PATH. ``assembler``: ``gas`` or ``nasm`` leave the whole file to that
    program; ``auto`` does so only for NASM files with macros. ``origin``: the text's file, and what may be
    read for it.
    """
    stop = cancel or (lambda: False)
    dialect = BY_NAME.get(syntax) or BY_NAME["att"]
    try:
        refusal = _refuse(text)
        if refusal is None:
            source = Source(text)
            refusal = _refuse_length(source)
        if refusal is not None:
            return AssembledFile((), (refusal,), dialect.name)
        if syntax not in BY_NAME:
            dialect = detect(source)
        if regions == "markers" and not _may_have_regions(source):
            return AssembledFile((), (), dialect.name)
        asked = client or shared_client()
        may_run = allow_external_programs
        return _Assembly(source, dialect, asked, may_run, stop, regions, assembler, origin).run()
    except Exception as error:
        # The promise of this function: an editor must survive any text. Tests check that this never happens.
        message = f"The front end failed ({type(error).__name__}: {error}). Please report this file."
        return AssembledFile((), (make_problem("internal-error", message, 0, 0, 0),), dialect.name)


def _may_have_regions(source: Source) -> bool:
    return source.has(MARKER_WORDS.search) or source.has(_IACA.search) or may_have_iaca(source)


def _refuse(text: str) -> Problem | None:
    """Is it an assembly file of a sensible size at all?"""
    if len(text) > MAXIMUM_CHARACTERS:
        megabytes = MAXIMUM_CHARACTERS >> 20
        return make_problem("file-too-large", f"Files of more than {megabytes} MB are not analysed.", 0, 0, 0)
    if "\0" in text:
        return make_problem("binary-file", "This looks like a binary file, not like assembly text.", 0, 0, 0)
    return None


def _refuse_length(source: Source) -> Problem | None:
    lines = sum(len(stretch.starts) for stretch in source.stretches)
    if lines > MAXIMUM_LINES or sum(stretch.separators for stretch in source.stretches) > MAXIMUM_LINES * 2:
        message = f"Files of more than {MAXIMUM_LINES:,} lines or statements are not analysed."
        return make_problem("file-too-large", message, 0, 0, 0)
    return None


@dataclass(slots=True)
class _Assembly:
    """The state of one call of assemble."""

    source: Source
    dialect: Dialect
    client: AssemblerClient
    may_run: bool
    """Other programs."""
    stop: Callable[[], bool]
    wanted: str = "markers"
    """``markers``, ``loops`` or ``both``."""
    assembler: str = "auto"
    origin: Origin = NOWHERE
    text: str = field(init=False)
    lines: Lines = field(init=False)
    program: Program = field(init=False)
    problems: list[Problem] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    """All regions, in the order of the text."""
    contents: dict[int, _Content | _Refused | None] = field(default_factory=dict)
    """Per statement what it will become; None: no bytes."""
    memory: _Memory = field(init=False)
    asked: set[int] = field(default_factory=set)
    """Statements whose meaning depends on the rest of the text."""
    sections: dict[str, list[int]] = field(default_factory=dict)
    """Statements by section, once somebody asks."""
    alignments: dict[str, int] = field(default_factory=dict)
    """Bytes by section, once somebody asks."""
    undefined: dict[int, str] = field(default_factory=dict)
    """Per statement a symbol that is probably a slip of the pen."""
    is_foreign: bool = False
    """The text is for another program, which has not taken it."""
    encoded: dict[int, tuple[bytes, str] | _Refused] = field(default_factory=dict)
    """Per statement that an assembler was asked for: the bytes and whose they are."""

    def run(self) -> AssembledFile:
        nothing = AssembledFile((), (), self.dialect.name)
        self.text = self.source.text
        self.lines = Lines(self.source)
        self.memory = _MEMORIES.setdefault(self.client, _Memory())
        found = scan(self.source, semicolon_starts_comment(self.source, self.dialect), self.stop)
        spans: list[Span] = []
        if self.wanted != "loops":
            spans, self.problems = find_regions(found.markers, self.lines, len(self.text))
        regions = self._by_another_program(spans)
        if regions is None:
            reported = len(self.problems)
            regions = self._by_ourselves(found, spans)
            if self.is_foreign:
                regions = self._without_derived(regions, self.problems[reported:])
                del self.problems[reported:]
        if self.stop():
            return nothing
        latencies, problems = find_latencies(found.markers, self.lines, coverage(self.spans))
        self.problems += problems
        regions = [with_latencies(region, latencies) for region in regions] if latencies else regions
        ordered = sorted(dict.fromkeys(self.problems), key=lambda problem: (problem.line, problem.column))
        return AssembledFile(tuple(regions), tuple(ordered[:MAXIMUM_PROBLEMS]), self.dialect.name)

    def _without_derived(self, regions: Iterable[Region], problems: Iterable[Problem]) -> list[Region]:
        """Regions of a text that is another program's, whose message is the only one: where something is not
        understood, there is no figure and no word about it."""
        doubtful = {problem.line for problem in problems if problem.severity is not Severity.INFORMATION}
        return [
            replace(region, incomplete=True)
            if any(region.first_line <= line <= region.last_line for line in doubtful)
            else region
            for region in regions
        ]

    def _by_ourselves(self, found: Scan, spans: list[Span]) -> list[Region]:
        """Regions of the text as the front end reads and encodes it."""
        expanded = self._expanded()
        source, parts = self.source, found.parts
        if expanded.text != self.text:
            source = Source(expanded.text)
            again = scan(source, semicolon_starts_comment(source, self.dialect), self.stop)
            placed = place_statements(again.statements(), source, expanded, self.lines, self.text)
            parts = [(0, Part(placed))]
        if style(self.source) == "masm":
            message = (
                "This looks like MASM: instructions and labels are read, its directives and macros are not."
            )
            place = self.lines.content(0, self.text)
            self._report("not-supported", message, *place, Severity.INFORMATION)
            kept = ((raw, without_masm(raw.text)) for raw in found.statements())
            known = [RawStatement(raw.start, text, raw.place) for raw, text in kept if text is not None]
            parts = [(0, Part(known))]
        self.program = build(parts, self.dialect, self.stop)
        if self.stop():
            return []
        places = [FoundCode(span, *self.program.slice(span.start, span.end)) for span in spans]
        if self.wanted != "loops" and may_have_iaca(source):
            found_iaca, problems = find_iaca(self.program, self.lines)
            self.problems += problems
            places += found_iaca
        if self.wanted != "markers":
            places += self._without_marked(
                [place[0] for place in places], find_loops(self.program, self.lines)
            )
        places.sort(key=lambda place: place[0].start)
        self.spans = spans = [place[0] for place in places]
        self._report_open_comment(found.open_comment, spans)
        covers = coverage(spans)
        for start, end in found.preprocessor:
            if covers(start) and not wants_preprocessor(self.source, self.origin):
                message = (
                    "C preprocessor lines are followed in files called .S; here this is read as a comment."
                )
                self._report("not-supported", message, start, end, Severity.WARNING)
        self._report_duplicate_labels(covers)
        windows = self._windows(places)
        earlier = [self._earlier(window) for window in windows]
        self._encode([window for window, same in zip(windows, earlier, strict=True) if same is None])
        regions: list[Region] = []
        for window, same in zip(windows, earlier, strict=True):
            if self.stop():
                break
            regions += self._regions(window) if same is None else same
        return regions

    # Regions that are the same in a later version of the text

    def _earlier(self, window: _Window) -> Sequence[Region] | None:
        """The regions that the window became in an earlier version, if nothing that they depend on has
        changed: statements, their places, and what they ask of the rest of the text."""
        key, outside = window.circumstances = self._circumstances(window)
        known = self.memory.regions.get(key)
        return known[1] if known is not None and known[0] == outside else None

    def _circumstances(self, window: _Window) -> _Circumstances:
        low, high, span = window.low, window.high, window.span
        parts = tuple(self.lines.locate(offset) for offset in self.program.offsets(low, high))
        place: tuple[object, ...] = (window.first - low, window.last - low, window.whole, window.too_large)
        place += (window.section, self.alignments.get(window.section), window.known, window.found.is_path)
        place += tuple((part.first - low, part.end - low) for part in window.found.parts)
        marker = (self.may_run, span.name, span.first_line, span.last_line, *span.options.items())
        outside: list[object] = []
        for index in range(low, high):
            content = self.contents.get(index)
            if isinstance(content, Jump):
                target = self._target(index, content, window.section)
                relative = target and (target[0] - low, target[1])
                is_named = self.program.find_label(content.target.text.strip(), index) is not None
                outside += (index - low, content, relative, is_named)
            elif index in self.asked:
                outside += (index - low, content, self.undefined.get(index))
        return (parts, place, marker, tuple(self.program.statements[low:high])), outside

    def _without_marked(self, spans: Iterable[Span], found: Iterable[_Place]) -> list[_Place]:
        """The loops outside of marked regions, under names that these do not have."""
        spans = list(spans)
        marked, names = coverage(spans), {span.name for span in spans}
        left = [place for place in found if not marked(place[0].start)]
        for span, *_ in left:
            span.name = f"{span.name}-loop" if span.name in names else span.name
        return left

    def _expanded(self) -> Expanded:
        """The text behind the C preprocessor, if it is for that, and with the files that it includes."""
        expanded = plain(self.text)
        if style(self.source) == "gas" and wants_preprocessor(self.source, self.origin):
            if not self.may_run:
                expanded = not_preprocessed(self.text, _NO_PROGRAMS)
            else:
                expanded = preprocess(self.text, self.origin, self.stop)
        if expanded.text != self.text or self.source.has(INCLUDING.search):
            expanded = inline_includes(expanded, self.origin)
        self._report_notes(expanded.notes)
        return expanded

    # Whole files through another program

    def _by_another_program(self, spans: list[Span]) -> list[Region] | None:
        """Regions of what the user's assembler makes of the file; None if it is not wanted, or not there."""
        wanted = self.assembler
        if wanted == "auto" and style(self.source) == "nasm" and needs_nasm(self.source):
            wanted = "nasm"
        if wanted not in ASSEMBLERS:
            return None
        expanded = plain(self.text) if wanted == "nasm" else self._expanded()

        def user_line(line: int) -> int:
            return expanded.lines[min(line, len(expanded.lines) - 1)]

        assembled = Assembled(BACKENDS[wanted], failure=_NO_PROGRAMS)
        if self.may_run:
            assembled = assemble_file(wanted, expanded.text, self.origin, self.stop)
        self._report_notes(assembled.notes)
        if assembled.failure:
            message = f"The file is read without {assembled.backend}. {assembled.failure}"
            line = user_line(assembled.failure_line)
            self._report_notes([Note(line, "assembler-unavailable", message)])
            self.is_foreign = assembled.gave_up or (wanted == "nasm" and needs_nasm(self.source))
            return None
        found = listed.sections(assembled.listing, user_line, assembled.backend)
        refused = {user_line(line): message for line, message in assembled.refused.items()}
        places = [
            listed.FoundCode(span, *(listed.within(found, span, self.lines, self.text) or (listed.EMPTY, [])))
            for span in spans
        ]
        if self.wanted != "loops":
            places += listed.iaca(found, self.lines, self.text)
        if self.wanted != "markers":
            looped = listed.loops(assembled.listing, found, user_line, self.lines, self.text)
            places += self._without_marked([place[0] for place in places], looped)
        places.sort(key=lambda place: place[0].start)
        self.spans = [place[0] for place in places]
        covers = coverage(self.spans)
        for line, message in refused.items():
            start, end = self.lines.content(line, self.text)
            severity = Severity.ERROR if covers(start) else Severity.WARNING
            self._report("assembler-error", f"{assembled.backend} says: {message}", start, end, severity)
        # A macro can be thousands of instructions on one line.
        place_of = cache(lambda line: self.lines.span(*self.lines.content(line, self.text)))
        regions: list[Region] = []
        for span, section, inside, runs, elsewhere in places:
            self._report_elsewhere(span, elsewhere)
            incomplete = any(span.first_line <= line <= span.last_line for line in refused)
            if len(inside) > MAXIMUM_REGION:
                message = f"Regions of more than {MAXIMUM_REGION:,} statements are not analysed."
                self._report_region("region-too-large", message, span, Severity.ERROR)
                inside, incomplete = [], True
            source_line = partial(section.source_line, place_of=place_of)
            start = section.pieces[inside[0]].offset if inside else 0
            placement = Placement.in_section(start, assembled.listing.alignments.get(section.name, 1))
            if any(line < span.first_line for line in refused):
                placement = Placement(0, 1, _REFUSED)
            regions += self._cut(span, section.pieces, inside, source_line, incomplete, placement, runs)
        return regions

    # Problems

    def _report(
        self, code: str, message: str, start: int, end: int, severity: Severity = Severity.ERROR
    ) -> None:
        self.problems.append(make_problem(code, message, *self.lines.span(start, end), severity))

    def _report_notes(self, notes: Iterable[Note]) -> None:
        for note in notes:
            self._report(note.code, note.message, *self.lines.content(note.line, self.text), Severity.WARNING)

    def _report_open_comment(self, offset: int | None, spans: Iterable[Span]) -> None:
        if offset is not None and any(span.start <= offset for span in spans):
            self._report("comment-not-closed", "This comment is never closed.", offset, offset + 2)

    def _report_duplicate_labels(self, covers: Callable[[int], bool]) -> None:
        for name, label in self.program.labels_again():
            if covers(label.start):
                message = f"The label '{name}' is defined already; jumps go to its first place."
                self._report("duplicate-label", message, label.start, label.end)

    # Which statements belong together

    def _windows(self, places: Iterable[FoundCode]) -> list[_Window]:
        windows = []
        left = MAXIMUM_ENCODED
        for found in places:
            span, first, last = found.span, found.first, found.last
            self._report_elsewhere(span, found.elsewhere)
            if last - first > min(MAXIMUM_REGION, left):
                message = f"Regions of more than {MAXIMUM_REGION:,} statements are not analysed."
                if last - first <= MAXIMUM_REGION:
                    message = f"Only {MAXIMUM_ENCODED:,} statements in regions are analysed; these are more."
                self._report_region("region-too-large", message, span, Severity.ERROR)
                windows.append(_Window(found, first, first, first, first, "", too_large=True))
                continue
            window = self._window(found)
            left -= window.high - window.low
            windows.append(window)
        return windows

    def _window(self, found: FoundCode) -> _Window:
        statements = self.program.statements
        first, last = found.first, found.last
        inside = (index for part in found.own for index in range(*part))
        instructions = (index for index in inside if statements[index].kind is Kind.INSTRUCTION)
        section = next((statements[index].section for index in instructions), ".text")
        window = _Window(found, first, last, first, last, section)
        unchecked = self._placed(first, last)
        if any(isinstance(self._content(index), Alignment) for index in unchecked):
            own = self._section(section)
            if len(own) <= _WHOLE_SECTION:
                self._anchor(window)
                window.low, window.high, window.whole = own[0], own[-1] + 1, True
                window.known = self.alignments[section]
                return window
        self._anchor(window)
        unchecked = self._placed(window.low, last)
        for _ in range(_WIDENINGS):
            low, high = window.low, window.high
            widened = [self._widen(window, index) for index in unchecked]
            if True not in widened:
                break
            unchecked = self._placed(window.low, low) + self._placed(high, window.high)
        return window

    def _anchor(self, window: _Window) -> None:
        """Widen the window back to the statement whose address is a multiple of the section's alignment, or
        of as much as can be told."""
        if window.section not in self.alignments:
            boundaries = [
                content.boundary
                for index in self._section(window.section)
                if self.program.statements[index].kind is Kind.DIRECTIVE
                and isinstance(content := self._content(index), Alignment)
            ]
            usual = 1 if style(self.source) == "gas" else _NASM_ALIGNMENT
            self.alignments[window.section] = min(max([usual, *boundaries]), LINE_BYTES)
        wanted = self.alignments[window.section]
        start = next((i for i in range(window.first, window.last) if self._is_code(i)), window.first)
        for index in range(start - 1, max(start - _FARTHEST, -1), -1):
            if window.known >= wanted:
                return
            if self.program.statements[index].section != window.section:
                continue
            content = self._content(index)
            if not isinstance(content, Alignment) or content.maximum is not None:
                continue
            if content.boundary > window.known:
                window.low, window.known = min(window.low, index), min(content.boundary, wanted)
        if start <= _FARTHEST and window.known < wanted:
            window.low, window.known = 0, wanted

    def _is_code(self, index: int) -> bool:
        content = self._content(index)
        return content is not None and not isinstance(content, Alignment)

    def _placed(self, first: int, last: int) -> list[int]:
        """The statements whose bytes depend on the places of others."""
        return [index for index in range(first, last) if isinstance(self._content(index), (Jump, Alignment))]

    def _section(self, name: str) -> list[int]:
        """The statements of a section."""
        if not self.sections:
            for index, statement in enumerate(self.program.statements):
                self.sections.setdefault(statement.section, []).append(index)
        return self.sections.get(name, [])

    def _widen(self, window: _Window, index: int) -> bool:
        """Widen the window to the target of a jump that might reach it with a short form."""
        content = self._content(index)
        low, high = window.low, window.high
        if isinstance(content, Jump) and content.forms.near is not None and content.forms.short is not None:
            target = self._target(index, content, window.section)
            if target is not None:
                low, high = min(low, target[0]), max(high, target[0])
        if (low, high) == (window.low, window.high) or high - low > window.high - window.low + _FARTHEST:
            return False
        between = [*range(low, window.low), *range(window.high, high)]
        if sum(self._content(i) is not None for i in between) > _NEIGHBOURHOOD:
            return False
        window.low, window.high = low, high
        return True

    def _target(self, index: int, jump: Jump, section: str) -> tuple[int, int] | None:
        """Index of the statement that a jump goes to, and the bytes from there to its target; None if its
        address is not known here."""
        name = jump.target.text.strip()
        label, beyond = self.program.find_label(name, index), 0
        if label is None:
            try:
                value = evaluate(name, StatementScope(self.program, index).lookup)
            except ExpressionError:
                return None
            if _HERE.search(name):
                return (index, value.constant) if value.symbol in (".", "$") else None
            label = None if value.symbol is None else self.program.find_label(value.symbol, index)
            beyond = value.constant
        return None if label is None or label.section != section else (label.index, beyond)

    # What a statement becomes

    def _content(self, index: int) -> _Content | _Refused | None:
        if index not in self.contents:
            statement = self.program.statements[index]
            key = statement.dialect, statement.text
            is_plain = statement.kind is Kind.INSTRUCTION and not statement.refusal
            try:
                content = self.memory.contents.get(key) if is_plain else None
                if content is None:
                    scope = StatementScope(self.program, index)
                    content = self._read(index, statement, scope)
                    if scope.was_asked:
                        self.asked.add(index)
                    elif content is not None and is_plain:
                        self.memory.contents[key] = content
                self.contents[index] = content
            except OperandError as error:
                self.contents[index] = _Refused("syntax-error", str(error))
            except UnsupportedError as error:
                is_directive = statement.kind is Kind.DIRECTIVE
                code = "not-supported" if is_directive else "unsupported-instruction"
                self.contents[index] = _Refused(code, str(error))
            except _Refused as error:
                self.contents[index] = error
        return self.contents[index]

    def _read(self, index: int, statement: Statement, scope: StatementScope) -> _Content | None:
        if statement.kind is Kind.NOTHING:
            return None
        if statement.refusal:
            raise _Refused("not-supported", statement.refusal)
        if statement.kind is Kind.DIRECTIVE:
            name = statement.name
            if name in directives.ALIGNMENTS:
                return directives.alignment(name, statement.arguments, scope)
            if directives.makes_data(name):
                return Encoded(directives.data(name, statement.arguments, scope))
            if name in directives.UNSUPPORTED:
                raise _Refused("not-supported", f".{name} cannot be followed here.")
            return None
        if len(statement.text) > MAXIMUM_STATEMENT:
            message = f"Statements of more than {MAXIMUM_STATEMENT} characters are not read."
            raise _Refused("statement-too-long", message)
        content = prepare(statement.text, statement.dialect, scope)
        if scope.undefined:
            self.undefined[index] = scope.undefined[0]
        if isinstance(content, Jump):
            self._check_target(index, content, scope)
        return content

    def _check_target(self, index: int, jump: Jump, scope: StatementScope) -> None:
        """A jump must go to an expression; labels that can only be of this file must exist."""
        name = jump.target.text.strip()
        try:
            value = evaluate(name, scope.lookup)
        except ExpressionError as error:
            raise OperandError(str(error)) from None
        symbol = value.symbol
        is_local = symbol is not None and (symbol.startswith(".L") or symbol[0].isdigit())
        if symbol is not None and is_local and self.program.find_label(symbol, index) is None:
            hint = did_you_mean(symbol, self.program.label_names())
            raise _Refused("undefined-label", f"The label '{symbol}' is not defined{hint or '.'}")

    def _encode(self, windows: Iterable[_Window]) -> None:
        """Ask Keystone for all statements of the windows, and GNU as for those that it has no bytes for."""
        questions = {
            index: content
            for window in windows
            for index in range(window.low, window.high)
            if isinstance(content := self._content(index), Question)
        }
        requests = [question.request for question in questions.values() if question.request is not None]
        replies = self.client.encode(requests, self.stop)
        left: dict[int, Question] = {}
        for index, question in questions.items():
            try:
                if question.request is None:
                    raise _Refused("unsupported-instruction", question.reason)
                reply = replies[question.request]
                if reply.failure is not None:
                    raise _refusal(question.mnemonic, reply)
                code = finish(question, reply.code)
                self.encoded[index] = code, "keystone"
                statement = self.program.statements[index]
                key = statement.dialect, statement.text
                if self.memory.contents.get(key) is question:
                    self.memory.contents[key] = Encoded(code, "keystone")
            except MismatchError as error:
                self.encoded[index] = _Refused("assembler-mismatch", str(error))
                left[index] = question
            except _Refused as refused:
                self.encoded[index] = refused
                left[index] = question
        if left and not self.stop():
            self._ask_fallbacks(left)

    def _ask_fallbacks(self, questions: Mapping[int, Question]) -> None:
        """Ask one assembler after the other for what none before it had bytes for."""
        left = {index: question for index, question in questions.items() if question.fallback is not None}
        refusing: dict[int, list[str]] = {index: [] for index in left}
        for fallback in FALLBACKS:
            if fallback.is_program and not self.may_run:
                continue
            asked = [question.fallback for question in left.values() if question.fallback is not None]
            replies = fallback.client().encode(asked, self.stop) if asked else {}
            for index, question in list(left.items()):
                assert question.fallback is not None
                reply = replies[question.fallback]
                if reply.failure is None:
                    try:
                        self.encoded[index] = finish_fallback(question, reply.code), fallback.name
                        del left[index]
                    except MismatchError as error:
                        self.encoded[index] = _Refused("assembler-mismatch", str(error))
                    except UnsupportedError as error:
                        self.encoded[index] = _Refused("unsupported-instruction", str(error))
                        del left[index]
                elif reply.failure is Failure.TIMEOUT:
                    message = f"{fallback.title} could not cope with this statement and was killed."
                    self.encoded[index] = _Refused("assembler-timeout", message)
                elif reply.failure is Failure.REFUSED:
                    refusing[index].append(fallback.title)
        for index, question in left.items():
            refused = self.encoded[index]
            if question.request is None and getattr(refused, "code", "") == "unsupported-instruction":
                message = question.reason
                if names := " and ".join(refusing[index]):
                    message = no_such(question.mnemonic, names, several=len(refusing[index]) > 1)
                elif self.may_run:
                    message += " GNU as (binutils) or LLVM (pip install cyclelens[llvm]) could."
                self.encoded[index] = _Refused("unsupported-instruction", message)

    def _code(self, index: int, content: _Content | None) -> tuple[bytes, str]:
        """Bytes of a statement that needs no layout, and whose they are. Raises _Refused."""
        if isinstance(content, Question):
            encoded = self.encoded[index]
            if isinstance(encoded, _Refused):
                raise encoded
            return encoded
        return (content.code, content.backend) if isinstance(content, Encoded) else (b"", "cyclelens")

    # Layout

    def _regions(self, window: _Window) -> list[Region]:
        """A marked region or a loop: one region, or its basic blocks if it branches within itself."""
        reported = len(self.problems)
        layout = self._pieces(window)
        pieces, inside = layout.pieces, layout.inside
        lay_out(pieces)
        find_targets(pieces)
        incomplete = window.too_large or bool(layout.refused)
        for index, refused in layout.refused:
            self._report_refused(window, index, refused)
        for at in inside:
            if pieces[at].unreachable:
                incomplete = True
                message = "This jump only has a short form, and its target is out of its reach."
                self._report("branch-out-of-range", message, *self.program.span(layout.indices[at]))

        def source_line(at: int) -> SourceLine:
            piece, index = pieces[at], layout.indices[at]
            place = self.lines.span(*self.program.span(index))
            return SourceLine(*place, self.program.statements[index].text, piece.code, piece.backend)

        placement = self._placement(window, layout)
        regions = self._cut(window.span, pieces, inside, source_line, incomplete, placement, layout.runs)
        if len(self.problems) == reported and not incomplete:
            key, outside = window.circumstances
            self.memory.regions[key] = outside, regions
        return regions

    def _cut(
        self,
        span: Span,
        pieces: Sequence[Piece],
        inside: Sequence[int],
        source_line: Callable[[int], SourceLine],
        incomplete: bool,
        placement: Placement,
        runs: Sequence[Sequence[int]],
    ) -> list[Region]:
        """The region of a stretch of code, or its basic blocks, and what there is to say about that.
        ``runs``: as it was found to be executed; nothing for what somebody marked."""
        if not any(pieces[at].code for at in inside) and not incomplete:
            self._report_region("empty-region", "There is no code in this region.", span)
        regions = blocks.to_regions(span, pieces, inside, source_line, incomplete, placement, runs)
        if len(regions) > 1:
            count = len(regions)
            message = (
                f"'{span.name}' branches within itself: its {count} basic blocks are analysed one by one."
            )
            self._report_region("inner-branch", message, span, Severity.INFORMATION)
        if len(runs) == 1 and any(after != before + 1 for before, after in pairwise(runs[0])):
            self._report_region("scattered-loop", scattered(span.name), span, Severity.INFORMATION)
        return regions

    def _report_region(
        self, code: str, message: str, span: Span, severity: Severity = Severity.WARNING
    ) -> None:
        self.problems.append(
            make_problem(code, message, span.first_line, span.column, span.end_column, severity)
        )

    def _report_elsewhere(self, span: Span, section: str) -> None:
        if section:
            message = f"'{span.name}' goes through section {section} too: its code there is left out."
            self._report_region("scattered-loop", message, span)

    def _pieces(self, window: _Window) -> _Layout:
        """The window's statements that become bytes, and those of the region that cannot."""
        layout = _Layout(window.low, window.high, known=window.known)
        own = {index for part in window.found.own for index in range(*part)}
        for index in range(window.low, window.high):
            statement = self.program.statements[index]
            if statement.section != window.section:
                continue
            inside = index in own
            try:
                content = self._content(index)
                if isinstance(content, _Refused):
                    raise content
                code, backend = self._code(index, content)
            except _Refused as refused:
                if inside or window.first <= index < window.last:
                    layout.refused.append((index, refused))
                    continue
                if index >= window.last:
                    layout.high = index
                    break
                # Nothing is known about distances across a statement without bytes.
                layout = _Layout(index + 1, window.high)
                continue
            if inside:
                self._remark(index, statement, content)
            if content is None:
                continue
            piece = Piece(code, backend)
            if isinstance(content, Alignment):
                piece.alignment = content
                if content.boundary > layout.known and not layout.inside:
                    certain = content.maximum is None
                    layout.known = min(content.boundary, LINE_BYTES) if certain else 1
            elif isinstance(content, Jump):
                piece.jump = content
            if inside and (layout.inside or piece.alignment is None):
                # What is aligned before the region's first instruction lies in front of the region.
                layout.inside.append(len(layout.pieces))
            layout.indices.append(index)
            layout.pieces.append(piece)
        for index, piece in zip(layout.indices, layout.pieces, strict=True):
            if piece.jump is not None:
                target = self._target(index, piece.jump, window.section)
                if target is not None and layout.low <= target[0] <= layout.high:
                    piece.target, piece.beyond = bisect_left(layout.indices, target[0]), target[1]
        for part in window.found.parts:
            first, end = (bisect_left(layout.indices, index) for index in part)
            layout.runs.append([at for at in range(first, end) if at >= layout.inside[0]])
        if window.found.is_path:
            layout.runs = [[at for run in layout.runs for at in run]]
        return layout

    def _placement(self, window: _Window, layout: _Layout) -> Placement:
        """Of the region's first byte."""
        offset = layout.pieces[layout.inside[0]].offset if layout.inside else 0
        known = layout.known
        gap = _REFUSED if known < self.alignments.get(window.section, 1) else ""
        return Placement(offset % known, known, gap)

    def _remark(self, index: int, statement: Statement, content: _Content | None) -> None:
        """Warnings about statements of a region that do not keep it from being encoded."""
        if statement.kind is Kind.DIRECTIVE and not directives.is_known(statement.name):
            message = f".{statement.name} is not a known directive; it is taken to make no code."
            self._report("unknown-directive", message, *self.program.span(index), Severity.WARNING)
        if index in self.undefined:
            message = f"'{self.undefined[index]}' is not defined in this file; it is taken as an address."
            self._report("undefined-symbol", message, *self.program.span(index), Severity.WARNING)
        if isinstance(content, Jump) and content.mnemonic not in _LEAVING:
            name = content.target.text.strip()
            if _PLAIN_SYMBOL.fullmatch(name) and self.program.find_label(name, index) is None:
                hint = did_you_mean(name, self.program.label_names())
                message = f"The label '{name}' is not defined in this file and taken as far away{hint or '.'}"
                self._report("undefined-label", message, *self.program.span(index), Severity.WARNING)

    def _report_refused(self, window: _Window, index: int, refused: _Refused) -> None:
        if refused.code == "assembler-unavailable":
            # Not the statement's fault: said once a region.
            span = window.span
            problem = make_problem(
                refused.code, refused.message, span.first_line, span.column, span.end_column
            )
            if problem not in self.problems:
                self.problems.append(problem)
            return
        self._report(refused.code, refused.message, *self.program.span(index))


@dataclass(slots=True)
class _Layout:
    """What a window becomes. ``low`` and ``high``: the statements whose distances are known."""

    low: int
    high: int
    indices: list[int] = field(default_factory=list)
    """Statement of every piece."""
    pieces: list[Piece] = field(default_factory=list)
    inside: list[int] = field(default_factory=list)
    """The region's own pieces."""
    runs: list[list[int]] = field(default_factory=list)
    """Those of each of its blocks, or as they are executed."""
    refused: list[tuple[int, _Refused]] = field(default_factory=list)
    known: int = 1
    """Bytes of which the first piece lies at a multiple, or an alignment behind it."""


def _refusal(mnemonic: str, reply: Reply) -> _Refused:
    """The problem that a failed reply means."""
    if reply.failure is Failure.TIMEOUT:
        message = "The assembler could not cope with this statement and was restarted."
        return _Refused("assembler-timeout", message)
    if reply.failure is not Failure.REFUSED:
        return _Refused("assembler-unavailable", f"The built-in assembler cannot be started: {reply.reason}.")
    if "MNEMONICFAIL" in reply.reason:
        message = no_such(mnemonic, "The built-in assembler")
        return _Refused("unsupported-instruction", message)
    if reply.reason == "empty" or "MISSINGFEATURE" in reply.reason:
        message = f"The built-in assembler cannot encode '{mnemonic}' with these operands."
        return _Refused("unsupported-instruction", message)
    return _Refused("syntax-error", f"These operands do not fit '{mnemonic}'.")
