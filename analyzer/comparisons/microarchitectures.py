"""The region on every microarchitecture: this machine's first, then each vendor's, oldest first.
The text has one line for neighbours that agree.

CPU                  cycles/byte  cycles/iter  bottleneck      front end
ZEN4 (this machine)        0.125         4.00  latency-bound   op cache   ████████████████
SNB                            -            -  SNB has no FMA
HSW and BDW                0.156         5.00  latency-bound   LSD        ████████████████████
SKL to RKL (8)             0.125         4.00  latency-bound   DSB        ████████████████
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from cyclelens.analyzer.comparisons.predictions import (
    by_name,
    figure,
    found,
    gone,
    limits,
    on_every_microarchitecture,
)
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import (
    ComparisonProgress,
    ComparisonTable,
    LowerBound,
    Rate,
    cell,
    grid,
)
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import Analysis, Prediction, Work
from cyclelens.analyzer.reports import html
from msgspec.structs import replace

_MOST_NAMES = 4
_MOST_LISTED = 2
"""Most names of a row of cores that agree; of more only the first and the last are named."""
Row = tuple[str | float | int | None, ...]
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
    columns = (COLUMNS[0], f"cycles/{work.unit}", *COLUMNS[1:]) if work else COLUMNS
    absent = {missing.microarchitecture: missing.reason for missing in region.missing}
    named = "arch" in request.options.target.forced
    rows = tuple(
        (name, *_figures(known.get(name), work), *_words(known.get(name), absent.get(name, "")))
        for name in (options.target.microarchitectures if named else _own_first(options))
        if name in known or name in absent
    )
    # The rows already say why there is no figure.
    note = region.note if region.predictions or not rows else ""
    doing = f"{work}." if work and known else ""
    folded = rows if named else tuple(_folded(rows))
    text = "\n".join(
        part for part in (grid(columns, folded, bars=columns.index("cycles/iter")), doing, note) if part
    )
    extra: dict[str, Any] = {"folded": [list(row) for row in folded]}
    if request.html and rows:
        extra["html"] = html.render(Analysis((region,), ()), title)
    yield ComparisonTable(title, columns, rows, text, extra)


def _own_first(options: AnalysisOptions) -> tuple[str, ...]:
    """All microarchitectures, this machine's first."""
    own, names = registry.native(), options.target.microarchitectures
    return names if own is None else (own.name, *(name for name in names if name != own.name))


def _folded(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, with one for neighbours of the same vendor that show the same; this machine's stays alone."""
    own = registry.native()

    def shown(row: Row) -> tuple[object, ...]:
        name = str(row[0])
        is_own = own is not None and name == own.name
        return is_own, registry.get(name).maker, *map(cell, row[1:])

    for (is_own, *_), group in groupby(rows, key=shown):
        same = list(group)
        names = [str(row[0]) for row in same]
        if is_own:
            label = f"{names[0]} (this machine)"
        elif len(names) <= _MOST_LISTED:
            label = " and ".join(names)
        else:
            label = f"{names[0]} to {names[-1]} ({len(names)})"
        yield (label, *same[0][1:])


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
    """Cycles per iteration, behind those per element or byte if the work is known."""
    if prediction is None:
        return (None, None) if work else (None,)
    cycles = figure(prediction)
    if not work:
        return (cycles,)
    return (None, cycles) if isinstance(cycles, LowerBound) else (Rate(cycles / work.amount), cycles)


def _words(prediction: Prediction | None, absent: str) -> tuple[str, str]:
    return (absent, "") if prediction is None else (limits(prediction), wording.front_end(prediction))
