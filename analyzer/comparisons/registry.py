"""List of comparisons. To add one, add a file beside this one and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cyclelens.analyzer.comparisons import (
    alignments,
    files,
    instructions,
    microarchitectures,
    regions,
    sensitivity,
    timelines,
    tools,
    versions,
)
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable

COMPARISONS: dict[str, Callable[[ComparisonRequest], Iterator[ComparisonProgress | ComparisonTable]]] = {
    "microarchitectures": microarchitectures.compare,
    "alignments": alignments.compare,
    "region": regions.compare,
    "version": versions.compare,
    "file": files.compare,
    "committed": versions.figure,
    "sensitivity": sensitivity.compare,
    "timeline": timelines.compare,
    "instructions": instructions.compare,
    "tools": tools.compare,
}
"""By the name that commands and the server use. Each yields its progress, if it takes long, and then the
table; it raises what the analyzer raises."""


def table(kind: str, request: ComparisonRequest) -> ComparisonTable:
    """The table of a comparison, without its progress."""
    *_, last = COMPARISONS[kind](request)
    assert isinstance(last, ComparisonTable), "a comparison ends with its table"
    return last
