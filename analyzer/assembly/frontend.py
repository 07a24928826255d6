"""Text to regions of bytes: the assembly front end as the rest of the project sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TypeVar

from cyclelens.analyzer.assembly.backends.assembler_client import AssemblerClient, shared_client
from cyclelens.analyzer.assembly.encoding.questions import Question
from cyclelens.analyzer.assembly.files import listed
from cyclelens.analyzer.assembly.files.expansion import (
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
from cyclelens.analyzer.assembly.files.whole_file import (
    ASSEMBLERS,
    BACKENDS,
    Assembled,
    assemble_file,
    has_nasm,
)
from cyclelens.analyzer.assembly.flow import blocks
from cyclelens.analyzer.assembly.flow.blocks import FoundRuns, Made
from cyclelens.analyzer.assembly.flow.loop_parts import scattered
from cyclelens.analyzer.assembly.flow.loops import FoundCode, MadeLoop, branchings, find_loops
from cyclelens.analyzer.assembly.programs.program import CODE_SECTION, Kind, Program, Statement
from cyclelens.analyzer.assembly.programs.reading import build
from cyclelens.analyzer.assembly.programs.scope import DistanceAt
from cyclelens.analyzer.assembly.regions.iaca import find_iaca, may_have_iaca
from cyclelens.analyzer.assembly.regions.region_code import Codes, RegionCode
from cyclelens.analyzer.assembly.regions.sections import Layouts
from cyclelens.analyzer.assembly.regions.statement_code import Encoder, Refused
from cyclelens.analyzer.assembly.statements import directives
from cyclelens.analyzer.assembly.statements.jumps import Jump
from cyclelens.analyzer.assembly.statements.layout import Piece
from cyclelens.analyzer.assembly.text.dialect import (
    BY_NAME,
    Dialect,
    detect,
    needs_nasm,
    semicolon_starts_comment,
    style,
    without_masm,
)
from cyclelens.analyzer.assembly.text.markers import (
    MAXIMUM_REGIONS,
    Span,
    coverage,
    find_latencies,
    find_regions,
    with_latencies,
)
from cyclelens.analyzer.assembly.text.problems import make_problem
from cyclelens.analyzer.assembly.text.scanner import MARKER_WORDS, Lines, Part, RawStatement, Scan, scan
from cyclelens.analyzer.assembly.text.stretches import Source
from cyclelens.analyzer.defects import described
from cyclelens.analyzer.model.source import (
    LINE_BYTES,
    NOWHERE,
    AssembledFile,
    Branching,
    Origin,
    Placement,
    Problem,
    Region,
    Severity,
    SourceLine,
)
from cyclelens.analyzer.suggestions import did_you_mean

MAXIMUM_CHARACTERS = 5 * 1024 * 1024
MAXIMUM_LINES = 300_000
"""Lines, statements and labels."""
MAXIMUM_REGION = 20_000
"""Statements of one region."""
MAXIMUM_PROBLEMS = 1_000
"""Problems that are reported, from the top of the file; nobody reads more."""
_NASM_ALIGNMENT = 16
"""Bytes to which NASM and MASM align a section of code by themselves."""
_LEAVING = frozenset(["jmp", "jmpq", "call", "callq", "xbegin"])
"""Jumps that often go to another file."""
_PLAIN_SYMBOL = re.compile(r"[A-Za-z_.?][\w.$?]*")

_IACA = re.compile(r"\biaca", re.IGNORECASE)
"""IACA's markers may be a macro of an included file."""
_NO_PROGRAMS = (
    "Other programs may not be run here: the folder is not trusted, or a setting or an option forbids it."
)
_REFUSED = "A statement before it in its section could not be encoded"

_Place = TypeVar("_Place", FoundCode, listed.FoundCode)
_Circumstances = tuple[tuple[object, ...], list[object]]
"""The statements of a region and where they are, and what they ask of the rest of the text."""


