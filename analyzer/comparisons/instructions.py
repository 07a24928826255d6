"""The region's instructions with all their figures, for a panel beside the text."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports import html, text
from msgspec.structs import replace


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """The report of the region alone, without its timeline."""
    title = f"Instructions of {request.region}"
    region = found(request, replace(request.options, detail=replace(request.options.detail, account=True)))
    if region is None or not region.predictions:
        yield ComparisonTable(title, text=region.note if region else gone(request.region))
        return
    alone = Analysis((region,), ())
    extra = {"html": html.render(alone, title)} if request.html else {}
    yield ComparisonTable(title, text=text.render(alone, title), extra=extra)
