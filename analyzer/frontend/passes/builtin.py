"""Reads and encodes texts with the built-in front end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from cyclelens.analyzer.frontend.control_flow.blocks import Enclosed, FoundRuns, Made
from cyclelens.analyzer.frontend.control_flow.functions import find_functions
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange, MadeRegion, find_loops
from cyclelens.analyzer.frontend.control_flow.program_flow import transfers_of
from cyclelens.analyzer.frontend.encoding.instructions import Encoded
from cyclelens.analyzer.frontend.files.expansion import place_statements, wants_preprocessor
from cyclelens.analyzer.frontend.mistakes.function_flow import function_flow
from cyclelens.analyzer.frontend.mistakes.registry import CHECKS
from cyclelens.analyzer.frontend.passes.assembly_run import MAXIMUM_REGION, REFUSED_BEFORE, AssemblyRun
from cyclelens.analyzer.frontend.passes.masm_text import statements_of_masm
from cyclelens.analyzer.frontend.passes.remarks import remark, remark_nothing
from cyclelens.analyzer.frontend.passes.unknown_statements import remark_unknown_statements
from cyclelens.analyzer.frontend.passes.wide_code import remark_wide_code
from cyclelens.analyzer.frontend.programs.build import build
from cyclelens.analyzer.frontend.programs.program import CODE_SECTION, Program, StatementKind
from cyclelens.analyzer.frontend.regions.iaca import find_iaca
from cyclelens.analyzer.frontend.regions.recorded import spot_in_text
from cyclelens.analyzer.frontend.regions.region_code import RegionCode
from cyclelens.analyzer.frontend.regions.sections import Layouts
from cyclelens.analyzer.frontend.regions.statement_code import Encoder
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import (
    BY_NAME,
    AssemblerStyle,
    detect,
    semicolon_starts_comment,
)
from cyclelens.analyzer.frontend.source.markers import Span, coverage, may_have_iaca
from cyclelens.analyzer.frontend.source.scanner import Scan, ScannedPart, scan
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import LINE_BYTES, Placement, Region, Severity, SourceLine
from msgspec import Struct, field

_NASM_ALIGNMENT = 16
"""Default alignment of code sections in NASM and MASM, in bytes."""
_MOST_CHECKED = 3_000
"""Statements of a text whose functions are checked for mistakes: longer ones are rarely written by hand, and
every edit would take longer."""

_Circumstances = tuple[tuple[object, ...], list[object]]
"""Statements of a region with their locations, and the facts about the rest of the text that they depend
on."""


class _RegionStatements(Struct):
    """A region and its statements."""

    found: CodeRange
    section: str
    code: RegionCode | None
    """None if there are too many statements."""
    circumstances: _Circumstances = field(default_factory=lambda: ((), []))
    """Everything that the region's result depends on."""

    @property
    def span(self) -> Span:
        """Location of the region."""
        return self.found.span


