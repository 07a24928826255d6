"""Entry point of the assembly front end: turns a text into encoded regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cyclelens.analyzer.common.defects import described, traceback_of
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, shared_client
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.passes.builtin import BuiltinPass
from cyclelens.analyzer.frontend.passes.disassembly import read as read_dump
from cyclelens.analyzer.frontend.passes.excluded_code import remark_excluded_code
from cyclelens.analyzer.frontend.passes.external import by_another_program, or_by_nasm
from cyclelens.analyzer.frontend.passes.narrow_code import remark_narrow_code
from cyclelens.analyzer.frontend.regions.recorded import counts_of
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.frontend.source import dump_columns, dumps, other_languages
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import BY_NAME, detect, semicolon_starts_comment
from cyclelens.analyzer.frontend.source.lexer import MARKER_WORDS
from cyclelens.analyzer.frontend.source.markers import (
    Span,
    coverage,
    find_latencies,
    find_regions,
    may_have_iaca,
    with_latencies,
    without_hyphen,
)
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import LineIndex, scan
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import AssembledFile, Problem, Region, Severity
from cyclelens.analyzer.profiles.profile import Profile
from msgspec.structs import replace

MAXIMUM_CHARACTERS = 5 * 1024 * 1024
MAXIMUM_LINES = 300_000
"""Maximum number of lines, statements and labels."""
MAXIMUM_PROBLEMS = 1_000
"""Problems that are reported, counted from the top of the file."""
_IACA = re.compile(r"\biaca", re.IGNORECASE)
"""An included file may define IACA's markers as macros."""
AS_IT_IS = SourceOptions()
"""Defaults: everything is taken from the text itself."""


def assemble(
    text: str,
    options: SourceOptions = AS_IT_IS,
    *,
    cancel: Callable[[], bool] | None = None,
    client: AssemblerClient | None = None,
    profile: Profile | None = None,
    memory: EncodingCache | None = None,
) -> AssembledFile:
    """Find the regions of a text and encode them as ``options`` say. ``Regions.MARKERS`` gives the marked
    regions and ``Regions.LOOPS`` the loops. With both, loops inside marked regions are left out. ``AUTO``
    gives the marked regions, or the innermost loops if there are no markers. A region with branches inside is
    split into its basic blocks.

    Never raises. Mistakes are reported as problems at their lines, but only for text inside regions and for
    the markers themselves. A region that cannot be encoded completely is ``incomplete``; the others are not
    affected. The dialect in ``options`` applies from the beginning of the file, and directives in the file
    always switch it. If ``cancel()`` becomes true, the result has no regions. ``client`` replaces this
    process's assembler child. ``profile`` has counts of a recorded run. ``memory`` caches earlier versions of
    the text and is updated.
    """
    stop, memory = cancel or (lambda: False), memory or EncodingCache(Caches())
    dialect = BY_NAME.get(options.syntax) or BY_NAME["att"]
    try:
        refusal = _refuse(text)
        if refusal is None:
            source = SourceText(text, memory.versions)
            refusal = _refuse_length(source)
        if refusal is not None:
            return AssembledFile((), (refusal,), dialect.name)
        if options.syntax not in BY_NAME:
            dialect = detect(source)
        may_be_marked = source.has(MARKER_WORDS.search) or source.has(_IACA.search) or may_have_iaca(source)
        if options.regions == Regions.MARKERS and not may_be_marked:
            return AssembledFile((), (), dialect.name)
        if (other := other_languages.find(source)) is not None:
            return AssembledFile((), (_named(source, other),), dialect.name)
        run = AssemblyRun(source, dialect, options, client or shared_client(), stop, memory)
        return _read(run, profile)
    except Exception as error:
        # An editor must survive any text, so nothing is raised. Tests check that this never happens.
        message = f"The front end failed ({described(error)}). Please report this file."
        defect = Problem(0, 0, 0, "internal-error", message, traceback=traceback_of(error))
        return AssembledFile((), (defect,), dialect.name)


