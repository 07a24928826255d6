"""The region against another one of the same text.

CPU   dot  dot_unrolled  difference  dot is         dot_unrolled is
SKL  4.00          1.00       -75 %  latency-bound  port-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons import pairs
from cyclelens.analyzer.comparisons.predictions import found, gone, on_every_microarchitecture
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import Step, Table


def compare(request: Request) -> Iterator[Step | Table]:
    title = f"{request.region} against {request.other}"
    options = on_every_microarchitecture(request.options)
    left, right = found(request, options), found(request, options, name=request.other)
    if left is None or right is None:
        yield Table(title, text=gone(request.region if left is None else request.other))
        return
    yield pairs.table(title, (request.region, left), (request.other, right))