class BuiltinPass:
    """Reads one text with the built-in front end."""

    program: Program
    encoder: Encoder
    layouts: Layouts

    def __init__(self, run: AssemblyRun) -> None:
        self.run = run

    def regions(self, found: Scan, spans: list[Span]) -> list[Region]:
        """Regions of the text, encoded."""
        expanded = self.run.expanded()
        source, parts = self.run.source, found.parts
        if expanded.text != self.run.text:
            source = SourceText(expanded.text, self.run.memory.versions)
            if self.run.options.syntax not in BY_NAME:
                # Macros may stand for registers, so the expanded text shows the dialect as GNU as sees it.
                self.run.dialect = detect(source)
            again = scan(source, semicolon_starts_comment(source, self.run.dialect), self.run.stop)
            placed = place_statements(again.statements(), source, expanded, self.run.lines, self.run.text)
            parts = [(0, ScannedPart(placed))]
        if self.run.style is AssemblerStyle.MASM:
            parts = [(0, ScannedPart(statements_of_masm(self.run, found.statements())))]

        def layouts(program: Program) -> Layouts:
            return Layouts(program, Encoder(program, self.run.client, self.run.stop, self.run.memory))

        self.program = build(parts, self.run.dialect, self.run.stop, layouts)
        if self.run.stop():
            return []
        self.run.has_code = any(each.kind is StatementKind.INSTRUCTION for each in self.program.statements)
        if self.run.style is AssemblerStyle.NASM:
            self.program.follow_nasm()
        self.layouts = layouts(self.program)
        self.encoder = self.layouts.encoder
        self.run.spot = partial(spot_in_text, self.layouts)
        places = [CodeRange(span, *self.program.slice(span.start, span.end)) for span in spans]
        if self.run.options.regions != Regions.LOOPS and may_have_iaca(source):
            found_iaca, problems = find_iaca(self.program, self.run.lines)
            self.run.problems += problems
            places += found_iaca
        places = self.run.choose(
            places,
            lambda: [each.code(self.run.lines, self.program) for each in find_functions(self.program)],
            lambda: find_loops(self.program, self.run.lines, self.layouts.known_size, self.run.memory.caches),
        )
        if not places and self.run.unmarked:
            remark_nothing(self.run, self.program)
        self.run.spans = spans = [place.span for place in places]
        self._report_includes()
        self._report_open_comment(found.open_comment, spans)
        covers = coverage(spans)
        for start, end in found.preprocessor:
            if covers(start) and not wants_preprocessor(self.run.source, self.run.options.origin):
                message = "C preprocessor directives only apply in .S files; this one is read as a comment."
                self.run.report("not-supported", message, start, end, Severity.WARNING)
        self._report_duplicate_labels(covers)
        windows = self._windows(places)
        if self.run.stop():
            return []
        earlier = [self._earlier(window) for window in windows]
        chosen: dict[int, Encoded] = {}
        for window, same in zip(windows, earlier, strict=True):
            chosen |= window.code.chosen if same is None and window.code is not None else {}
        by_keystone = self.encoder.by_keystone(chosen)
        made: list[MadeRegion] = []
        for window, same in zip(windows, earlier, strict=True):
            if self.run.stop():
                break
            code = window.found
            regions, branching = self._regions(window, by_keystone) if same is None else same
            made.append(MadeRegion(code.span, regions, branching, code.loop, code.numbers))
        kept = self.run.finish(made)
        firsts = [(window.found.first, one.regions) for window, one in zip(windows, made, strict=False)]
        refused = {index for each in windows if each.code is not None for index in each.code.refused}
        is_read = any(not one.incomplete for each in made for one in each.regions)
        is_explained = self.run.has_markers or (bool(self.run.problems) and not made)
        if not (is_read or is_explained) and remark_unknown_statements(self.run, self.program, refused):
            return []
        remark_wide_code(self.run, self.program, firsts, refused)
        self._check_functions()
        return [region for one in kept for region in one.regions]

    def _windows(self, places: Iterable[CodeRange]) -> list[_RegionStatements]:
        windows = []
        statements = self.program.statements
        for found in places:
            inside = (index for part in found.own for index in part.places)
            instructions = (index for index in inside if statements[index].kind is StatementKind.INSTRUCTION)
            section = next((statements[index].section for index in instructions), CODE_SECTION)
            code = None
            if found.last - found.first <= MAXIMUM_REGION:
                is_marked = found.loop is None
                parts = [part.places for part in found.own]
                code = RegionCode(self.layouts, self.encoder, section, parts, is_marked)
            else:
                self.run.report_too_large(found.span)
            windows.append(_RegionStatements(found, section, code))
        self.layouts.prepare({window.section for window in windows if window.code is not None})
        if not self.run.stop():
            for window in windows:
                if window.code is not None:
                    window.code.read()
        return windows

    def _earlier(self, window: _RegionStatements) -> Made | None:
        """The window's regions from an earlier version of the text, if nothing they depend on has changed:
        statements, their locations, and facts about the rest of the text."""
        key, outside = window.circumstances = self._circumstances(window)
        known = self.encoder.memory.regions.get(key)
        return known[1] if known is not None and known[0] == outside else None

    def _circumstances(self, window: _RegionStatements) -> _Circumstances:
        found = window.found
        span, first, last = found.span, found.first, found.last
        parts = tuple(map(self.run.lines.locate, self.program.offsets(first, last)))
        marker = (
            self.run.options.allow_external_programs,
            span.name,
            span.first_line,
            span.last_line,
            *span.options.items(),
        )
        outside = window.code.outside() if window.code is not None else []
        shape = (
            window.section,
            found.loop is None,
            found.is_function,
            found.numbers,
            *((part.first - first, part.end - first) for part in found.parts),
        )
        return (parts, shape, marker, tuple(self.program.statements[first:last])), outside

    def _regions(self, window: _RegionStatements, by_keystone: Collection[int]) -> Made:
        """A marked region or a loop: one region, or its basic blocks if it branches within itself."""
        reported = len(self.run.problems)
        code = window.code
        failure = self.layouts.laid(window.section).failure if code is not None else ""
        if failure:
            self.run.report_region("not-supported", failure, window.span, Severity.ERROR)
        pieces = code.pieces(by_keystone) if code is not None and not failure else []
        indices = code.indices if code is not None else []
        if code is not None:
            remark(self.run, self.program, code, window.found, window.section)
        incomplete = code is None or bool(failure or code.refused)

        def source_line(at: int) -> SourceLine:
            piece, index = pieces[at], indices[at]
            statement, (start, end) = self.program.statements[index], self.program.span(index)
            line, column, end_column = self.run.lines.span(start, end)
            is_made = statement.stop >= 0
            use = self.run.text[start : start + end_column - column].strip() if is_made else ""
            return SourceLine(line, column, end_column, statement.text, piece.code, piece.backend, use=use)

        found = None
        if window.found.loop is not None and code is not None:
            runs = code.runs([part.places for part in window.found.parts])
            found = FoundRuns.of_loop(runs, window.found.numbers)
        placement = self._placement(window, indices[0]) if indices else Placement()
        everything = range(len(pieces))
        where = "" if not indices or self.layouts.modulus(indices[0]) else window.section
        is_function = window.found.is_function
        enclosed = Enclosed(
            window.span, pieces, everything, source_line, placement, where, incomplete, is_function
        )
        made = self.run.cut(enclosed, found)
        if len(self.run.problems) == reported and not incomplete:
            key, outside = window.circumstances
            self.encoder.memory.regions[key] = outside, made
        return made

    def _placement(self, window: _RegionStatements, index: int) -> Placement:
        """Placement of a statement, as far as known."""
        offset, modulus = self.layouts.offset(index), self.layouts.modulus(index)
        usual = 1 if self.run.style is AssemblerStyle.GAS else _NASM_ALIGNMENT
        known = min(max(self.layouts.laid(window.section).alignment, usual), LINE_BYTES)
        if modulus and modulus < known:
            return Placement(offset % modulus, modulus, REFUSED_BEFORE)
        return Placement(offset % known, known)

    def _check_functions(self) -> None:
        """Report likely mistakes in functions, each at its statement."""
        program = self.program
        if len(program.statements) > _MOST_CHECKED:
            return
        functions, transfers = find_functions(program), transfers_of(program)
        self.layouts.prepare({function.label.section for function in functions})
        for function in functions if not self.run.stop() else ():
            section = program.statements[function.first].section
            code = RegionCode(self.layouts, self.encoder, section, [range(function.first, function.last)])
            code.read()
            flow = function_flow(program, function, code.contents, transfers, self.run.memory.caches)
            for mistake in [each for check in CHECKS for each in check(flow)] if flow is not None else ():
                lines = [self.run.lines.locate(program.span(at)[0])[0] + 1 for at in mistake.others]
                message = mistake.message.format(*lines)
                self.run.report(mistake.code, message, *program.span(mistake.index), Severity.INFORMATION)

    def _report_includes(self) -> None:
        """Report includes in macros or with other statements on their line: they may contain code."""
        told = {problem.line for problem in self.run.problems if problem.code == "include-not-read"}
        for first, part in zip(self.program.firsts, self.program.parts, strict=True):
            for index in part.includes:
                place = self.program.span(first + index)
                if self.run.lines.locate(place[0])[0] not in told:
                    message = "An include is only read on a line of its own; --assembler gas reads this one."
                    self.run.report("include-not-read", message, *place, Severity.WARNING)

    def _report_open_comment(self, offset: int | None, spans: Iterable[Span]) -> None:
        if offset is not None and any(span.start <= offset for span in spans):
            self.run.report("comment-not-closed", "This comment is never closed.", offset, offset + 2)

    def _report_duplicate_labels(self, covers: Callable[[int], bool]) -> None:
        for name, label in self.program.labels_again():
            if covers(label.start):
                message = f"The label '{name}' is already defined; jumps go to its first definition."
                self.run.report("duplicate-label", message, label.start, label.end)
