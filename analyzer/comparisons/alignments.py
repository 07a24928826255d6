"""The region at every offset within a 64-byte line, one bar chart for each microarchitecture.

SKL  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████
     ^                               ^ where the file puts it
  offsets 0 to 27: 1.00 cycles/iter (best)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import (
    LEAST_DIFFERENCE,
    ComparisonProgress,
    ComparisonTable,
    picture,
)
from cyclelens.analyzer.engine.regions import ALIGNMENTS
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.reports import html
from msgspec.structs import replace

_PLACE = "where the file puts it"


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Compare on the microarchitectures that the options or the marker name."""
    title = f"{request.region} at every alignment"
    first = found(request, request.options)
    if first is None or not first.predictions:
        yield ComparisonTable(title, text=first.note if first else gone(request.region))
        return
    names = [prediction.microarchitecture for prediction in first.predictions]
    target = request.options.target
    target = replace(target, anywhere=True, forced=target.forced | {"alignment", "align"})
    least = {each.microarchitecture: AT_LEAST if is_lower_bound(each) else "" for each in first.predictions}
    figures: dict[str, list[float]] = {}
    for number, name in enumerate(names, 1):
        options = replace(request.options, target=target.only_on(name))
        region = found(request, options)
        assert region is not None, "it was there a moment ago"
        places = region.predictions[0].positions
        figures[name] = [position.cycles_per_iteration for position in places]
        yield ComparisonProgress(number, len(names))
    possible = [position.offset for position in first.predictions[0].positions]
    lines = [line for name in names for line in _picture(name, figures[name], possible, least[name])]
    text = "\n".join([*lines, *([first.note] if first.note else [])])
    rows = tuple(zip(ALIGNMENTS, *figures.values(), strict=True))
    columns = names if len(names) > 1 else ["cycles/iter"]
    title = f"{title}, {', '.join(names)}"
    extra = {}
    if request.html:
        labelled = {
            name: [(str(row[0]), row[column]) for row in rows] for column, name in enumerate(names, 1)
        }
        marked = [str(offset) for offset in possible] if len(possible) < len(ALIGNMENTS) else []
        extra["html"] = html.render_columns(
            title, "offset within a 64-byte line", labelled, text, marked, _PLACE
        )
    yield ComparisonTable(title, ("offset", *columns), rows, text, extra)


def _picture(name: str, figures: Sequence[float], possible: Sequence[int], least: str) -> Iterator[str]:
    yield f"{name}  {picture(figures)}"
    if len(possible) < len(figures):
        marks = "".join("^" if offset in possible else " " for offset in ALIGNMENTS)
        yield f"{' ' * len(name)}  {marks.rstrip()} {_PLACE}"
    yield from _ranges(figures, least)


def _ranges(figures: Sequence[float], least: str) -> Iterator[str]:
    """``offsets 0 to 31: 4.00``: neighbours with equal figures are grouped; the best are marked."""
    best = min(figures)
    for cycles, group in groupby(enumerate(figures), key=lambda pair: pair[1]):
        offsets = [offset for offset, _ in group]
        where = f"offset {offsets[0]}" if len(offsets) == 1 else f"offsets {offsets[0]} to {offsets[-1]}"
        mark = " (best)" if cycles - best < LEAST_DIFFERENCE else ""
        yield f"  {where}: {least}{cycles:.2f} cycles/iter{mark}"
