"""The region compared with the one of the same name in a committed version of the file.

CPU  HEAD   now  now: difference  HEAD: bound by  now: bound by
SKL  4.00  1.00  4.0x             latency-bound   port-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons import pairs
from cyclelens.analyzer.comparisons.history import NoVersion, committed
from cyclelens.analyzer.comparisons.predictions import figure as figure_of
from cyclelens.analyzer.comparisons.predictions import found, gone, on_every_microarchitecture
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.insight.work import work_of

_NOW = "now"


def figure(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """The figure of the committed version alone, with its text; without rows if there is none."""
    title = f"{request.region} in {request.revision}"
    try:
        allowed = request.options.source.allow_external_programs
        before = committed(request.path, request.revision) if allowed else ""
    except NoVersion as error:
        yield ComparisonTable(title, text=str(error))
        return
    old = found(request, request.options, text=before) if before else None
    if old is None or not old.predictions:
        yield ComparisonTable(title, text=gone(request.region, f"{request.revision}'s version of the file"))
        return
    first = old.predictions[0]
    work = work_of(old)
    source = before.splitlines()[old.region.first_line : old.region.last_line + 1]
    yield ComparisonTable(
        title,
        ("CPU", "cycles/iter"),
        ((first.microarchitecture, figure_of(first)),),
        extra={
            "source": "\n".join(source),
            "work": None if work is None else [work.amount, work.unit, work.source],
        },
    )


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Compare with a committed version. Runs git, and therefore only if the options allow external
    programs."""
    title = f"{request.region} against {request.revision}"
    if not request.options.source.allow_external_programs:
        text = "Git is not run here: external programs are not allowed for untrusted files."
        yield ComparisonTable(title, text=text)
        return
    try:
        before = committed(request.path, request.revision)
    except NoVersion as error:
        yield ComparisonTable(title, text=str(error))
        return
    options = on_every_microarchitecture(request.options)
    old, new = found(request, options, text=before), found(request, options)
    if new is None:
        yield ComparisonTable(title, text=gone(request.region))
        return
    if old is None:
        yield ComparisonTable(title, text=gone(request.region, f"{request.revision}'s version of the file"))
        return
    yield pairs.table(title, 1, (request.revision, old), (_NOW, new))
