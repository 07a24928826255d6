"""The region compared with the one of another file.

CPU  old.o  new.o  new.o: difference  old.o: bound by  new.o: bound by
SKL   4.00   1.00  4.0x               latency-bound    port-bound
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from cyclelens.analyzer.comparisons import pairs
from cyclelens.analyzer.comparisons.predictions import found, gone, on_every_microarchitecture
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    beside = request.beside
    assert beside is not None, "the other file is part of the request"
    sides = request, beside
    names = [PurePath(each.path).name for each in sides]
    if names[0] == names[1]:
        names = [each.path for each in sides]
    regions = [found(each, on_every_microarchitecture(request.options)) for each in sides]
    what = request.region if request.region == beside.region else f"{request.region}, {beside.region}"
    title = f"{what}: {names[0]} against {names[1]}"
    if regions[0] is None or regions[1] is None:
        missing = 0 if regions[0] is None else 1
        yield ComparisonTable(title, text=gone(sides[missing].region, names[missing]))
        return
    yield pairs.table(title, 1, (names[0], regions[0]), (names[1], regions[1]))
