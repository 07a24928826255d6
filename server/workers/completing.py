"""Task that measures a region's instructions without figures and adds them to tables of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from cyclelens.analyzer.characterizing.machines import opened
from cyclelens.analyzer.characterizing.own_figures import AddedFigures, add_figures, said
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.facts.importer import ImportProblem
from cyclelens.analyzer.facts.store import TablesUnavailable
from cyclelens.analyzer.measuring.harness import CannotMeasure
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.failures import Cancelled
from cyclelens.server.worker_messages.results import Job
from cyclelens.server.workers.measuring import alone

_HEARTBEAT = 1.0
"""Seconds between two signs of life: the blocking instructions alone take longer than an answer may."""
COLUMNS = ("form", "result", "added")


def complete(
    analyzer: Analyzer, job: Job, cancel: Callable[[], bool]
) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Measure what the tables lack; ``job.path`` names the user's own tables. A table without a title
    explains in its text why nothing was measured; one without rows says that the tables have all figures."""
    model = registry.native()
    regions = analyzer.analyze(job.text, alone(job)).regions
    if model is None or not regions:
        yield ComparisonTable("", text="This machine has no model." if model is None else "No such region.")
        return
    code = [each for region in regions for each in region.region.instructions]
    # In a thread of its own, so that this one can say that the worker is alive.
    thread = ThreadPoolExecutor(1, "cyclelens-measuring")
    work = thread.submit(partial(add_figures, code, model, Path(job.path), lambda _: opened(model), cancel))
    thread.shutdown(wait=False)
    while not wait([work], _HEARTBEAT).done:
        if cancel():
            raise Cancelled  # so does the thread, before it writes anything
        yield ComparisonProgress(0, 1)
    try:
        yield _table(work.result(), model.name)
    except (CannotMeasure, ImportProblem, TablesUnavailable) as error:
        yield ComparisonTable("", text=f"Nothing can be measured here: {error}.")


def _table(found: AddedFigures, core: str) -> ComparisonTable:
    rows = [(row.facts.name, said(row), int(row.facts.name in found.added)) for row in found.rows]
    rows += [(mnemonic, f"not measured: {why}", 0) for mnemonic, why in found.unknown.items()]
    lines = [f"{name}: {result}" for name, result, _ in rows]
    lines += [f"{name}: left out, because it is not known which units execute it" for name in found.left_out]
    if not rows:
        return ComparisonTable(f"{core} has figures for all instructions", COLUMNS)
    count = len(found.added)
    title = f"{count} {'form' if count == 1 else 'forms'} of {core} measured"
    return ComparisonTable(title, COLUMNS, tuple(rows), "\n".join(lines))
