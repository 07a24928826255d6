"""Marks the instructions of the critical chain with the cycles that each adds to an iteration.

vfmadd231ps (%rdi), %ymm1, %ymm0     chain +4
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "chain"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint per instruction of the critical chains; none unless the chains limit the region."""
    prediction = region.predictions[0] if region.predictions else None
    if prediction is None or "Dependencies" not in prediction.bottlenecks:
        return
    if prediction.mode is Mode.LOOP and prediction.cycles_per_iteration <= 1:
        return  # every loop has its counter as a chain of one cycle per iteration, and no loop is faster
    others = wording.tied(prediction.tied_chains)
    for index, cycles in prediction.chain:
        if cycles:
            statement = statement_of(region, index)
            yield Hint(
                line=statement.line,
                column=statement.end_column,
                label=f"chain +{cycles}",
                tooltip=(
                    f"This instruction is {wording.on_chain(cycles)}. Iterations cannot overlap there: "
                    f"to gain time, make it faster or take it out of the chain.{others}"
                ),
                kind=KIND,
            )
