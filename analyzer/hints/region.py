"""Shows a region's result on its first line.

# cyclelens-begin dot        4.00 cycles/iter · SKL · latency-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import END_OF_LINE, LINE_BUDGET
from cyclelens.analyzer.insight import absence, label, mispredictions, vocabulary, wording, work
from cyclelens.analyzer.insight.assumptions import heading
from cyclelens.analyzer.insight.confidence import reservations
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "region"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint at the opening marker: the figure of the primary core, or why there is none."""
    labels = label.of_region(region)
    if not labels:
        return
    yield Hint(
        line=region.region.first_line,
        column=END_OF_LINE,
        label=label.render(labels[0], LINE_BUDGET),
        tooltip="\n".join(_tooltip(region)) if region.predictions else region.note,
        kind=KIND,
    )


def _tooltip(region: RegionAnalysis) -> Iterator[str]:
    for prediction in region.predictions:
        yield (
            f"{prediction.microarchitecture}: {wording.rounded(prediction)} "
            f"{wording.unit_in_words(prediction)}"
            f"{wording.elsewhere(prediction)}{wording.one_pass(prediction)}, "
            f"{wording.mode(prediction.mode)}, {wording.bound_of(prediction)}"
        )
    if region.weight is not None:
        yield f"In the profile: {wording.weight(region.weight)}."
    if region.missing:
        yield f"No figure: {absence.sentence(region.missing)}"
    prediction = region.predictions[0]
    yield ""
    yield from wording.explanations(prediction)
    if doing := work.sentence(region, prediction):
        yield f"Work: {doing}."
    words = vocabulary.of(prediction.microarchitecture)
    yield f"{words.uop.capitalize()} come from {wording.front_end(prediction)}."
    if bounds := wording.bounds(prediction):
        yield f"Bounds: {', '.join(bounds)}."
    yield from mispredictions.sentences(prediction)
    if prediction.account is not None:
        yield f"{words.slots.capitalize()}: {wording.slots(words, prediction.account)}."
    yield from reservations(prediction)
    yield from (f"{heading(each)}: {each.message}" for each in prediction.assumptions)
    if region.note:
        yield region.note
