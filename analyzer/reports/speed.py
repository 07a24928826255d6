"""A region's figure at a clock, and its dependencies line by line, as OSACA shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.insight import as_written, flops, wording
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def at_clock(prediction: Prediction, hertz: float, unroll: int = 1) -> str:
    """Iterations and floating-point operations per second at a clock; most of them for a lower bound.

    ``unroll``: iterations of the source that one of the region's does.
    """
    cycles = prediction.cycles_per_iteration
    if not cycles:
        return "An iteration takes no time."
    rate = hertz / cycles
    count = flops.per_iteration(prediction.instructions)
    most = "at most " if is_lower_bound(prediction) else ""
    lines = f"{most}{_scaled(rate * unroll)}iterations/s, {most}{_scaled(rate * count)}FLOP/s"
    each = f"{count} FLOP per iteration" + (f", unrolled by {unroll}" if unroll > 1 else "")
    return f"At {_scaled(hertz)}Hz: {lines} ({each})"


def critical_paths(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    """A table: per instruction the cycles that it adds to the critical path of one iteration (CP) and to the
    longest loop-carried dependency (LCD), and the sums. Blank where an instruction is on neither."""
    graph = dependencies(prediction)
    on_path: dict[int, int] = {}
    for step in graph.path_steps:
        on_path[step.instruction] = on_path.get(step.instruction, 0) + step.latency
    loops = prediction.mode is not Mode.ONCE and bool(graph.chains)
    carried = graph.chain_cycles if loops else {}
    yield f"{'CP':>6} {'LCD':>6}"
    for index, text in enumerate(as_written.texts(region, prediction)):
        line = region.region.lines[region.instruction_lines[index]]
        cells = [f"{_cell(index, on_path):>6}", f"{_cell(index, carried):>6}"]
        yield f"{' '.join(cells)}  {wording.place(line)}: {text}"
    total = f"{float(graph.cycles_per_iteration):.2f}" if loops else ""
    yield f"{graph.path_cycles:>6} {total:>6}  cycles: one iteration (CP), per iteration (LCD)".rstrip()


def _cell(index: int, cycles: Mapping[int, int]) -> str:
    value = cycles.get(index)
    return "" if value is None else str(value)


def _scaled(number: float) -> str:
    """``3.50 G``, with a space behind the number and a prefix of the SI."""
    size, prefix = next((each for each in _PREFIXES if number >= each[0]), (1.0, ""))
    return f"{number / size:.2f} {prefix}"
