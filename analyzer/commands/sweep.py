"""``cyclelens sweep``: how the figure follows the size of a buffer, or the latency of loads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cyclelens.analyzer.commands.common import (
    OK,
    PROBLEMS,
    InputError,
    add_analysis_arguments,
    analyze_file,
    new_parser,
)

if TYPE_CHECKING:
    from cyclelens.analyzer.insight.sweeps import LatencySweep, SizeSweep

_BAR = 40
_STEPS = 9


def main(arguments: list[str]) -> int:
    """Print a table for every region."""
    parser = new_parser("sweep", "Simulate regions with scaled buffers, or with other latencies of loads.")
    add_analysis_arguments(parser)
    parser.add_argument(
        "--resource", metavar="NAME[,NAME]", help="one or two of rob, rs, idq, iq; two make a heat map"
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
    options = parser.parse_args(arguments)
    if (options.resource is None) == (options.load_latency is None):
        parser.error("give either --resource or --load-latency")

    from cyclelens.analyzer.facts.store import open_store
    from cyclelens.analyzer.insight import sweeps
    from cyclelens.analyzer.insight.whatif import ChangeError, Experiment

    analysis = analyze_file(options)
    if not analysis.regions:
        raise InputError(f"{options.file}: no region is marked, or none of this name")
    store = open_store()
    code = OK
    for region in analysis.regions:
        name = region.region.name or "(unnamed)"
        if not region.predictions:
            print(f"== {name} ==\n   No prediction: {region.note}")
            code = PROBLEMS
        for prediction in region.predictions:
            print(f"== {name}: {prediction.cycles_per_iteration:.2f} on {prediction.microarchitecture} ==")
            experiment = Experiment(prediction, store, settled=True)
            try:
                if options.resource is None:
                    lines = _latency_table(sweeps.load_latency(experiment, options.load_latency))
                else:
                    lines = _size_table(sweeps.sizes(experiment, options.resource.split(","), options.scale))
                for line in lines:
                    print(line)
            except ChangeError as error:
                raise InputError(error) from None
    return code


def _latency_table(sweep: LatencySweep) -> Iterator[str]:
    yield "   load latency  cycles/iter"
    most = max(sweep.cycles)
    for latency, cycles in zip(sweep.latencies, sweep.cycles, strict=True):
        yield f"   {latency:12}  {cycles:11.2f}  {'#' * round(_BAR * cycles / most) if most else ''}"
    yield f"   slope at the end: {sweep.slope:.2f} cycles an iteration for each cycle of latency"
    if sweep.knee is None:
        yield "   no knee: every latency is hidden"
    else:
        yield f"   knee: latencies up to {sweep.knee} cycles are hidden"


def _size_table(sweep: SizeSweep) -> Iterator[str]:
    first = sweep.names[0]
    yield f"   {first:>8} " + "".join(f"{f'x{scale:.2f}':>8}" for scale in sweep.scales)
    second = sweep.names[1] if len(sweep.names) > 1 else ""
    for scale, row in zip(sweep.scales, sweep.cycles, strict=False):
        label = f"{second} x{scale:.2f}" if second else "cycles"
        yield f"   {label:>8} " + "".join(f"{cycles:8.2f}" for cycles in row)


def _bounds(text: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        begin, end = float(low), float(high if dots else low)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no range such as 4..40") from None
    if not 0 < begin <= end < 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of positive numbers")
    return begin, end


def _factors(text: str) -> tuple[float, ...]:
    begin, end = _bounds(text)
    return tuple(begin + (end - begin) * step / (_STEPS - 1) for step in range(_STEPS))


def _latencies(text: str) -> tuple[int, ...]:
    begin, end = map(round, _bounds(text))
    step = max(1, (end - begin) // 18)
    return (*range(max(begin, 1), end, step), end)
