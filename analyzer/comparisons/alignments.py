"""The region at every offset within a 64-byte line, one small picture for each microarchitecture.

SKL  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████
  offsets 0 to 27: 1.00 cycles/iter (best)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from cyclelens.analyzer.api import ALIGNMENTS
from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import LEAST_DIFFERENCE, Step, Table, picture
from cyclelens.analyzer.reports import html


def compare(request: Request) -> Iterator[Step | Table]:
    """On the microarchitectures that options or marker name."""
    title = f"{request.region} at every alignment"
    options = replace(request.options, region=request.region)
    first = found(request, options)
    if first is None or not first.predictions:
        yield Table(title, text=first.note if first else gone(request.region))
        return
    names = tuple(prediction.microarchitecture for prediction in first.predictions)
    variants = [
        replace(
            options,
            microarchitectures=names,
            alignment=offset,
            forced=options.forced | {"arch", "alignment", "align"},
        )
        for offset in ALIGNMENTS
    ]
    rows = []
    for offset, analysis in enumerate(request.analyzer.variants(request.text, variants, request.cancel)):
        predictions = analysis.regions[0].predictions
        rows.append((offset, *(prediction.cycles_per_iteration for prediction in predictions)))
        yield Step(offset + 1, len(variants))
    lines = [
        line for column, name in enumerate(names, 1) for line in _picture(name, [row[column] for row in rows])
    ]
    text = "\n".join([*lines, *([first.note] if first.note else [])])
    columns = names if len(names) > 1 else ("cycles/iter",)
    title = f"{title}, {', '.join(names)}"
    extra = {}
    if request.html:
        figures = {name: [(str(row[0]), row[column]) for row in rows] for column, name in enumerate(names, 1)}
        extra["html"] = html.render_columns(title, "offset within a 64-byte line", figures, text)
    yield Table(title, ("offset", *columns), tuple(rows), text, extra)


def _picture(name: str, figures: Sequence[float]) -> Iterator[str]:
    yield f"{name}  {picture(figures)}"
    yield from _ranges(figures)


def _ranges(figures: Sequence[float]) -> Iterator[str]:
    """``offsets 0 to 31: 4.00``: neighbours with the same figure together; the best are marked."""
    best = min(figures)
    for cycles, group in groupby(enumerate(figures), key=lambda pair: pair[1]):
        offsets = [offset for offset, _ in group]
        where = f"offset {offsets[0]}" if len(offsets) == 1 else f"offsets {offsets[0]} to {offsets[-1]}"
        mark = " (best)" if cycles - best < LEAST_DIFFERENCE else ""
        yield f"  {where}: {cycles:.2f} cycles/iter{mark}"
