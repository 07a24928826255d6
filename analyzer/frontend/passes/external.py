"""Reads whole files with the user's assembler, GNU as or NASM."""

from __future__ import annotations

from functools import cache, partial

from cyclelens.analyzer.frontend.control_flow.blocks import Enclosed
from cyclelens.analyzer.frontend.control_flow.loops import MadeRegion
from cyclelens.analyzer.frontend.files import listed
from cyclelens.analyzer.frontend.files.expansion import ExpansionNote, plain
from cyclelens.analyzer.frontend.files.whole_file import (
    ASSEMBLERS,
    BACKENDS,
    Assembled,
    assemble_file,
    has_nasm,
)
from cyclelens.analyzer.frontend.passes.assembly_run import (
    MAXIMUM_REGION,
    NO_PROGRAMS,
    REFUSED_BEFORE,
    AssemblyRun,
)
from cyclelens.analyzer.frontend.regions.recorded import spot_in_object
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle, needs_nasm
from cyclelens.analyzer.frontend.source.markers import Span, coverage
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.source import Placement, Region, Severity
from msgspec.structs import replace

_HASH = "`#' expects a line number"
_NO_COMMENT = (
    "NASM takes a line that begins with # for a line number: begin comments, and markers in them, with ;"
)
_TRUNCATED = "This number is too long for its operand; NASM truncates it."


def or_by_nasm(run: AssemblyRun, spans: list[Span], regions: list[Region], reported: int) -> list[Region]:
    """Regions of a text that looked plain, read by NASM if that understands more of it. ``reported``: number
    of problems before the built-in pass."""
    refused = sum(region.incomplete for region in regions)
    is_asked = (
        run.options.assembler == Assembler.AUTO
        and run.options.allow_external_programs
        and not needs_nasm(run.source)
    )
    if not refused or not is_asked or run.style is not AssemblerStyle.NASM or not has_nasm():
        return regions
    own = run.problems, run.branchings, run.spans, run.spot, run.is_foreign
    run.problems, run.branchings = run.problems[:reported], []
    found = by_another_program(run, spans, Assembler.NASM)
    if found is not None and sum(region.incomplete for region in found) < refused:
        return found
    run.problems, run.branchings, run.spans, run.spot, run.is_foreign = own
    return regions


def by_another_program(
    run: AssemblyRun, spans: list[Span], wanted: Assembler | None = None
) -> list[Region] | None:
    """Regions from the user's assembler, or from the ``wanted`` one. None if no assembler applies or it
    fails."""
    wanted = wanted or run.options.assembler
    if wanted == Assembler.AUTO and run.style is AssemblerStyle.NASM and needs_nasm(run.source):
        wanted = Assembler.NASM
    if wanted not in ASSEMBLERS:
        return None
    expanded = plain(run.text) if wanted == Assembler.NASM else run.expanded()

    def user_line(line: int) -> int:
        return expanded.lines[min(line, len(expanded.lines) - 1)]

    assembled = Assembled(BACKENDS[wanted], failure=NO_PROGRAMS)
    if run.options.allow_external_programs:
        assembled = assemble_file(wanted, expanded.text, run.options.origin, run.stop, run.memory.caches)
    # What a missing file defines is not understood, either: one message for both.
    is_cause = any(note.code == "include-not-read" for note in assembled.notes)
    run.report_notes(_with_lost(assembled) if is_cause else assembled.notes)
    if assembled.failure:
        message = f"The file is read without {assembled.backend}. {assembled.failure}"
        line = user_line(assembled.failure_line)
        run.report_notes([ExpansionNote(line, "assembler-unavailable", message)])
        run.is_foreign = assembled.gave_up or (wanted == Assembler.NASM and needs_nasm(run.source))
        return None
    found = listed.sections(assembled.listing, user_line, assembled.backend, run.memory.caches)
    run.spot = partial(spot_in_object, assembled.listing.object)
    run.has_code = bool(assembled.refused) or any(section.pieces for section in found.values())
    refused = {user_line(line): message for line, message in assembled.refused.items()}
    hashes = [line for line, message in refused.items() if message.startswith(_HASH)]
    refused = {line: message for line, message in refused.items() if line not in hashes}
    if hashes:
        run.report("assembler-error", _NO_COMMENT, *run.lines.content(hashes[0], run.text), Severity.WARNING)
    places = [
        listed.ListedCode(span, *(listed.within(found, span, run.lines, run.text) or (listed.EMPTY, [])))
        for span in spans
    ]
    if run.options.regions != Regions.LOOPS:
        places += listed.iaca(found, run.lines, run.text)
    places = run.choose(
        places,
        lambda: list(listed.functions(assembled.listing, found, user_line, run.lines, run.text)),
        lambda: listed.loops(assembled.listing, found, user_line, run.lines, run.text, run.memory.caches),
    )
    run.spans = [place.span for place in places]
    covers = coverage(run.spans)
    for line, message in () if is_cause else refused.items():
        start, end = run.lines.content(line, run.text)
        severity = Severity.ERROR if covers(start) else Severity.WARNING
        run.report("assembler-error", f"{assembled.backend} says: {message}", start, end, severity)

    for line in map(user_line, assembled.shortened):
        start, end = run.lines.content(line, run.text)
        if covers(start):
            run.report("number-shortened", _TRUNCATED, start, end, Severity.WARNING)

    # A macro may expand to thousands of instructions on one line.
    place_of = cache(partial(_place_of, run))
    made: list[MadeRegion] = []
    for place in places:
        span, section, inside = place.span, place.section, place.pieces
        incomplete = any(span.first_line <= line <= span.last_line for line in refused)
        if len(inside) > MAXIMUM_REGION:
            run.report_too_large(span)
            inside, incomplete = [], True
        source_line = partial(section.source_line, place_of=place_of)
        start = section.pieces[inside[0]].offset if inside else 0
        placement = Placement.in_section(start, assembled.listing.alignments.get(section.name, 1))
        if any(line < span.first_line for line in refused):
            placement = Placement(0, 1, REFUSED_BEFORE)
        where = "" if placement.gap else section.name
        enclosed = Enclosed(
            span, section.pieces, inside, source_line, placement, where, incomplete, place.is_function
        )
        own, branching = run.cut(enclosed, place.runs)
        numbers = place.runs.numbers if place.runs is not None else ()
        made.append(MadeRegion(span, own, branching, place.loop, numbers))
    return [region for one in run.finish(made) for region in one.regions]


def _with_lost(assembled: Assembled) -> list[ExpansionNote]:
    """The notes; the first one about a missing file says how many lines are not understood."""
    if not assembled.refused:
        return assembled.notes
    first = next(note for note in assembled.notes if note.code == "include-not-read")
    count = len(assembled.refused)
    lost = f"{count} line{'s are' if count > 1 else ' is'} not understood, the first is line "
    told = replace(first, message=f"{first.message} {lost}{min(assembled.refused) + 1}.")
    return [told if note is first else note for note in assembled.notes]


def _place_of(run: AssemblyRun, line: int) -> tuple[tuple[int, int, int], str]:
    """(line, column, end column) of a line's content, and the content."""
    start, end = run.lines.content(line, run.text)
    return run.lines.span(start, end), run.text[start:end]
