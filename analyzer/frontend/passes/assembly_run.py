"""State of a text that is being read: its facts, its results, and how problems are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient
from cyclelens.analyzer.frontend.control_flow import blocks
from cyclelens.analyzer.frontend.control_flow.blocks import Enclosed, FoundRuns, Made
from cyclelens.analyzer.frontend.control_flow.loop_parts import scattered
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange, MadeRegion, branchings, first_blocks
from cyclelens.analyzer.frontend.files import listed
from cyclelens.analyzer.frontend.files.expansion import (
    INCLUDING,
    Expanded,
    ExpansionNote,
    inline_includes,
    not_preprocessed,
    plain,
    preprocess,
    wants_preprocessor,
)
from cyclelens.analyzer.frontend.regions.recorded import Spot
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle, Dialect, style
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS, Span, coverage
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    Branching,
    Problem,
    Severity,
)
from msgspec import Struct, field
from msgspec.structs import replace

MAXIMUM_REGION = 20_000
"""Maximum statements of one region."""
NO_PROGRAMS = (
    "External programs may not be run: the folder is not trusted, or a setting or an option forbids it."
)
REFUSED_BEFORE = "A statement before it in its section could not be encoded"

_Place = TypeVar("_Place", CodeRange, listed.ListedCode)


class AssemblyRun(Struct, dict=True):
    """State of one call of ``assemble``, shared by all passes."""

    source: SourceText
    dialect: Dialect
    options: SourceOptions
    client: AssemblerClient
    stop: Callable[[], bool]
    memory: EncodingCache
    problems: list[Problem] = field(default_factory=list)
    branchings: list[Branching] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    """All regions in text order."""
    has_markers: bool = False
    """The text has markers, complete or not."""
    unmarked: bool = False
    """Loops were chosen because nothing is marked."""
    has_code: bool = True
    """The text has an instruction, as far as it was read."""
    functions: list[Span] = field(default_factory=list)
    """All functions of the text, if one of them was requested."""
    is_foreign: bool = False
    """The text is for another program, which has not accepted it."""
    spot: Callable[[str], Spot | None] = lambda name: None
    """Location of a symbol."""

    @property
    def text(self) -> str:
        """All of it."""
        return self.source.text

    @cached_property
    def style(self) -> AssemblerStyle:
        """The assembler that it is written for."""
        return style(self.source)

    @cached_property
    def lines(self) -> LineIndex:
        """Where its lines are."""
        return LineIndex(self.source)

    def expanded(self) -> Expanded:
        """The text after the C preprocessor, if it needs that, with included files."""
        expanded = plain(self.text)
        if self.style is AssemblerStyle.GAS and wants_preprocessor(self.source, self.options.origin):
            if not self.options.allow_external_programs:
                expanded = not_preprocessed(self.text, NO_PROGRAMS)
            else:
                expanded = preprocess(self.text, self.options.origin, self.stop, self.memory.caches)
        if expanded.text != self.text or self.source.has(INCLUDING.search):
            expanded = inline_includes(expanded, self.options.origin)
        self.report_notes(expanded.notes)
        return expanded

    def takes_loops(self, marked: Sequence[object]) -> bool:
        """Whether loops become regions. ``marked``: the regions of IACA's and other markers."""
        self.unmarked = self.options.regions == Regions.AUTO and not marked and not self.has_markers
        return self.unmarked or self.options.regions in (Regions.LOOPS, Regions.BOTH)

    def without_marked(self, spans: Iterable[Span], found: Iterable[_Place]) -> list[_Place]:
        """Loops outside of marked regions, under names different from these regions' names."""
        spans = list(spans)
        marked, names = coverage(spans), {span.name for span in spans}
        left = [place for place in found if not marked(place.span.start)]
        if self.unmarked:
            left = [place for place in left if place.loop is not None and place.loop.is_innermost]
        for place in left:
            place.span.name = f"{place.span.name}-loop" if place.span.name in names else place.span.name
        return left

    def cut(self, code: Enclosed, found: FoundRuns | None) -> Made:
        """The region of a piece of code, or its basic blocks; reports what is unusual. ``found``: how a
        detected loop is executed."""
        span, pieces = code.span, code.pieces
        if not any(pieces[at].code for at in code.inside) and not code.incomplete:
            self.report_region("empty-region", "There is no code in this region.", span)
        made = blocks.to_regions(code, found, self.memory.caches)
        regions, branching = made
        if found is None and len(regions) > 1 and (branching is None or not branching.paths):
            count = len(regions)
            message = (
                f"'{span.name}' branches within itself: its {count} basic blocks are analysed one by one."
            )
            self.report_region("inner-branch", message, span, Severity.INFORMATION)
        if found is not None and not found.numbers and not blocks.is_in_one_piece(pieces, found.runs[0]):
            self.report_region("scattered-loop", scattered(span.name), span, Severity.INFORMATION)
        return made

    def finish(self, made: Iterable[MadeRegion]) -> list[MadeRegion]:
        """The regions up to the limit on basic blocks. Adds the control flow of regions, and reports loops
        without a figure of their own."""
        kept, message, beyond = first_blocks(made)
        if beyond is not None:
            self.report_region("too-many-regions", message, beyond)
        self.branchings += [one.branching for one in kept if one.branching is not None]
        for span, branching, message in branchings(kept):
            self.branchings += [] if branching is None else [branching]
            if message:
                self.report_region("inner-branch", message, span, Severity.INFORMATION)
        return kept

    def report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        severity: Severity = Severity.ERROR,
        replacement: str = "",
    ) -> None:
        place = self.lines.span(start, end)
        problem = make_problem(code, message, *place, severity)
        self.problems.append(replace(problem, replacement=replacement) if replacement else problem)

    def report_region(
        self, code: str, message: str, span: Span, severity: Severity = Severity.WARNING
    ) -> None:
        self.problems.append(
            make_problem(code, message, span.first_line, span.column, span.end_column, severity)
        )

    def report_too_large(self, span: Span) -> None:
        message = f"Regions of more than {MAXIMUM_REGION:,} statements are not analysed."
        self.report_region("region-too-large", message, span, Severity.ERROR)

    def choose(
        self,
        places: list[_Place],
        functions: Callable[[], list[_Place]],
        loops: Callable[[], Sequence[_Place]],
    ) -> list[_Place]:
        """The wanted ones among marked regions, loops and functions. If a function is requested, only regions
        in it, or the function itself if it has none. If there are neither markers nor loops, all functions.
        The result is in text order, up to the limit.
        """
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
        if not places and owner is not None:
            places = [owner]
        elif not places and self.unmarked:
            places = functions()
        return self._first(places)

    def _first(self, places: Iterable[_Place]) -> list[_Place]:
        """The first places; those of a loop in several sections count as one."""
        left = sorted(places, key=lambda place: place.span.start)
        keys = [id(place) if place.loop is None else place.loop.key for place in left]
        beyond = set(list(dict.fromkeys(keys))[MAXIMUM_REGIONS:])
        if beyond:
            count = MAXIMUM_REGIONS + len(beyond)
            message = f"Only the first {MAXIMUM_REGIONS:,} of {count:,} regions are analysed."
            first = next(place.span for place, key in zip(left, keys, strict=True) if key in beyond)
            self.report_region("too-many-regions", message, first)
        return [place for place, key in zip(left, keys, strict=True) if key not in beyond]

    def no_function(self, name: str) -> Problem:
        """Problem: the text has no function with this name."""
        known = [span.name for span in self.functions]
        message = f"there is no function '{name}'{among(name, known) if known else ', and no other one'}"
        return make_problem("no-such-function", message, UNKNOWN_LINE, 0, 0)

    def report_notes(self, notes: Iterable[ExpansionNote]) -> None:
        for note in notes:
            self.report(note.code, note.message, *self.lines.content(note.line, self.text), Severity.WARNING)


def _lies_in(place: _Place, owner: _Place) -> bool:
    return owner.span.start <= place.span.start <= owner.span.end
