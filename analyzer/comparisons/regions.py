"""The region compared with another one of the same text.

CPU   dot  dot4  dot: difference        dot per byte  dot4 per byte  dot: bound by  dot4: bound by
SKL  4.00  4.00  +300 % time per byte         0.125          0.031  latency-bound  latency- and port-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons import pairs
from cyclelens.analyzer.comparisons.predictions import found, gone, on_every_microarchitecture
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    title = f"{request.region} against {request.other}"
    options = on_every_microarchitecture(request.options)
    left, right = found(request, options), found(request, options, name=request.other)
    if left is None or right is None:
        yield ComparisonTable(title, text=gone(request.region if left is None else request.other))
        return
    yield pairs.table(title, 0, (request.region, left), (request.other, right))
