"""``cyclelens sweep``: how the figure depends on buffer sizes, or on the latency of loads or stores."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import add_analysis_arguments, report_each, title_of
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import new_parser, output_path

if TYPE_CHECKING:
    from cyclelens.analyzer.insight.sweeps import LatencySweep, SizeSweep
    from cyclelens.analyzer.insight.whatif import Experiment
    from cyclelens.analyzer.model.result import Prediction, RegionAnalysis, Work

_BAR = 40
_STEPS = 9


def main(arguments: list[str]) -> int:
    """Print a table for every region, and draw them on request."""
    from cyclelens.analyzer.insight.capacities import OPTIONAL, SIZES

    parser = new_parser(
        "sweep", "Simulate regions with scaled buffers, or with other latencies of loads or stores."
    )
    add_analysis_arguments(parser)
    parser.add_argument(
        "--resource",
        type=lambda text: text.split(","),
        metavar="NAME[,NAME]",
        help=f"one or two of {', '.join(SIZES)}; two make a heat map, and one with others (rob,others) "
        "compares it with all others. lb, lm, sb and bb (load buffer, load "
        "matrix, store buffer, branch buffer), int, vec and regs (integer, vector and all registers) switch "
        "--resources on",
    )
    parser.add_argument(
        "--scale",
        type=_factors,
        default=_factors("0.4..2.0"),
        metavar="FROM..TO",
        help="factors of the sizes (default: 0.4..2.0)",
    )
    parser.add_argument(
        "--load-latency", type=_latencies, metavar="FROM..TO", help="latencies of loads in cycles, e.g. 4..40"
    )
    parser.add_argument(
        "--store-latency",
        type=_latencies,
        metavar="FROM..TO",
        help="cycles that a store takes and keeps its entries, e.g. 1..80",
    )
    parser.add_argument(
        "--plot", type=output_path, metavar="FILE", help="draw all tables into one file, .svg or .png"
    )
    options = parser.parse_args(arguments)
    if sum(each is not None for each in (options.resource, options.load_latency, options.store_latency)) != 1:
        parser.error("give one of --resource, --load-latency and --store-latency")
    if options.resource is not None and options.resources is None and set(options.resource) & OPTIONAL.keys():
        options.resources = "on"

    from cyclelens.analyzer.insight import sweeps
    from cyclelens.analyzer.reports.figures import why_impossible
    from cyclelens.analyzer.reports.sweeps import draw

    problem = "" if options.plot is None else why_impossible(options.plot)
    if problem:
        raise InputError(problem)
    drawn: list[tuple[str, LatencySweep | SizeSweep]] = []

    def report(region: RegionAnalysis, prediction: Prediction, experiment: Experiment) -> Iterator[str]:
        from cyclelens.analyzer.insight import wording
        from cyclelens.analyzer.insight.work import leading, work_of

        work = work_of(region)
        name = title_of(region)
        title = f"{name} on {prediction.microarchitecture}"
        figure = f"{leading(region, prediction)}{wording.cycles_per(prediction)}"
        yield f"== {name}: {figure} on {prediction.microarchitecture} =="
        if options.resource is None:
            if options.store_latency is None:
                latencies = sweeps.load_latency(experiment, options.load_latency)
            else:
                latencies = sweeps.store_latency(experiment, options.store_latency)
            drawn.append((title, latencies))
            yield from _latency_table(latencies, work)
        else:
            sizes = sweeps.sizes(experiment, options.resource, options.scale)
            drawn.append((title, sizes))
            yield from _size_grid(sizes) if len(sizes.names) > 1 else _size_table(sizes, work)

    code = report_each(options, report, settled=True)
    if options.plot is not None and drawn:
        try:
            draw(options.plot, drawn)
        except OSError as error:
            raise InputError(f"{options.plot} cannot be written: {error.strerror or error}") from None
    return code


def _latency_table(sweep: LatencySweep, work: Work | None) -> Iterator[str]:
    title = f"{sweep.of} latency"
    yield f"   {title}  {_heading(work)}"
    for latency, cycles in zip(sweep.latencies, sweep.cycles, strict=True):
        yield f"   {latency:{len(title)}}  {_figures(cycles, work)}  {_bar(cycles, sweep.cycles)}"
    yield f"   slope at the end: {sweep.slope:.2f} cycles per iteration for each cycle of latency"
    if sweep.knee is None:
        yield "   no knee: every latency is hidden"
    elif sweep.knee == sweep.latencies[0]:
        yield "   no knee: no latency is hidden"
    else:
        yield f"   knee: latencies up to {sweep.knee} cycles are hidden"


def _size_table(sweep: SizeSweep, work: Work | None) -> Iterator[str]:
    yield f"   scale  {sweep.names[0]:>5}  {_heading(work)}"
    (row,) = sweep.cycles
    for scale, size, cycles in zip(sweep.scales, sweep.sizes[0], row, strict=True):
        yield f"   x{scale:.2f}  {size:5}  {_figures(cycles, work)}  {_bar(cycles, row)}"
    if f"{min(row):.2f}" == f"{max(row):.2f}":
        yield f"   no effect: every size gives {row[0]:.2f} cycles per iteration"


def _size_grid(sweep: SizeSweep) -> Iterator[str]:
    first, second = sweep.names
    columns, rows = sweep.sizes
    yield f"   {'':>10}  {first:>4}" + "".join(f"{f'x{scale:.2f}':>8}" for scale in sweep.scales)
    yield f"   {second:>10}  {'':4}" + "".join(f"{size:8}" for size in columns)
    for scale, size, cycles in zip(sweep.scales, rows, sweep.cycles, strict=True):
        yield f"   {f'x{scale:.2f}':>10}  {size:4}" + "".join(f"{figure:8.2f}" for figure in cycles)


def _heading(work: Work | None) -> str:
    return f"cycles/{work.unit}  cycles/iter" if work else "cycles/iter"


def _figures(cycles: float, work: Work | None) -> str:
    """Cycles per element or byte, if the work is known, and per iteration, below ``_heading``."""
    first = f"{cycles / work.amount:{len(f'cycles/{work.unit}')}.3f}  " if work else ""
    return f"{first}{cycles:11.2f}"


def _bar(value: float, values: tuple[float, ...]) -> str:
    most = max(values)
    return "#" * round(_BAR * value / most) if most else ""


def _bounds(text: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        begin, end = float(low), float(high if dots else low)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range such as 4..40") from None
    if not 0 < begin <= end < 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of positive numbers")
    return begin, end


def _factors(text: str) -> tuple[float, ...]:
    begin, end = _bounds(text)
    return tuple(begin + (end - begin) * step / (_STEPS - 1) for step in range(_STEPS))


def _latencies(text: str) -> tuple[int, ...]:
    begin, end = map(round, _bounds(text))
    step = max(1, (end - begin) // 18)
    return (*range(max(begin, 1), end, step), end)
