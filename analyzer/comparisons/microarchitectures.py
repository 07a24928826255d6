"""The region on every microarchitecture, oldest first.

CPU  cycles/iter  cycles/byte  bottleneck      front end
SNB            -            -  SNB has no FMA
HSW         5.00        0.156  latency-bound   LSD        ████████████████████
SKL         4.00        0.125  latency-bound   LSD        ████████████████
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons.predictions import (
    by_name,
    figure,
    found,
    gone,
    limits,
    on_every_microarchitecture,
)
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable, LowerBound, Rate, grid
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import Analysis, Prediction, Work
from cyclelens.analyzer.reports import html
from msgspec.structs import replace

_MOST_NAMES = 4
COLUMNS = ("CPU", "cycles/iter", "bottleneck", "front end")


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    title = f"{request.region} on {_which(request.options)}"
    options = on_every_microarchitecture(request.options)
    options = replace(options, detail=replace(options.detail, account=request.html))
    region = found(request, options)
    if region is None:
        yield ComparisonTable(title, COLUMNS, text=gone(request.region))
        return
    known, work = by_name(region), work_of(region)
    columns = (*COLUMNS[:2], f"cycles/{work.unit}", *COLUMNS[2:]) if work else COLUMNS
    absent = {missing.microarchitecture: missing.reason for missing in region.missing}
    rows = tuple(
        (name, *_figures(known.get(name), work), *_words(known.get(name), absent.get(name, "")))
        for name in options.target.microarchitectures
        if name in known or name in absent
    )
    # The rows already say why there is no figure.
    note = region.note if region.predictions or not rows else ""
    doing = f"{work}." if work and known else ""
    text = "\n".join(part for part in (grid(columns, rows, bars=1), doing, note) if part)
    extra = {"html": html.render(Analysis((region,), ()), title)} if request.html and rows else {}
    yield ComparisonTable(title, columns, rows, text, extra)


def _which(options: AnalysisOptions) -> str:
    """``every microarchitecture``; if the user named some ``SKL``, ``SKL, ICL and ZEN3``, ``5
    microarchitectures``."""
    if "arch" not in options.target.forced:
        return "every microarchitecture"
    *names, last = options.target.microarchitectures
    if len(names) >= _MOST_NAMES:
        return f"{len(names) + 1} microarchitectures"
    return f"{', '.join(names)} and {last}" if names else last


def _figures(prediction: Prediction | None, work: Work | None) -> tuple[float | None, ...]:
    """Cycles per iteration, and per element or byte if the work is known."""
    if prediction is None:
        return (None, None) if work else (None,)
    cycles = figure(prediction)
    if not work:
        return (cycles,)
    return (cycles, None) if isinstance(cycles, LowerBound) else (cycles, Rate(cycles / work.amount))


def _words(prediction: Prediction | None, absent: str) -> tuple[str, str]:
    return (absent, "") if prediction is None else (limits(prediction), wording.front_end(prediction))
