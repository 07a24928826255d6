"""The region on every microarchitecture, oldest first.

CPU  cycles/iter  bottleneck     front end
SNB         5.00  latency-bound  DSB        ████████████████████
SKL         4.00  latency-bound  LSD        ████████████████
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons.predictions import (
    found,
    gone,
    limits,
    on_every_microarchitecture,
)
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import Step, Table, grid
from cyclelens.analyzer.insight import wording

COLUMNS = ("CPU", "cycles/iter", "bottleneck", "front end")


def compare(request: Request) -> Iterator[Step | Table]:
    title = f"{request.region} on every microarchitecture"
    region = found(request, on_every_microarchitecture(request.options))
    if region is None:
        yield Table(title, COLUMNS, text=gone(request.region))
        return
    rows = tuple(
        (
            prediction.microarchitecture,
            prediction.cycles_per_iteration,
            limits(prediction),
            wording.front_end(prediction),
        )
        for prediction in region.predictions
    )
    text = "\n".join(part for part in (grid(COLUMNS, rows, bars=1), region.note) if part)
    yield Table(title, COLUMNS, rows, text)
