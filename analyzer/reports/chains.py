"""Describes the critical chains of a region in words; shared by the formats.

2 chains tie at 4.00 cycles per iteration:
  1. line 15: vfmadd231ps (%rdi), %ymm1, %ymm0: 4 cycles for ymm0
  2. line 17: vfmadd231ps 32(%rdi), %ymm2, %ymm3: 4 cycles for ymm3
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import as_written, wording
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import OnePass, Prediction, RegionAnalysis

_MOST_CHAINS = 8
"""Most chains that are written out."""


def lines(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    """A heading and the steps of each critical chain; nothing unless chains limit the region.

    Functions and single passes get the critical path of one pass instead.
    """
    if prediction.once is not None:
        yield from _path(region, prediction, prediction.once)
    if "Dependencies" not in prediction.bottlenecks or prediction.mode is Mode.ONCE:
        return
    graph = dependencies(prediction)
    places = as_written.with_places(region, prediction)
    count, cycles = len(graph.chains), f"{float(graph.cycles_per_iteration):.2f} cycles per iteration"
    if count == 1 and not graph.more_chains:
        yield f"Critical chain: {cycles}"
    else:
        yield f"{'More than ' * graph.more_chains}{count} chains tie at {cycles}:"
    listed = zip(graph.chains[:_MOST_CHAINS], graph.chain_iterations, strict=False)
    for number, (chain, iterations) in enumerate(listed, 1):
        indent = f"  {number}. " if count > 1 else "  "
        for step in chain:
            name = wording.value(step.value)
            yield f"{indent}{places[step.instruction]}: {wording.cycles(step.latency)} for {name}"
            indent = " " * len(indent)
        if iterations > 1:
            yield f"{indent}{wording.cycles(sum(step.latency for step in chain))} in {iterations} iterations"
    if count > _MOST_CHAINS:
        yield f"  and {count - _MOST_CHAINS} more"


def _path(region: RegionAnalysis, prediction: Prediction, once: OnePass) -> Iterator[str]:
    places = as_written.with_places(region, prediction)
    yield f"Critical path of one pass: {wording.cycles(once.path_cycles)}"
    for instruction, latency, value in once.path:
        handed = f" for {wording.value(value)}" if value else ""
        yield f"  {places[instruction]}: {wording.cycles(latency)}{handed}"
