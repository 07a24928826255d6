"""Analyses one region on all requested cores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from cyclelens.analyzer.common.defects import internal_error, traceback_of
from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.common.whole_numbers import whole_number
from cyclelens.analyzer.engine.answers import RegionQuery, answer
from cyclelens.analyzer.engine.experiments import experiment
from cyclelens.analyzer.engine.settings import MARKERS
from cyclelens.analyzer.engine.workspace import MAX_BLOCK_BYTES, Cancel, Workspace
from cyclelens.analyzer.facts.store import TablesUnavailable
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.insight import absence, paths, wording
from cyclelens.analyzer.insight.confidence import has_unknown_costs
from cyclelens.analyzer.insight.prices import priced
from cyclelens.analyzer.insight.work import stated
from cyclelens.analyzer.isa.counted_loop import decoded_end
from cyclelens.analyzer.microarchitectures import extensions, registry
from cyclelens.analyzer.microarchitectures.variants import NoSuchVariant
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.paths import BranchingAnalysis
from cyclelens.analyzer.model.result import MissingPrediction, RegionAnalysis
from cyclelens.analyzer.model.source import (
    LINE_BYTES,
    Placement,
    Problem,
    Region,
    Severity,
)
from cyclelens.analyzer.simulator.failures import Cancelled
from cyclelens.analyzer.uops.left_out import LeftOut
from cyclelens.analyzer.uops.operands import TooManyUopsError
from msgspec import Struct
from msgspec.structs import replace

ALIGNMENTS = range(LINE_BYTES)
"""Offsets within a 64-byte line."""


class Plan(Struct, frozen=True):
    """How to simulate a region."""

    models: tuple[Microarchitecture, ...]
    mode: Mode
    placement: Placement


def at_line(
    line: int, text: str | None, code: str, message: str, severity: Severity = Severity.ERROR
) -> Problem:
    """A problem that covers a whole line."""
    width = 0
    if text is not None:
        lines = LineIndex(SourceText(text))
        width = lines.span(lines.start(line), len(text))[2]
    return Problem(line, 0, width, code, message, severity)


def plan(region: Region, target: Target, text: str | None) -> tuple[Plan, list[Problem]]:
    """Combine the marker and the options; a bad marker option becomes a problem at the marker."""
    problems: list[Problem] = []

    def problem(code: str, message: str, severity: Severity = Severity.ERROR) -> None:
        problems.append(at_line(region.first_line, text, code, message, severity))

    names: Sequence[str] = target.microarchitectures
    mode = target.mode
    placement = region.placement if target.alignment is None else Placement(target.alignment)
    placement = Placement(0, 1) if target.anywhere else placement
    for key, value in region.options.items():
        setting = MARKERS.get(key)
        if setting is None:
            message = f"unknown option '{key}'{among(key, sorted(MARKERS))}"
            problem("unknown-option", message, Severity.WARNING)
        elif key in target.forced:
            continue
        elif setting.name == "microarchitectures":
            names = [name for name in value.split(",") if name]
        elif setting.name == "mode":
            try:
                mode = Mode(value.lower())
            except ValueError:
                problem("bad-option-value", f"unknown mode '{value}'; known are {', '.join(Mode)}")
        elif setting.name == "alignment":
            given = whole_number(value)
            if given is not None and given in ALIGNMENTS:
                placement = Placement(given)
            else:
                problem("bad-option-value", f"'{value}' is not an alignment: use 0 to {ALIGNMENTS[-1]} bytes")
        elif setting.name == "work" and stated(value) is None:
            expected = "a number of elements (per=8) or of bytes (per=32B)"
            problem("bad-option-value", f"'{value}' is not an amount of work: use {expected}")
    models = []
    for name in dict.fromkeys(name.strip().upper() for name in names):
        try:
            model = registry.get(name)
            if model not in models:
                models.append(model)
        except registry.UnknownMicroarchitecture as error:
            problem("unknown-microarchitecture", str(error))
    return Plan(tuple(models), mode, placement), problems


class RegionRequest(Struct, frozen=True):
    """Inputs shared by all regions of a text, and the list that collects problems."""

    workspace: Workspace
    options: AnalysisOptions
    cancel: Cancel | None
    problems: list[Problem]


def analyse_region(
    request: RegionRequest,
    region: Region,
    plan: Plan,
    through: BranchingAnalysis | None = None,
    *,
    is_part: bool = False,
) -> RegionAnalysis:
    """Analyse a region. ``through``: the branching that the region is one path of. ``is_part``: the region is
    a basic block whose final branch stays within its region."""
    options, workspace = request.options, request.workspace
    content = workspace.version_of(region)

    def without(note: str) -> RegionAnalysis:
        version = workspace.versions.of((content, note))
        return RegionAnalysis(region=region, instruction_lines=(), predictions=(), note=note, version=version)

    if not plan.models:
        return without("The marker names no microarchitecture that Cyclelens knows.")
    if region.incomplete:
        return without("Part of the region could not be read, so it cannot be simulated as a whole.")
    code = region.code
    if not code:
        return without("The region contains no instructions.")
    if len(code) > MAX_BLOCK_BYTES:
        return without(f"The region has {len(code)} bytes of code; the limit is {MAX_BLOCK_BYTES}.")
    loop = plan.mode == Mode.LOOP or (plan.mode == Mode.AUTO and region.ends_in_jump_to_start)
    once = plan.mode == Mode.ONCE
    instructions = region.instructions
    lines = statement_of_each(instructions, region)
    simulated = instructions
    latencies = {
        index: region.latencies[line] for index, line in enumerate(lines) if line in region.latencies
    }
    note = ""
    if loop and not region.ends_in_jump_to_start:
        added = decoded_end(instructions, 1, workspace.store.caches)
        if added is None:
            return without("The region uses every register: none is left for the counter of a loop.")
        note = f"To make the region a loop, '{added[0].text}; {added[1].mnemonic}' was added to its end."
        lines += (lines[-1],) * len(added)
        code += b"".join([each.code for each in added])
        simulated += added
    # For code repeated end to end the starting position does not matter, because its copies lie at varying
    # offsets.
    placement = plan.placement if loop or options.target.anywhere else Placement(plan.placement.offset)
    missing = extensions.missing(instructions, [model.name for model in plan.models])
    unable = {each.microarchitecture for each in missing}
    forks: tuple[int, ...] = (len(instructions) - 1,) if is_part else ()
    if through is not None:
        forks = paths.instructions_of_forks(through, region, lines)
    machine = options.target.machine
    answers = []
    try:
        for model in plan.models:
            if model.name in unable:
                continue
            assumed_path = (
                () if through is None else tuple(paths.assumptions(through, model.name, forks, once=once))
            )
            query = RegionQuery(
                region.name, code, simulated, model, loop, placement, latencies, options.target.model,
                options.detail, options.source.origin, assumed_path, forks, once,
                region.is_function and not is_part, machine and machine.of(model.name),
            )  # fmt: skip
            found = answer(workspace, query, request.cancel)
            if isinstance(found, LeftOut):
                missing += (MissingPrediction(model.name, (), found.instructions, found.why, found.names),)
            else:
                answers.append(found)
    except (Cancelled, TablesUnavailable):
        raise
    except (NoSuchVariant, TooManyUopsError) as error:
        return without(str(error))
    except Exception as error:  # keep the other regions' results, and report the error
        message = internal_error(error)
        request.problems.append(
            Problem(region.first_line, 0, 0, "internal-error", message, traceback=traceback_of(error))
        )
        return without(message)
    note = note if answers else absence.sentence(missing)
    result = RegionAnalysis(
        region=region,
        instruction_lines=lines,
        predictions=tuple(each.prediction for each in answers),
        findings=(
            *(finding for lacking in missing for finding in absence.findings(lacking, simulated)),
            *(finding for each in answers for finding in each.findings),
        ),
        note=note,
        latencies=latencies,
        missing=missing,
        version=workspace.versions.of((content, note, missing, *(each.version for each in answers))),
    )
    return _priced(request, result) if options.detail.prices and result.findings and not once else result


def _priced(request: RegionRequest, region: RegionAnalysis) -> RegionAnalysis:
    """The region with the costs of its findings; costs stay unknown on a core with a lower bound."""
    findings = [each for each in region.findings if not each.microarchitecture]
    for prediction in region.predictions:
        own = [each for each in region.findings if each.microarchitecture == prediction.microarchitecture]
        if own and has_unknown_costs(prediction):
            findings += own
        elif own:
            tried = experiment(
                request.workspace, region, prediction, request.options.target.model, request.cancel
            )
            findings += priced(tried, own, wording.unit_in_words(prediction))
    known = {each.microarchitecture for each in region.predictions}
    left = [each for each in region.findings if each.microarchitecture not in ("", *known)]
    return replace(region, findings=(*left, *findings))


def statement_of_each(instructions: Iterable[Instruction], region: Region) -> tuple[int, ...]:
    """For every instruction, the index of the statement that contains its first byte."""
    # Statements without bytes (.p2align at an aligned place) start where the next one starts, so the last
    # statement that starts at or before an instruction is the right one.
    starts = [0, *accumulate(len(line.code) for line in region.lines)][:-1]
    lines = []
    position = 0
    for instruction in instructions:
        lines.append(bisect_right(starts, position) - 1)
        position += instruction.length
    return tuple(lines)