@dataclass(slots=True)
class _Window:
    """A region and its statements."""

    found: FoundCode
    section: str
    code: RegionCode | None
    """None: there are too many statements."""
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
    regions: str = "auto",
    cancel: Callable[[], bool] | None = None,
    client: AssemblerClient | None = None,
    allow_external_programs: bool = True,
    assembler: str = "auto",
    origin: Origin = NOWHERE,
) -> AssembledFile:
    """Find the regions of a text and encode them: the marked ones (``regions="markers"``), the loops
    (``loops``), ``both``, without the loops in marked regions, or ``auto``: the marked ones, or if no marker
    is there the innermost loops. A region that branches within itself comes as its basic blocks.

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
        is_told = syntax in BY_NAME
        return _Assembly(source, dialect, is_told, asked, may_run, stop, regions, assembler, origin).run()
    except Exception as error:
        # The promise of this function: an editor must survive any text. Tests check that this never happens.
        message = f"The front end failed ({described(error)}). Please report this file."
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
    is_told: bool
    """Which dialect it is; otherwise the text tells."""
    client: AssemblerClient
    may_run: bool
    """Other programs."""
    stop: Callable[[], bool]
    wanted: str = "auto"
    """``auto``, ``markers``, ``loops`` or ``both``."""
    assembler: str = "auto"
    origin: Origin = NOWHERE
    text: str = field(init=False)
    lines: Lines = field(init=False)
    program: Program = field(init=False)
    problems: list[Problem] = field(default_factory=list)
    branchings: list[Branching] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    """All regions, in the order of the text."""
    has_markers: bool = False
    """Somebody has marked something, or has begun to."""
    unmarked: bool = False
    """Loops were taken because nothing is marked."""
    is_foreign: bool = False
    """The text is for another program, which has not taken it."""
    encoder: Encoder = field(init=False)
    layouts: Layouts = field(init=False)

    def run(self) -> AssembledFile:
        nothing = AssembledFile((), (), self.dialect.name)
        self.text = self.source.text
        self.lines = Lines(self.source)
        found = scan(self.source, semicolon_starts_comment(self.source, self.dialect), self.stop)
        spans: list[Span] = []
        if self.wanted != "loops":
            spans, self.problems = find_regions(found.markers, self.lines, len(self.text))
        self.has_markers = bool(spans or self.problems)
        regions = self._by_another_program(spans)
        if regions is None:
            reported = len(self.problems)
            regions = self._by_ourselves(found, spans)
            regions = self._or_by_nasm(spans, regions, reported)
            if self.is_foreign:
                regions = self._without_derived(regions, self.problems[reported:])
                del self.problems[reported:]
        if self.stop():
            return nothing
        latencies, problems = find_latencies(found.markers, self.lines, coverage(self.spans))
        self.problems += problems
        regions = [with_latencies(region, latencies) for region in regions] if latencies else regions
        ordered = sorted(dict.fromkeys(self.problems), key=lambda problem: (problem.line, problem.column))
        problems = ordered[:MAXIMUM_PROBLEMS]
        return AssembledFile(
            tuple(regions),
            tuple(problems),
            self.dialect.name,
            tuple(self.branchings),
            self.unmarked and bool(regions),
        )

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
            if not self.is_told:
                # Registers may be macros: what they make shows the dialect, as GNU as sees it.
                self.dialect = detect(source)
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
        self.program = build(parts, self.dialect, self.stop, self._measure)
        if self.stop():
            return []
        if style(self.source) == "nasm":
            self.program.follow_nasm()
        self.encoder = self._encoder(self.program)
        self.layouts = Layouts(self.program, self.encoder)
        places = [FoundCode(span, *self.program.slice(span.start, span.end)) for span in spans]
        if self.wanted != "loops" and may_have_iaca(source):
            found_iaca, problems = find_iaca(self.program, self.lines)
            self.problems += problems
            places += found_iaca
        if self._takes_loops(places):
            places += self._without_marked(
                [place[0] for place in places],
                find_loops(self.program, self.lines, self.layouts.known_size),
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
        if self.stop():
            return []
        earlier = [self._earlier(window) for window in windows]
        questions: list[dict[int, Question]] = [
            window.code.questions if same is None and window.code is not None else {}
            for window, same in zip(windows, earlier, strict=True)
        ]
        codes = self.encoder.answers(questions)
        made: list[tuple[FoundCode, Sequence[Region]]] = []
        for window, same, answers in zip(windows, earlier, codes, strict=True):
            if self.stop():
                break
            regions, branching = self._regions(window, answers) if same is None else same
            made.append((window.found, regions))
            self.branchings += [] if branching is None else [branching]
        self._describe_loops(
            MadeLoop(found.span, found.loop, found.numbers, regions)
            for found, regions in made
            if found.loop is not None
        )
        return [region for _, regions in made for region in regions]

    def _encoder(self, program: Program) -> Encoder:
        return Encoder(program, self.client, self.may_run, self.stop)

    def _measure(self, program: Program) -> DistanceAt:
        """The distances of labels in what has been read so far."""
        return Layouts(program, self._encoder(program)).distance

    # Regions that are the same in a later version of the text

    def _earlier(self, window: _Window) -> Made | None:
        """The regions that the window became in an earlier version, if nothing that they depend on has
        changed: statements, their places, and what they ask of the rest of the text."""
        key, outside = window.circumstances = self._circumstances(window)
        known = self.encoder.memory.regions[key]
        return known[1] if known is not None and known[0] == outside else None

    def _circumstances(self, window: _Window) -> _Circumstances:
        (span, first, last), found = window.found[:3], window.found
        parts = tuple(self.lines.locate(offset) for offset in self.program.offsets(first, last))
        marker = (self.may_run, span.name, span.first_line, span.last_line, *span.options.items())
        outside = window.code.outside() if window.code is not None else []
        shape = (
            window.section,
            found.loop is None,
            found.numbers,
            *((part.first - first, part.end - first) for part in found.parts),
        )
        return (parts, shape, marker, tuple(self.program.statements[first:last])), outside

    def _takes_loops(self, marked: Sequence[object]) -> bool:
        """``marked``: the regions that IACA's markers enclose, and the others."""
        self.unmarked = self.wanted == "auto" and not marked and not self.has_markers
        return self.unmarked or self.wanted in ("loops", "both")

    def _without_marked(self, spans: Iterable[Span], found: Iterable[_Place]) -> list[_Place]:
        """The loops outside of marked regions, up to the limit, under names that these do not have."""
        spans = list(spans)
        marked, names = coverage(spans), {span.name for span in spans}
        left = [place for place in found if not marked(place.span.start)]
        if self.unmarked:
            left = [place for place in left if place.loop is not None and not place.loop.inner]
        keys = list(dict.fromkeys(place.loop.key for place in left if place.loop is not None))
        if len(keys) > MAXIMUM_REGIONS:
            beyond = set(keys[MAXIMUM_REGIONS:])
            first = next(place.span for place in left if place.loop is not None and place.loop.key in beyond)
            message = f"Only the first {MAXIMUM_REGIONS:,} of {len(keys):,} loops are analysed."
            self._report_region("too-many-regions", message, first)
            left = [place for place in left if place.loop is not None and place.loop.key not in beyond]
        for place in left:
            place.span.name = f"{place.span.name}-loop" if place.span.name in names else place.span.name
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

    def _or_by_nasm(self, spans: list[Span], regions: list[Region], reported: int) -> list[Region]:
        """Regions of a text that looked plain as NASM has them, if it understands more of it. ``reported``:
        the problems before it was read here."""
        refused = sum(region.incomplete for region in regions)
        is_asked = self.assembler == "auto" and self.may_run and not needs_nasm(self.source)
        if not refused or not is_asked or style(self.source) != "nasm" or not has_nasm():
            return regions
        own = self.problems, self.branchings, self.spans
        self.problems, self.branchings = self.problems[:reported], []
        found = self._by_another_program(spans, "nasm")
        if found is not None and sum(region.incomplete for region in found) < refused:
            return found
        self.problems, self.branchings, self.spans = own
        return regions

    def _by_another_program(self, spans: list[Span], wanted: str = "") -> list[Region] | None:
        """Regions of what the user's assembler makes of the file, or the ``wanted`` one; None if none is
        wanted, or it is not there."""
        wanted = wanted or self.assembler
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
        if self._takes_loops(places):
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
        made: list[MadeLoop] = []
        for span, section, inside, runs, loop in places:
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
            own, branching = self._cut(span, section.pieces, inside, source_line, incomplete, placement, runs)
            regions += own
            self.branchings += [] if branching is None else [branching]
            if loop is not None and runs is not None:
                made.append(MadeLoop(span, loop, runs.numbers, own))
        self._describe_loops(made)
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
        statements = self.program.statements
        for found in places:
            span = found.span
            inside = (index for part in found.own for index in range(*part))
            instructions = (index for index in inside if statements[index].kind is Kind.INSTRUCTION)
            section = next((statements[index].section for index in instructions), CODE_SECTION)
            code = None
            if found.last - found.first <= MAXIMUM_REGION:
                is_marked = found.loop is None
                code = RegionCode(self.layouts, self.encoder, section, found.own, is_marked)
            else:
                message = f"Regions of more than {MAXIMUM_REGION:,} statements are not analysed."
                self._report_region("region-too-large", message, span, Severity.ERROR)
            windows.append(_Window(found, section, code))
        self.layouts.prepare({window.section for window in windows if window.code is not None})
        if not self.stop():
            for window in windows:
                if window.code is not None:
                    window.code.read()
        return windows

    # Layout

    def _regions(self, window: _Window, codes: Codes) -> Made:
        """A marked region or a loop: one region, or its basic blocks if it branches within itself."""
        reported = len(self.problems)
        code = window.code
        failure = self.layouts.laid(window.section).failure if code is not None else ""
        if failure:
            self._report_region("not-supported", failure, window.span, Severity.ERROR)
        pieces = code.pieces(codes) if code is not None and not failure else []
        indices = code.indices if code is not None else []
        if code is not None:
            self._remark(window, code)
        incomplete = code is None or bool(failure or code.refused)

        def source_line(at: int) -> SourceLine:
            piece, index = pieces[at], indices[at]
            place = self.lines.span(*self.program.span(index))
            return SourceLine(*place, self.program.statements[index].text, piece.code, piece.backend)

        found = None
        if window.found.loop is not None and code is not None:
            numbers = window.found.numbers
            found = FoundRuns(code.runs(window.found.parts, joined=not numbers), numbers)
        placement = self._placement(window, indices[0]) if indices else Placement()
        everything = range(len(pieces))
        made = self._cut(window.span, pieces, everything, source_line, incomplete, placement, found)
        if len(self.problems) == reported and not incomplete:
            key, outside = window.circumstances
            self.encoder.memory.regions[key] = outside, made
        return made

    def _placement(self, window: _Window, index: int) -> Placement:
        """Where a statement lies, as far as that is known."""
        offset, modulus = self.layouts.offset(index), self.layouts.modulus(index)
        usual = 1 if style(self.source) == "gas" else _NASM_ALIGNMENT
        known = min(max(self.layouts.laid(window.section).alignment, usual), LINE_BYTES)
        if modulus and modulus < known:
            return Placement(offset % modulus, modulus, _REFUSED)
        return Placement(offset % known, known)

    def _cut(
        self,
        span: Span,
        pieces: Sequence[Piece],
        inside: Sequence[int],
        source_line: Callable[[int], SourceLine],
        incomplete: bool,
        placement: Placement,
        found: FoundRuns | None,
    ) -> Made:
        """The region of a stretch of code, or its basic blocks, and what there is to say about that.
        ``found``: how a loop is executed that nobody marked."""
        if not any(pieces[at].code for at in inside) and not incomplete:
            self._report_region("empty-region", "There is no code in this region.", span)
        made = blocks.to_regions(span, pieces, inside, source_line, incomplete, placement, found)
        regions, branching = made
        if found is None and len(regions) > 1 and (branching is None or not branching.ways):
            count = len(regions)
            message = (
                f"'{span.name}' branches within itself: its {count} basic blocks are analysed one by one."
            )
            self._report_region("inner-branch", message, span, Severity.INFORMATION)
        if found is not None and not found.numbers and not blocks.is_in_one_piece(pieces, found.runs[0]):
            self._report_region("scattered-loop", scattered(span.name), span, Severity.INFORMATION)
        return made

    def _report_region(
        self, code: str, message: str, span: Span, severity: Severity = Severity.WARNING
    ) -> None:
        self.problems.append(
            make_problem(code, message, span.first_line, span.column, span.end_column, severity)
        )

    def _describe_loops(self, made: Iterable[MadeLoop]) -> None:
        """Where the blocks of loops lead, and what there is to say of those without a figure of their own."""
        for span, branching, message in branchings(list(made)):
            self.branchings += [] if branching is None else [branching]
            if message:
                self._report_region("inner-branch", message, span, Severity.INFORMATION)

    def _remark(self, window: _Window, code: RegionCode) -> None:
        """Say what keeps statements of a region from being encoded, and what seems wrong with others."""
        for index in (index for part in window.found.own for index in range(*part)):
            statement = self.program.statements[index]
            if statement.section == window.section and statement.kind is Kind.DIRECTIVE:
                self._remark_directive(index, statement)
        for index in sorted(code.divided):
            message = "This divides by zero: GNU as warns of it, and divides by one."
            self._report("division-by-zero", message, *self.program.span(index), Severity.WARNING)
        for index, content in code.contents.items():
            if index in code.refused:
                self._report_refused(window, index, code.refused[index])
            elif index in code.shortened:
                message = (
                    f"This number is too long for its operand; what is left of it is {code.shortened[index]}."
                )
                self._report("number-shortened", message, *self.program.span(index), Severity.WARNING)
            elif index in code.undefined:
                message = f"'{code.undefined[index]}' is not defined in this file; it is taken as an address."
                self._report("undefined-symbol", message, *self.program.span(index), Severity.WARNING)
            elif isinstance(content, Jump) and content.mnemonic not in _LEAVING:
                name = content.target.text.strip()
                if _PLAIN_SYMBOL.fullmatch(name) and not code.is_defined(name, index):
                    hint = did_you_mean(name, self.program.label_names())
                    message = (
                        f"The label '{name}' is not defined in this file and taken as far away{hint or '.'}"
                    )
                    self._report("undefined-label", message, *self.program.span(index), Severity.WARNING)

    def _remark_directive(self, index: int, statement: Statement) -> None:
        if not statement.refusal and not directives.is_known(statement.name):
            message = f".{statement.name} is not a known directive; it is taken to make no code."
            self._report("unknown-directive", message, *self.program.span(index), Severity.WARNING)

    def _report_refused(self, window: _Window, index: int, refused: Refused) -> None:
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