_NUL_OF_BINARY = r"(?m)^[^#\n]*\0"
"""Clang's line information comments (``clang -g``) contain NUL characters, which assemblers skip."""


def _named(source: SourceText, other: other_languages.UnsupportedText) -> Problem:
    place = LineIndex(source).span(other.start, other.end)
    return make_problem("other-language", other.message, *place, Severity.WARNING)


def _refuse(text: str) -> Problem | None:
    """A problem if the text is too large or is not assembly text."""
    if len(text) > MAXIMUM_CHARACTERS:
        return _too_large(f"{MAXIMUM_CHARACTERS >> 20} MB")
    if "\0" in text and re.search(_NUL_OF_BINARY, text):
        return make_problem("binary-file", "This looks like a binary file, not like assembly.", 0, 0, 0)
    return None


def _refuse_length(source: SourceText) -> Problem | None:
    lines = sum(len(chunk.starts) for chunk in source.chunks)
    if lines > MAXIMUM_LINES or sum(chunk.separators for chunk in source.chunks) > MAXIMUM_LINES * 2:
        return _too_large(f"{MAXIMUM_LINES:,} lines or statements")
    return None


def _too_large(limit: str) -> Problem:
    instead = "assemble it and analyse the object file"
    message = f"Cyclelens does not analyse texts of more than {limit}: {instead}."
    return make_problem("file-too-large", message, 0, 0, 0)


def _read(run: AssemblyRun, profile: Profile | None) -> AssembledFile:
    found = scan(run.source, semicolon_starts_comment(run.source, run.dialect), run.stop)
    nothing = AssembledFile((), (), run.dialect.name)
    spans: list[Span] = []
    if run.options.regions != Regions.LOOPS:
        spans, run.problems = find_regions(found.markers, run.lines, len(run.text))
    run.has_markers = bool(spans or run.problems)
    if run.options.regions != Regions.LOOPS:
        run.problems += without_hyphen(found.markers, run.lines)
    if (dump := dumps.read(run.source) or dump_columns.read(run.source)) is not None:
        dumped = read_dump(run, dump, spans)
        return replace(dumped, problems=(*run.problems, *dumped.problems)[:MAXIMUM_PROBLEMS])
    regions = by_another_program(run, spans)
    if regions is None:
        reported = len(run.problems)
        regions = BuiltinPass(run).regions(found, spans)
        regions = or_by_nasm(run, spans, regions, reported)
        if run.is_foreign:
            regions = _without_derived(regions, run.problems[reported:])
            del run.problems[reported:]
    if not (run.has_code or run.has_markers):
        remark_excluded_code(run, found.statements())
    if not (regions or run.has_markers or any(each.code == "left-out" for each in run.problems)):
        other = other_languages.without_regions(run.source)
        if other is not None:
            return replace(nothing, problems=(_named(run.source, other),))
    if run.stop():
        return nothing
    remark_narrow_code(run, regions)
    latencies, problems = find_latencies(found.markers, run.lines, coverage(run.spans))
    regions = [with_latencies(region, latencies) for region in regions] if latencies else regions
    counts = None
    if profile is not None and regions:
        counts, unmatched = counts_of(profile, regions, run.branchings, run.spot)
        problems += unmatched
    problems = list(dict.fromkeys(run.problems + problems))
    problems.sort(key=lambda problem: (problem.line, problem.column))
    return AssembledFile(
        tuple(regions),
        tuple(problems[:MAXIMUM_PROBLEMS]),
        run.dialect.name,
        tuple(run.branchings),
        run.unmarked and bool(regions),
        counts,
        functions=tuple((span.name, span.first_line, span.last_line) for span in run.functions),
    )


def _without_derived(regions: Iterable[Region], problems: Iterable[Problem]) -> list[Region]:
    """Marks doubtful regions as incomplete. Another program generates this text, and a message says so
    already. Where it is not understood, no figure and no further message is given."""
    doubtful = {problem.line for problem in problems if problem.severity is not Severity.INFORMATION}
    return [
        replace(region, incomplete=True)
        if any(region.first_line <= line <= region.last_line for line in doubtful)
        else region
        for region in regions
    ]
