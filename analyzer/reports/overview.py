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
    rows = [("line", "cycles/iter", "", "bottleneck", "region"), *map(_row, analysis.regions)]
    number, cycles, rate, limit = (max(len(row[column]) for row in rows) for column in range(4))
    for row in rows:
        yield (
            f"{row[0]:>{number}}  {row[1]:>{cycles}}  {row[2]:<{rate}}  {row[3]:<{limit}}  {row[4]}".rstrip()
        )


def _row(region: RegionAnalysis) -> tuple[str, str, str, str, str]:
    line, name = str(region.region.first_line + 1), region.region.name
    if not region.predictions:
        return line, "-", "", "no prediction", name
    first = region.predictions[0]
    return line, wording.figure_of(first), work.rate(region, first), wording.bound_of(first), name
