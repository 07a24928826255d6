"""Changes that would make the region faster: many, one at a time and in pairs, and how much each saves.

cycles/float  saves  cycles/iter  change                                                      then bound by
       0.125   2.00         2.00  4 accumulators in place of ymm0 and ymm3, unrolled 2 times  port-bound
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable, Rate, grid
from cyclelens.analyzer.engine.experiments import experiment as experiment_with
from cyclelens.analyzer.insight import as_written, vocabulary, wording
from cyclelens.analyzer.insight.confidence import has_unknown_costs, is_lower_bound, lacking
from cyclelens.analyzer.insight.sensitivity import ChangeKind, TriedChange, explore, helpful
from cyclelens.analyzer.insight.vocabulary import Vocabulary
from cyclelens.analyzer.insight.whatif import ChangeResult, Experiment
from cyclelens.analyzer.insight.work import pace_of, work_of
from cyclelens.analyzer.model.result import Prediction, Work

COLUMNS = ("saves", "cycles/iter", "change", "then bound by", "kind")
_MOST_ROWS = 12
"""Largest number of changes of each kind in the text."""
_HEADINGS = {
    ChangeKind.REWRITE: "",
    ChangeKind.REMOVAL: "What instructions cost (without them the kernel computes something else):",
    ChangeKind.PROCESSOR: "On another processor:",
}


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Compare on the first microarchitecture that the options or the marker name."""
    title = f"What would help {request.region}"
    region = found(request, request.options)
    if region is None or not region.predictions:
        yield ComparisonTable(title, COLUMNS, text=region.note if region else gone(request.region))
        return
    prediction = region.predictions[0]
    work = None if is_lower_bound(prediction) else work_of(region)
    if has_unknown_costs(prediction):
        yield ComparisonTable(title, COLUMNS, text=incomparable(prediction))
        return
    experiment = experiment_with(
        request.analyzer.workspace, region, prediction, request.options.target.model, request.cancel
    )
    base = experiment.baseline()
    tried = []
    for each, left in explore(experiment, base, as_written.with_places(region, prediction)):
        tried.append(each)
        yield ComparisonProgress(len(tried), len(tried) + left)
    words = vocabulary.of(prediction.microarchitecture)
    text = "\n".join(answer(experiment, base, tried, work))
    yield ComparisonTable(title, columns(work), rows(tried, words, work), text)


def incomparable(prediction: Prediction) -> str:
    """Why no changes are tried with a lower bound: a saving is a difference of two exact figures."""
    return (
        f"{wording.cycles_per(prediction)} on {prediction.microarchitecture}: "
        f"{lacking(prediction)}, so the savings of changes are not known."
    )


def columns(work: Work | None) -> tuple[str, ...]:
    """``COLUMNS``, behind the cycles per element or byte if the work is known."""
    return (f"cycles/{work.unit}", *COLUMNS) if work else COLUMNS


def rows(
    tried: Sequence[TriedChange], words: Vocabulary, work: Work | None
) -> tuple[tuple[str | float, ...], ...]:
    """Helpful changes as rows of ``columns``: rewrites first, each kind sorted by saving."""
    return tuple(
        (
            *([Rate(each.result.cycles_per_iteration / work.amount)] if work else ()),
            each.saves,
            each.result.cycles_per_iteration,
            each.change.words,
            wording.bound_by(words, each.result.bottlenecks),
            str(each.change.kind),
        )
        for each in helpful(tried)
        if each.result is not None
    )


def answer(
    experiment: Experiment, base: ChangeResult, tried: Sequence[TriedChange], work: Work | None
) -> Iterator[str]:
    """The result as text, line by line, with the region's present bottleneck."""
    prediction = experiment.prediction
    words = vocabulary.of(prediction.microarchitecture)
    yield (
        f"{pace_of(prediction, base.cycles_per_iteration, work)} on {prediction.microarchitecture}, "
        f"{wording.mode(prediction.mode)}, {wording.bound_by(words, base.bottlenecks)}"
    )
    found = rows(tried, words, work)
    yield from _chains(experiment, any(row[-1] == ChangeKind.REWRITE for row in found))
    count = sum(each.result is not None for each in tried)
    yield f"{count} changes and pairs of changes tried, {len(found)} of them help{':' if found else '.'}"
    for kind, heading in _HEADINGS.items():
        own = [row[:-1] for row in found if row[-1] == kind]
        if own and heading:
            yield heading
        if own:
            yield from grid(columns(work)[:-1], own[:_MOST_ROWS]).split("\n")
        if len(own) > _MOST_ROWS:
            yield f"and {len(own) - _MOST_ROWS} more"


def _chains(experiment: Experiment, rewritten: bool) -> Iterator[str]:
    """Number of chains to break, and why no rewrite does that; ``rewritten``: a rewrite helps."""
    prediction = experiment.prediction
    if "Dependencies" not in prediction.bottlenecks or prediction.cycles_per_iteration <= 1:
        return  # no loop is faster, and the loop counter always forms a chain
    if prediction.tied_chains > 1:
        yield (
            f"{prediction.tied_chains} chains tie at {prediction.bounds['Dependencies']:.2f}: "
            "shortening only one of them does not help."
        )
    updates = {number for each in experiment.accumulators for number in each.updates}
    if not rewritten and not all(number in updates for number, cycles in prediction.chain if cycles):
        yield (
            "Not every chain accumulates a sum, a product or the like in one register; "
            "the others cannot be split over several registers."
        )
