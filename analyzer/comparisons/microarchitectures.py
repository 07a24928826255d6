"""The region on every microarchitecture, oldest first.

CPU  cycles/iter  bottleneck     front end
SNB            -  SNB has no FMA
HSW         5.00  latency-bound  LSD        ████████████████████
SKL         4.00  latency-bound  LSD        ████████████████
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cyclelens.analyzer.comparisons.predictions import (
    by_name,
    found,
    gone,
    limits,
    on_every_microarchitecture,
)
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import Step, Table, grid
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports import html

COLUMNS = ("CPU", "cycles/iter", "bottleneck", "front end")


def compare(request: Request) -> Iterator[Step | Table]:
    title = f"{request.region} on every microarchitecture"
    options = replace(on_every_microarchitecture(request.options), account=request.html)
    region = found(request, options)
    if region is None:
        yield Table(title, COLUMNS, text=gone(request.region))
        return
    known = by_name(region)
    absent = {missing.microarchitecture: missing.reason for missing in region.missing}
    rows = tuple(
        (name, known[name].cycles_per_iteration, limits(known[name]), wording.front_end(known[name]))
        if name in known
        else (name, None, absent[name], "")
        for name in options.microarchitectures
        if name in known or name in absent
    )
    # The rows say why there is no figure.
    note = region.note if region.predictions or not rows else ""
    text = "\n".join(part for part in (grid(COLUMNS, rows, bars=1), note) if part)
    extra = {"html": html.render(Analysis((region,), ()), title)} if request.html and rows else {}
    yield Table(title, COLUMNS, rows, text, extra)
