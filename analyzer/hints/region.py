"""Shows a region's result on its first line.

# cyclelens-begin dot        4.00 cycles/iter · SKL · latency-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import END_OF_LINE, LINE_BUDGET
from cyclelens.analyzer.insight import absence, vocabulary, wording, work
from cyclelens.analyzer.insight.confidence import reservations
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Hint, RegionAnalysis
from cyclelens.analyzer.model.source import Severity

KIND = "region"
_COUNTED = {"cycles/iter": "cycles per iteration", "cycles/call": "cycles per call", "cycles": "cycles"}


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint at the opening marker: the figure of the primary core, or why there is none."""
    if region.predictions:
        label, tooltip = _label(region), "\n".join(_tooltip(region))
    elif region.note:
        # The reason is short enough for a label if the core lacks an instruction.
        label = "; ".join(each.brief for each in region.missing) or "no prediction"
        tooltip = region.note
    else:
        return
    yield Hint(line=region.region.first_line, column=END_OF_LINE, label=label, tooltip=tooltip, kind=KIND)


def _label(region: RegionAnalysis) -> str:
    prediction = region.predictions[0]
    elsewhere = wording.elsewhere(prediction, "")
    average = wording.on_average(prediction)
    cycles = wording.rounded(prediction) if average is None else wording.figure_of(prediction, average)
    # Paths have figures of their own at every position of the region.
    where = elsewhere if average is None else " on average"
    if region.weight is not None:
        share = f"{region.weight.share:.0%} of the profile"
        return f"{cycles} {wording.unit(prediction)} · {share} · {prediction.microarchitecture}"
    once = (
        "" if prediction.once is None or prediction.mode is Mode.ONCE else f" ({prediction.once.cycles} once)"
    )
    figure = f"{cycles} {wording.unit(prediction)}{where}{once} · {prediction.microarchitecture}"
    head = f"{figure} · "
    words = wording.bound_of(prediction, LINE_BUDGET - len(head))
    if elsewhere and len(head) + len(words) > LINE_BUDGET:
        return figure
    stalls = dict.fromkeys(
        finding.label
        for finding in region.findings
        if finding.microarchitecture == prediction.microarchitecture
        and finding.severity is not Severity.INFORMATION
    )
    with_stalls = f"{words} ({', '.join(stalls)})"
    label = head + (with_stalls if stalls and len(head) + len(with_stalls) <= LINE_BUDGET else words)
    paced = f"{label} · {work.rate(region, prediction)}"
    return label if paced.endswith(" · ") or len(paced) > LINE_BUDGET else paced


def _tooltip(region: RegionAnalysis) -> Iterator[str]:
    for prediction in region.predictions:
        yield (
            f"{prediction.microarchitecture}: {wording.rounded(prediction)} "
            f"{_COUNTED[wording.unit(prediction)]}"
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
    if prediction.account is not None:
        yield f"{words.slots.capitalize()}: {wording.slots(words, prediction.account)}."
    yield from reservations(prediction)
    yield from (f"Assumed: {assumption.message}" for assumption in prediction.assumptions)
    if region.note:
        yield region.note
