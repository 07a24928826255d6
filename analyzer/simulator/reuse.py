"""Pipelines of runs that are over serve the next: to make stages and columns takes longer than a short
run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.policies import check_kinds
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.program import Program

if TYPE_CHECKING:
    from cyclelens.analyzer.simulator.macro_pipeline import MacroPipeline
    from cyclelens.analyzer.simulator.uop_pipeline import UopPipeline

AnyPipeline: TypeAlias = "UopPipeline | MacroPipeline"
_MOST_SPARE = 16
_SPARE: dict[tuple[int, ModelOptions], AnyPipeline] = {}
"""Pipelines of runs that are over, by their microarchitecture's identity and their options."""


def started(
    block: Block,
    microarchitecture: Microarchitecture,
    options: ModelOptions = PUBLISHED,
    *,
    watched: bool = True,
) -> AnyPipeline:
    """A pipeline that is ready to run over the block: that of an earlier run, if there is one. ``watched``:
    its stages record why they refuse, for an account or a trace."""
    if not block.entries:
        raise ValueError("a block needs at least one instruction")
    pipeline: AnyPipeline | None = _SPARE.pop((id(microarchitecture), options), None)
    if pipeline is None:
        # Where every run has a microarchitecture of its own (a sweep), it gets at least used columns.
        oldest = _SPARE.pop(next(iter(_SPARE)), None) if len(_SPARE) >= _MOST_SPARE else None
        columns = Columns(Program()) if oldest is None else oldest.columns
        pipeline = _made(microarchitecture, options, columns)
    pipeline.begin(block, watched)
    return pipeline


def _made(microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> AnyPipeline:
    check_kinds(microarchitecture)
    # Here, because a start takes less time without the other kind.
    if microarchitecture.macro_ops is None:
        from cyclelens.analyzer.simulator.uop_pipeline import UopPipeline

        return UopPipeline(microarchitecture, options, columns)
    from cyclelens.analyzer.simulator.macro_pipeline import MacroPipeline

    return MacroPipeline(microarchitecture, options, columns)


def release(pipeline: AnyPipeline) -> None:
    """The run is over; the pipeline waits for the next."""
    if pipeline.columns.short():
        _SPARE[id(pipeline.microarchitecture), pipeline.options] = pipeline
