"""Tasks that run a region: it is compared with its prediction, or with its rewrites."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring import equality
from cyclelens.analyzer.measuring.harness import CannotMeasure, Clock, Harness
from cyclelens.analyzer.measuring.inputs import InputsError
from cyclelens.analyzer.measuring.predicted import compare, without_figure
from cyclelens.analyzer.measuring.region import Comparison
from cyclelens.analyzer.measuring.states import described
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.analyzer.rewrites.proposal import apply
from cyclelens.server.worker_messages.results import Job
from msgspec.structs import replace

MILLISECONDS = 600
"""Time limit of a block in milliseconds: all processes together stay below the usual time limit of an
answer."""
COLUMNS = ("predicted", "microarchitecture", "measured", "spread", "steady_states")


def measure(analyzer: Analyzer, job: Job) -> ComparisonTable:
    """Measure a region. The title is for the region's line; a table without rows explains in its text why
    there is no figure."""
    model = registry.native()
    # The range of the figure is one explanation of a difference.
    options = replace(alone(job), detail=replace(job.options.detail, quick=False, alternatives=True))
    if model is not None:
        options = replace(options, target=options.target.only_on(model.name))
    regions = analyzer.analyze(job.text, options).regions
    if not regions or not regions[0].region.code:
        return _nothing(f"The text has no region '{job.region}' that can run.")
    try:
        with Harness(milliseconds=MILLISECONDS) as harness:
            found = compare(harness, regions[0], model)
            name = "" if model is None else model.name
            return _table(job.region, harness.clock, found, name, without_figure(regions[0], name))
    except (CannotMeasure, InputsError) as error:
        return _nothing(f"Nothing can be measured here: {error}.")


def alone(job: Job) -> AnalysisOptions:
    """The options for the job's region by itself."""
    return AnalysisOptions(
        replace(job.options.source, region=job.region),
        job.options.target,
        replace(job.options.detail, alternatives=False),
    )


def check(analyzer: Analyzer, job: Job) -> ComparisonTable:
    """Check rewrites. One row each: its title, the result, the result in a few words, and whether it computes
    the same."""
    options = alone(job)
    regions = analyzer.analyze(job.text, options).regions
    if not regions or not regions[0].region.code:
        return _nothing(f"The text has no region '{job.region}' that can run.")
    rows = []
    try:
        with Harness(clock=Clocks.NONE, milliseconds=MILLISECONDS) as harness:
            for fix in job.fixes:
                proposal = fix.proposal
                changed = apply(job.text, proposal.edits)
                versions = equality.VersionPair(job.text, changed, proposal.times, proposal.cleared)
                found = equality.compare(harness, versions, options.source, regions[0])
                rows.append((proposal.title, str(found), found.brief, int(found.sound)))
    except CannotMeasure as error:
        return _nothing(f"Nothing can be run here: {error}.")
    lines = [f"{title}: {found}" for title, found, _, _ in rows]
    sound = sum(row[3] for row in rows)
    title = f"of {len(rows)} rewrites {sound} compute the same"
    return ComparisonTable(title, ("rewrite", "result", "in short", "same"), tuple(rows), "\n".join(lines))


def _nothing(why: str) -> ComparisonTable:
    return ComparisonTable("", text=why)


def _table(name: str, clock: Clock, found: Comparison, model: str, without: str) -> ComparisonTable:
    """The result of a measurement as a table. ``without``: the words of ``model`` if it has no exact
    figure."""
    measured = found.measured
    if measured.cycles is None:
        return _nothing(f"{name} was not measured: {measured.problem}.")
    no_figure = f"predicted {without}" if model else "no model of this machine"
    predicted = no_figure if found.predicted is None else f"predicted {found.predicted:.2f}"
    missing = f"Predicted: {without} ({model})" if model else f"Predicted: {registry.own_name()} has no model"
    lines = [
        f"Measured on this machine: {measured.cycles:.2f} cycles per iteration, "
        f"spread {measured.spread:.1%}, by {clock.source}",
        missing if found.predicted is None else f"Predicted: {found.predicted:.2f} ({model})",
    ]
    states = described(measured.states)
    if states:
        lines.insert(1, f"Steady states: {states}")
    if found.verdict:
        lines.append(f"Verdict: {found.verdict}")
    if model and registry.native_doubt():
        lines.append(f"Processor: {registry.own_name()}")
    if clock.caution:
        lines.append(f"Caution: {clock.caution}")
    if found.note:
        lines.append(f"Code: {found.note}")
    if not found.agrees:
        lines += [f"Difference: {cause}" for cause in found.causes or ("no known assumption explains it",)]
    return ComparisonTable(
        f"{predicted}, measured {states or f'{measured.cycles:.2f}'}",
        COLUMNS,
        ((found.predicted, model or None, measured.cycles, measured.spread, states),),
        "\n".join(lines),
    )
