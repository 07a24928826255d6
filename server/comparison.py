"""One region under other conditions: on every microarchitecture, at every alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

from cyclelens.analyzer.api import ALIGNMENTS, Analyzer
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import AnalysisOptions, Prediction
from cyclelens.server.results import Comparison, Job

Cancel = Callable[[], bool]

_BARS = "▁▂▃▄▅▆▇█"


def compare(analyzer: Analyzer, job: Job, cancel: Cancel) -> Comparison:
    """The comparison that a job asks for. Raises whatever the analyzer raises."""
    return (microarchitectures if job.task == "compare" else alignments)(analyzer, job, cancel)


def microarchitectures(analyzer: Analyzer, job: Job, cancel: Cancel) -> Comparison:
    """The region on every microarchitecture, oldest first."""
    options = replace(
        job.options,
        microarchitectures=registry.names(),
        region=job.region,
        forced=job.options.forced | {"arch"},
    )
    predictions, note = _predictions(analyzer, job.text, options, cancel)
    columns = ("CPU", "cycles/iter", "bottleneck", "front end")
    rows = tuple(
        (
            prediction.microarchitecture,
            prediction.cycles_per_iteration,
            wording.bound_by(prediction.bottlenecks),
            wording.front_end(prediction),
        )
        for prediction in predictions
    )
    lines = [f"{columns[0]:<6}{columns[1]:>12}  {columns[2]:<32}{columns[3]}".rstrip()] if rows else []
    lines += [
        f"{name:<6}{cycles:>12.2f}  {bound:<32}{source}".rstrip() for name, cycles, bound, source in rows
    ]
    title = f"{job.region} on every microarchitecture"
    return Comparison(title, columns, rows, "\n".join([*lines, *([note] if note else [])]))


def alignments(analyzer: Analyzer, job: Job, cancel: Cancel) -> Comparison:
    """The region at every offset within a 64-byte line, on its first microarchitecture."""
    options = replace(job.options, region=job.region)
    predictions, note = _predictions(analyzer, job.text, options, cancel)
    title = f"{job.region} at every alignment"
    columns = ("offset", "cycles/iter")
    if not predictions:
        return Comparison(title, columns, (), note)
    name = predictions[0].microarchitecture
    rows = []
    for offset in ALIGNMENTS:
        shifted = replace(
            options,
            microarchitectures=(name,),
            alignment=offset,
            forced=options.forced | {"arch", "alignment", "align"},
        )
        found, _ = _predictions(analyzer, job.text, shifted, cancel)
        rows.append((offset, found[0].cycles_per_iteration))
    text = [picture([cycles for _, cycles in rows]), *_ranges(rows), *([note] if note else [])]
    return Comparison(f"{title}, {name}", columns, tuple(rows), "\n".join(text))


def picture(values: list[float]) -> str:
    """One bar a value, from the smallest to the largest: ``▁▁▁█▁▁``."""
    low, high = min(values), max(values)
    if high - low < 0.005:
        return _BARS[0] * len(values)
    return "".join(_BARS[round((value - low) / (high - low) * (len(_BARS) - 1))] for value in values)


def _ranges(rows: list[tuple[int, float]]) -> Iterator[str]:
    """``offsets 0 to 31: 4.00``: neighbours with the same figure together; the best are marked."""
    best = min(cycles for _, cycles in rows)
    for cycles, group in groupby(rows, key=lambda row: row[1]):
        offsets = [offset for offset, _ in group]
        where = f"offset {offsets[0]}" if len(offsets) == 1 else f"offsets {offsets[0]} to {offsets[-1]}"
        yield f"{where}: {cycles:.2f} cycles/iter{' (best)' if cycles == best else ''}"


def _predictions(
    analyzer: Analyzer, text: str, options: AnalysisOptions, cancel: Cancel
) -> tuple[tuple[Prediction, ...], str]:
    analysis = analyzer.analyze(text, options, cancel)
    if not analysis.regions:
        return (), f"There is no region '{options.region}' in the text any more."
    region = analysis.regions[0]
    return region.predictions, region.note
