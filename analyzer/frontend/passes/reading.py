"""A text that is being read: what is known of it, what was found, and how problems are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient
from cyclelens.analyzer.frontend.control_flow import blocks
from cyclelens.analyzer.frontend.control_flow.blocks import Enclosed, FoundRuns, Made
from cyclelens.analyzer.frontend.control_flow.loop_parts import scattered
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange, LoopRegion, branchings
from cyclelens.analyzer.frontend.files import listed
from cyclelens.analyzer.frontend.files.expansion import (
    INCLUDING,
    Expanded,
    Note,
    inline_includes,
    not_preprocessed,
    plain,
    preprocess,
    wants_preprocessor,
)
from cyclelens.analyzer.frontend.regions.recorded import Spot
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.frontend.source.chunks import Source
from cyclelens.analyzer.frontend.source.dialect import Dialect, Style, style
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS, Span, coverage
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import Lines
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.result import AnalysisOptions
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    Branching,
    Problem,
    Severity,
)

MAXIMUM_REGION = 20_000
"""Statements of one region."""
NO_PROGRAMS = (
    "Other programs may not be run here: the folder is not trusted, or a setting or an option forbids it."
)
REFUSED_BEFORE = "A statement before it in its section could not be encoded"

_Place = TypeVar("_Place", CodeRange, listed.ListedCode)


@dataclass(slots=True)
class AssemblyRun:
    """The state of one call of ``assemble``, whoever reads the text."""

    source: Source
    dialect: Dialect
    options: AnalysisOptions
    client: AssemblerClient
    stop: Callable[[], bool]
    memory: EncodingCache
    text: str = field(init=False)
    lines: Lines = field(init=False)
    problems: list[Problem] = field(default_factory=list)
    branchings: list[Branching] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    """All regions, in the order of the text."""
    has_markers: bool = False
    """Somebody has marked something, or has begun to."""
    unmarked: bool = False
    """Loops were taken because nothing is marked."""
    has_code: bool = True
    """Some statement of the text, as it was read, is an instruction."""
    functions: list[Span] = field(default_factory=list)
    """All of the text, if one of them was asked for."""
    is_foreign: bool = False
    """The text is for another program, which has not taken it."""
    spot: Callable[[str], Spot | None] = lambda name: None
    """Where a symbol of the text lies."""

    def __post_init__(self) -> None:
        self.text = self.source.text
        self.lines = Lines(self.source)

    def expanded(self) -> Expanded:
        """The text behind the C preprocessor, if it is for that, and with the files that it includes."""
        expanded = plain(self.text)
        if style(self.source) is Style.GAS and wants_preprocessor(self.source, self.options.origin):
            if not self.options.allow_external_programs:
                expanded = not_preprocessed(self.text, NO_PROGRAMS)
            else:
                expanded = preprocess(self.text, self.options.origin, self.stop, self.memory.caches)
        if expanded.text != self.text or self.source.has(INCLUDING.search):
            expanded = inline_includes(expanded, self.options.origin)
        self.report_notes(expanded.notes)
        return expanded

    def takes_loops(self, marked: Sequence[object]) -> bool:
        """``marked``: the regions that IACA's markers enclose, and the others."""
        self.unmarked = self.options.regions == Regions.AUTO and not marked and not self.has_markers
        return self.unmarked or self.options.regions in (Regions.LOOPS, Regions.BOTH)

    def without_marked(self, spans: Iterable[Span], found: Iterable[_Place]) -> list[_Place]:
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
            self.report_region("too-many-regions", message, first)
            left = [place for place in left if place.loop is not None and place.loop.key not in beyond]
        for place in left:
            place.span.name = f"{place.span.name}-loop" if place.span.name in names else place.span.name
        return left

    def cut(self, code: Enclosed, found: FoundRuns | None) -> Made:
        """The region of a stretch of code, or its basic blocks, and what there is to say about that.
        ``found``: how a loop is executed that nobody marked."""
        span, pieces = code.span, code.pieces
        if not any(pieces[at].code for at in code.inside) and not code.incomplete:
            self.report_region("empty-region", "There is no code in this region.", span)
        made = blocks.to_regions(code, found, self.memory.caches)
        regions, branching = made
        if found is None and len(regions) > 1 and (branching is None or not branching.ways):
            count = len(regions)
            message = (
                f"'{span.name}' branches within itself: its {count} basic blocks are analysed one by one."
            )
            self.report_region("inner-branch", message, span, Severity.INFORMATION)
        if found is not None and not found.numbers and not blocks.is_in_one_piece(pieces, found.runs[0]):
            self.report_region("scattered-loop", scattered(span.name), span, Severity.INFORMATION)
        return made

    def describe_loops(self, made: Iterable[LoopRegion]) -> None:
        """Where the blocks of loops lead, and what there is to say of those without a figure of their own."""
        for span, branching, message in branchings(list(made)):
            self.branchings += [] if branching is None else [branching]
            if message:
                self.report_region("inner-branch", message, span, Severity.INFORMATION)

    def report(
        self, code: str, message: str, start: int, end: int, severity: Severity = Severity.ERROR
    ) -> None:
        self.problems.append(make_problem(code, message, *self.lines.span(start, end), severity))

    def report_region(
        self, code: str, message: str, span: Span, severity: Severity = Severity.WARNING
    ) -> None:
        self.problems.append(
            make_problem(code, message, span.first_line, span.column, span.end_column, severity)
        )

    def choose(
        self,
        places: list[_Place],
        functions: Callable[[], list[_Place]],
        loops: Callable[[], Sequence[_Place]],
    ) -> list[_Place]:
        """The regions that are wanted, of those that somebody marked, of loops and of functions: where one
        function is asked for, what lies in it, or without any region in it the function itself; where nothing
        is marked and there is no loop, all functions."""
        wanted, owner = self.options.function, None
        if wanted is not None:
            known = functions()
            self.functions = [place.span for place in known]
            owner = next((place for place in known if place.span.name == wanted), None)
            if owner is None:
                self.problems.append(self.no_function(wanted))
                return []
            places = [place for place in places if _lies_in(place, owner)]
            self.has_markers = bool(places)
        if self.takes_loops(places):
            found = [place for place in loops() if owner is None or _lies_in(place, owner)]
            places = places + self.without_marked([place.span for place in places], found)
        if owner is not None:
            return places or [owner]
        return places or (functions()[:MAXIMUM_REGIONS] if self.unmarked else [])

    def no_function(self, name: str) -> Problem:
        """The text has no function of a name."""
        known = [span.name for span in self.functions]
        message = f"there is no function '{name}'{among(name, known) if known else ', and no other one'}"
        return make_problem("no-such-function", message, UNKNOWN_LINE, 0, 0)

    def report_notes(self, notes: Iterable[Note]) -> None:
        for note in notes:
            self.report(note.code, note.message, *self.lines.content(note.line, self.text), Severity.WARNING)


def _lies_in(place: _Place, owner: _Place) -> bool:
    return owner.span.start <= place.span.start <= owner.span.end
