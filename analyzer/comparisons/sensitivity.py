"""What would make the region faster: many changes, one at a time, and what each saves.

saves  cycles/iter  change                                  then bound by
 3.00         1.00  without line 16: vfmadd231ps ...        port-bound
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import Step, Table, grid
from cyclelens.analyzer.insight import as_written, wording
from cyclelens.analyzer.insight.whatif import helpful, sensitivity

COLUMNS = ("saves", "cycles/iter", "change", "then bound by")


def compare(request: Request) -> Iterator[Step | Table]:
    """On the first microarchitecture that options or marker name."""
    title = f"What would help {request.region}"
    region = found(request, request.options)
    if region is None or not region.predictions:
        yield Table(title, COLUMNS, text=region.note if region else gone(request.region))
        return
    prediction = region.predictions[0]
    experiment = request.analyzer.experiment(region, prediction, request.options.model, request.cancel)
    base = experiment.baseline()
    changes = sensitivity(experiment, as_written.with_places(region, prediction))
    outcomes = []
    for number, change in enumerate(changes, 1):
        outcomes += [outcome] if (outcome := change()) is not None else []
        yield Step(number, len(changes))
    rows = tuple(
        (
            base.cycles_per_iteration - outcome.cycles_per_iteration,
            outcome.cycles_per_iteration,
            outcome.change,
            wording.bound_by(outcome.bottlenecks),
        )
        for outcome in helpful(base, outcomes)
    )
    head = (
        f"{base.cycles_per_iteration:.2f} cycles/iter on {prediction.microarchitecture}, "
        f"{wording.bound_by(base.bottlenecks)}; {len(outcomes)} changes tried, {len(rows)} of them help."
    )
    yield Table(title, COLUMNS, rows, "\n".join([head, *([grid(COLUMNS, rows)] if rows else [])]))
