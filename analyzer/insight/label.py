"""Labels of regions: from an analysis to parts, and from parts to text.

0.500 cycles/float · 4.00 cycles/iter · SKL · latency-bound (LCP)
3.42 -> 1.00, 3.4x · SKL · issue-bound
8.00 cycles/iter · SKL · latency-bound · rewrite: 2.00
predicted 4.00, measured 4.02 · SKL · latency-bound (stale)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from cyclelens.analyzer.insight import vocabulary, wording, work
from cyclelens.analyzer.insight.confidence import doubt, lacking, shows_at_least
from cyclelens.analyzer.insight.memory_levels import wording as levels
from cyclelens.analyzer.insight.mispredictions import suffix
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.label import AT_LEAST, Note, RegionLabel
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Severity
from msgspec.structs import replace

STALE = " (stale)"
_JOINT = " · "
_LEAST = 30
"""Characters reserved behind a measured figure: ``SKL · latency-bound (LCP)``."""
_LEAST_WITH_FIGURE = 48
"""The same where the measured figure is of another core: ``4.00 cycles/iter · SKL · latency-bound``."""
_LEAST_CUT = 16
"""Fewest characters to which the reason for a lower bound is cut."""


def of_prediction(prediction: Prediction) -> RegionLabel:
    """The parts that a prediction gives by itself."""
    average, name = wording.on_average(prediction), prediction.microarchitecture
    once = prediction.once if prediction.mode is not Mode.ONCE else None
    lacks, words, binding = lacking(prediction), vocabulary.of(name), wording.binding(prediction)
    sum_of = suffix(prediction)
    elsewhere: tuple[Note, ...] = (
        Note(binding, binding),
        Note(wording.at_positions(prediction), wording.by_position(prediction)),
    )
    limits: Iterable[str] = (wording.bound_by(words, prediction.bottlenecks, limit) for limit in (None, 0))
    if levels.is_transfer_bound(prediction):
        limits, elsewhere = (wording.TRANSFER_BOUND,), ()
    return RegionLabel(
        number=f"{prediction.shown_cycles:.2f}",
        least=shows_at_least(prediction),
        approximate=bool(doubt(prediction)),
        unit=wording.unit(prediction),
        elsewhere=(
            Note(levels.suffix(prediction), levels.suffix(prediction)),
            Note(sum_of, sum_of),
            *elsewhere,
        ),
        once=Note(wording.one_pass(prediction), "" if once is None else f" ({once.cycles} once)"),
        average="" if average is None or sum_of else f"{average:.2f}",
        core=name,
        limits=() if lacks else tuple(dict.fromkeys(limits)),
        lacks=lacks,
    )


def of_region(region: RegionAnalysis) -> tuple[RegionLabel, ...]:
    """A label per prediction; the first also has what is known of the region as a whole. For a region without
    predictions one label with the reason; none if there is no reason either."""
    if not region.predictions:
        reason = "; ".join(each.brief for each in region.missing) or "no prediction"
        return (RegionLabel(reason=reason),) if region.note else ()
    first, *others = region.predictions
    stalls = dict.fromkeys(
        finding.label
        for finding in region.findings
        if finding.microarchitecture == first.microarchitecture
        and finding.severity is not Severity.INFORMATION
    )
    label = replace(
        of_prediction(first),
        share="" if region.weight is None else f"{region.weight.share:.0%} of the profile",
        stalls=tuple(stalls),
    )
    return (
        _with_rate(label, region, first),
        *(_with_rate(of_prediction(each), region, each) for each in others),
    )


def _with_rate(label: RegionLabel, region: RegionAnalysis, prediction: Prediction) -> RegionLabel:
    """The label with its figure by work; without one if it shows an average."""
    return replace(label, rate="" if label.average else work.rate(region, prediction))


def headline(labels: Sequence[RegionLabel], *, stale: bool = False) -> str:
    """The figures in a list: ``4.00 cycles/iter · SKL · latency-bound``, then those of the other cores. Empty
    if there are none."""
    texts = [render(replace(label, share="", stalls=())) for label in labels if label.number]
    return ", ".join(texts) + (STALE if stale and texts else "")


def status(label: RegionLabel) -> str:
    """The figure in a status bar: ``4.00 cycles/iter · SKL``; empty if there is none."""
    if not label.number:
        return ""
    return render(
        RegionLabel(
            number=label.number,
            least=label.least,
            approximate=label.approximate,
            unit=label.unit,
            elsewhere=label.elsewhere,
            once=label.once,
            core=label.core,
            rate=label.rate,
            stale=label.stale,
        )
    )


def render(label: RegionLabel, budget: int | None = None) -> str:
    """The label as text of at most ``budget`` characters, None for all it has. A measured figure, the core,
    and what limits it are shown in any case.

    Within a budget the figure comes first, then each part that fits, in whole words. The core of a changed
    figure is the first to go, because it does not change.
    """
    room = (sys.maxsize if budget is None else budget) - (len(STALE) if label.stale else 0)
    measured = label.measured.text
    if measured:
        least = _LEAST if label.measured.predicted else _LEAST_WITH_FIGURE
        room = max(room - len(measured + _JOINT), min(room, least))
    narrow = budget is not None
    words = _advised(label, room, narrow) or _explained(label, room, narrow)
    return _joined([measured, words]) + (STALE if label.stale else "")


def _advised(label: RegionLabel, room: int, narrow: bool) -> str:
    """The figure, its core, what limits it, and the longest advice that fits; with the rate alone or without
    the unit if there is no other way. Empty if nothing fits."""
    limits, rate = list(_limits(label)) or [""], _rate(label)
    shorter = [rate, rate.split(" ")[0]] if rate else [_figure(label, mean=narrow, with_unit=False)]
    for figure in (_joined([rate, _figure(label, mean=narrow)]), *shorter):
        for words, limit in product(label.advice, limits):
            text = _joined([figure, label.core, limit, words])
            if len(text) <= room:
                return text
    return ""


def _explained(label: RegionLabel, room: int, narrow: bool) -> str:
    """The figure, and what explains it."""
    head = _head(label, room, narrow)
    left = room - len(head)
    joint = len(_JOINT) if head else 0
    core, limit = [label.core], list(_limits(label))
    if label.share and narrow:
        ordered = {"share": [label.share], "core": core}
    elif label.change:
        ordered = {"limit": limit, "core": core}
    else:
        ordered = {"share": [label.share], "core": core, "limit": limit}
    kept: dict[str, str] = {}
    for name, wordings in ordered.items():
        if not any(wordings):
            continue
        text = next((each for each in wordings if joint + len(each) <= left), None)
        if text is None and name == "limit" and left - joint >= _LEAST_CUT and label.lacks:
            text = _cut(label.lacks, left - joint)
        if text is None:
            break
        kept[name], left, joint = text, left - joint - len(text), len(_JOINT)
    return _joined([head, *(kept.get(name, "") for name in ("share", "core", "limit"))])


def _head(label: RegionLabel, room: int, narrow: bool) -> str:
    """The figure with the remarks that fit, or why there is none.

    A narrow line shows the rate alone if core and limit would not fit behind both figures.
    """
    if label.reason:
        return _cut(label.reason, room)
    figure, rate = _figure(label, mean=narrow), _rate(label)
    if not figure:
        return ""
    if rate:
        rest = sum(len(_JOINT + part) for part in (label.core, *list(_limits(label))[-1:]) if part)
        rate += _also(label)
        left = room - rest - len(rate + _JOINT)
        both = len(figure) <= left
        return _joined([rate, _remarked(label, figure, narrow, left)]) if both else _cut(rate, room)
    also = _also(label)
    return _cut(_remarked(label, figure, narrow, room - len(also)) + also, room)


def _also(label: RegionLabel) -> str:
    return f" (also {', '.join(label.also)})" if label.also else ""


def _remarked(label: RegionLabel, figure: str, narrow: bool, room: int) -> str:
    """The figure with the remarks that fit."""
    left = room - len(figure)
    notes: tuple[Note, ...] = (*label.elsewhere, label.once)
    if narrow and label.share:
        notes = ()
    elif narrow and label.average:
        notes = (label.once,)  # each path has figures of its own at other positions
    for note in notes:
        text = note.brief if narrow else note.whole
        if len(text) <= left:
            figure, left = figure + text, left - len(text)
    return figure


def _figure(label: RegionLabel, *, mean: bool, with_unit: bool = True) -> str:
    """The figure or its change; empty if the measured figure says it already."""
    mark = _mark(label)
    if label.change:
        return mark + label.change
    if label.measured.predicted and label.measured.predicted == f"{mark}{label.figure}":
        return ""
    unit = f" {label.unit}" if with_unit else ""
    least = AT_LEAST if label.least else ""
    if label.average and mean:
        return f"{least}{label.average}{unit}{'' if label.share else ' on average'}"
    return f"{least}{mark}{label.number}{unit}"


def _rate(label: RegionLabel) -> str:
    """The figure by work; empty beside a change or a measurement, which say it in their own way."""
    return "" if label.change or label.measured.text or not label.rate else _mark(label) + label.rate


def _mark(label: RegionLabel) -> str:
    return "~" if label.approximate else ""


def _limits(label: RegionLabel) -> Iterator[str]:
    """The wordings of what limits the region, the best first."""
    for words in label.limits or filter(None, [label.lacks]):
        if label.stalls:
            yield f"{words} ({', '.join(label.stalls)})"
        yield words


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def _joined(parts: Sequence[str]) -> str:
    return _JOINT.join(part for part in parts if part)
