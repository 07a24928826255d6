"""``cyclelens measure --working-set``: measures the loops of a file on data of several sizes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import title_of
from cyclelens.analyzer.common.byte_sizes import parse_size, written_size
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, output_path

if TYPE_CHECKING:
    from cyclelens.analyzer.measuring.harness import Harness
    from cyclelens.analyzer.measuring.requests import Inputs
    from cyclelens.analyzer.measuring.working_sets import SizeMeasurement
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture
    from cyclelens.analyzer.model.result import Analysis, RegionAnalysis, Work

NO_MODEL = "no model of this machine ({}); --arch NAME selects another one"
SCHEMA = 1
_WIDTHS = (11, 13, 7, 16)
_NOISY = 0.05
"""A wider spread is named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this way of measuring."""
    parser.add_argument(
        "--working-set",
        type=_sizes,
        metavar="SIZES",
        help="measure each loop on data of these sizes, beside the prediction: 16KiB,256KiB,8MiB,256MiB",
    )
    parser.add_argument(
        "--plot",
        type=output_path,
        metavar="FILE.svg",
        help="with --working-set: draw cycles per iteration against the size (SVG or PNG)",
    )


def time_limit(options: argparse.Namespace) -> int:
    """Milliseconds that a process of the harness may take. Raises InputError if the options make no sense."""
    from cyclelens.analyzer.measuring.harness import MILLISECONDS
    from cyclelens.analyzer.measuring.working_sets import MILLISECONDS as LONGER
    from cyclelens.analyzer.reports.figures import why_impossible

    if options.plot is not None:
        if not options.working_set:
            raise InputError("--plot needs --working-set: it draws cycles against the size of the data")
        if problem := why_impossible(options.plot):
            raise InputError(problem)
    return LONGER if options.working_set else MILLISECONDS


def _sizes(text: str) -> tuple[int, ...]:
    found = [parse_size(part) for part in text.split(",")]
    for part, size in zip(text.split(","), found, strict=True):
        if size is None:
            raise argparse.ArgumentTypeError(f"'{part}' is no size: 32KiB, 8MiB, 1GiB or a number of bytes")
    return tuple(size for size in found if size is not None)


def run(
    harness: Harness,
    options: argparse.Namespace,
    analysis: Analysis,
    model: Microarchitecture | None,
    inputs: Inputs,
) -> int:
    """Measure all regions, and print or draw the results. Returns 1 if something could not be measured."""
    from cyclelens.analyzer.measuring.data_by_level import measure_by_size
    from cyclelens.analyzer.measuring.inputs import InputsError
    from cyclelens.analyzer.measuring.machine_memory import this_machine
    from tqdm import tqdm

    if not analysis.regions:
        raise InputError(f"{options.file}: no region to measure")
    sizes = this_machine().caches
    found: list[tuple[RegionAnalysis, list[SizeMeasurement]]] = []
    with tqdm(
        total=len(analysis.regions) * len(options.working_set), unit=" sizes", disable=None
    ) as progress:
        for region in analysis.regions:
            rows: list[SizeMeasurement] = []
            try:
                for each in measure_by_size(
                    harness, region, model, inputs, options.working_set, options.runs
                ):
                    rows.append(each)
                    progress.update()
            except InputsError as error:
                raise InputError(f"{title_of(region)}: {error}") from None
            found.append((region, rows))
    if options.format == "json":
        print(json.dumps([_as_json(harness, region, rows, model, sizes) for region, rows in found], indent=2))
    else:
        for region, rows in found:
            for line in _as_text(harness, region, rows, model):
                print(line)
    if options.plot is not None:
        _draw(options, found, sizes, model)
    return OK if all(row.measured.cycles is not None for _, rows in found for row in rows) else PROBLEMS


def _draw(
    options: argparse.Namespace,
    found: Sequence[tuple[RegionAnalysis, Sequence[SizeMeasurement]]],
    sizes: Mapping[str, int],
    model: Microarchitecture | None,
) -> None:
    from cyclelens.analyzer.measuring.size_plot import write_plot

    titled = {title_of(region): rows for region, rows in found}
    try:
        write_plot(options.plot, titled, sizes, "" if model is None else model.name)
    except OSError as error:
        raise InputError(f"{options.plot} cannot be written: {error.strerror or error}") from None


def _as_text(
    harness: Harness,
    region: RegionAnalysis,
    rows: Sequence[SizeMeasurement],
    model: Microarchitecture | None,
) -> Iterator[str]:
    from cyclelens.analyzer.insight.work import work_of
    from cyclelens.analyzer.microarchitectures import registry

    work = work_of(region)
    yield f"== {title_of(region)} =="
    if model is None:
        yield f"   Predicted:  {NO_MODEL.format(registry.own_name())}"
    elif model is not registry.native():
        yield f"   Model:      of {model.title}; this machine is different: {registry.own_name()}"
    measured = [row for row in rows if row.measured.cycles is not None]
    if measured:
        unit = "" if work is None else f"cycles/{work.unit}"
        core = "predicted" if model is None else f"predicted ({model.name})"
        yield _line("data", "level", "cycles/iter", unit, "spread", core, "error")
    for row in measured:
        yield _row(row, work)
    yield from _not_measured(rows)
    if measured:
        if measured[0].note:
            yield f"   Code:       {measured[0].note}"
        yield f"   Pages:      {_pages(measured)}"
        yield f"   Clock:      {harness.clock.source}"
    if harness.clock.caution:
        yield f"   Caution:    {harness.clock.caution}"
    if noisy := [written_size(row.size) for row in measured if row.measured.spread > _NOISY]:
        yield (
            f"   Caution:    the machine was not quiet with {', '.join(noisy)}: other programs share its "
            "caches and its memory"
        )


def _not_measured(rows: Sequence[SizeMeasurement]) -> Iterator[str]:
    sizes: dict[str, list[str]] = {}
    for row in rows:
        if row.measured.cycles is None:
            sizes.setdefault(row.measured.problem, []).append(written_size(row.size))
    for problem, which in sizes.items():
        at = "" if len(which) == len(rows) else f" with {', '.join(which)}"
        yield f"   Not measured{at}: {problem}."


def _row(row: SizeMeasurement, work: Work | None) -> str:
    cycles = row.measured.cycles or 0.0
    unit = "" if work is None else f"{cycles / work.amount:.3f}"
    predicted = "not known" if row.predicted is None else f"{row.predicted:.2f}"
    error = "" if row.difference is None else f"{row.difference:+.0%}".replace("%", " %")
    spread = f"{row.measured.spread:.1%}".replace("%", " %")
    return _line(written_size(row.size), row.level, f"{cycles:.2f}", unit, spread, predicted, error)


def _line(*cells: str) -> str:
    """One line of the table."""
    size, level, *figures, error = cells
    columns = "  ".join(f"{cell:>{width}}" for cell, width in zip(figures, _WIDTHS, strict=True))
    return f"   {size:>8}  {level:6}  {columns}  {error}".rstrip()


def _pages(rows: Sequence[SizeMeasurement]) -> str:
    """Whether the data were in huge pages."""
    least = min(row.huge_share for row in rows)
    if least == 1:
        return "huge (2 MiB)"
    if not any(row.measured.huge for row in rows):
        return "4 KiB: the kernel gave no huge pages, and address translation takes its time"
    return f"at least {least:.0%} of the data in huge pages".replace("%", " %")


def _as_json(
    harness: Harness,
    region: RegionAnalysis,
    rows: Sequence[SizeMeasurement],
    model: Microarchitecture | None,
    sizes: Mapping[str, int],
) -> dict[str, object]:
    from cyclelens.analyzer.insight.work import work_of
    from msgspec import to_builtins

    work = work_of(region)
    return {
        "schema": SCHEMA,
        "name": region.region.name,
        "microarchitecture": None if model is None else model.name,
        "clock": harness.clock.source,
        "caches": dict(sizes),
        "work": None if work is None else to_builtins(work),
        "sizes": [
            {
                "bytes": row.size,
                "level": row.level,
                "iterations_per_pass": row.rounds,
                "measured": row.measured.cycles,
                "spread": row.measured.spread,
                "predicted": row.predicted,
                "huge_pages": row.huge_share,
                "note": row.note,
                "problem": row.measured.problem,
            }
            for row in rows
        ],
    }
