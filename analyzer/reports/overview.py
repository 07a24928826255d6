"""The regions of a long report at a glance: one line for each, in front of the details."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import wording, work
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis

_FEWEST = 4
"""Fewest regions that have an overview."""


def lines(analysis: Analysis) -> Iterator[str]:
    """A line per region with its figure on the first core and its bottleneck; nothing for a few regions."""
    if len(analysis.regions) < _FEWEST:
        return
    rows = [_row(each) for each in analysis.regions]
    head = "place" if any(not row[0].isdecimal() for row in rows) else "line"
    rows.insert(0, (head, "cycles/iter", "", "bottleneck", "region"))
    number, cycles, rate, limit = (max(len(row[column]) for row in rows) for column in range(4))
    for row in rows:
        yield (
            f"{row[0]:>{number}}  {row[1]:>{cycles}}  {row[2]:<{rate}}  {row[3]:<{limit}}  {row[4]}".rstrip()
        )


def _row(region: RegionAnalysis) -> tuple[str, str, str, str, str]:
    place, name = wording.region_place(region.region).removeprefix("line "), region.region.name
    if not region.predictions:
        return place, "-", "", "no prediction", name
    first = region.predictions[0]
    return place, wording.figure_of(first), work.rate(region, first), wording.bound_of(first), name
