"""Reuses the pipelines of finished runs: creating stages and columns takes longer than a short run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.policies import check_kinds
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.program import Program

if TYPE_CHECKING:
    from typing import TypeAlias

    from cyclelens.analyzer.simulator.macro_pipeline import MacroPipeline
    from cyclelens.analyzer.simulator.uop_pipeline import UopPipeline

AnyPipeline: TypeAlias = "UopPipeline | MacroPipeline"
_MOST_SPARE = 16


class Pipelines:
    """Pipelines of finished runs."""

    def __init__(self, _caches: Caches) -> None:
        self._last: AnyPipeline | None = None
        """The pipeline of the last run, which is faster to find."""
        self._spare: dict[tuple[Microarchitecture, ModelOptions], AnyPipeline] = {}

    def started(
        self,
        block: Block,
        microarchitecture: Microarchitecture,
        options: ModelOptions = DEFAULT,
        *,
        watched: bool = True,
        followed: bool = True,
    ) -> AnyPipeline:
        """A pipeline ready to run over the block, reused from an earlier run if possible. ``watched``: its
        stages record why they refuse, for an account or a trace; ``followed``: they record where uops come
        from, for figures per instruction."""
        if not block.entries:
            raise ValueError("a block needs at least one instruction")
        pipeline, self._last = self._last, None
        if pipeline is not None and (
            pipeline.microarchitecture is not microarchitecture or pipeline.options is not options
        ):
            self._spare[pipeline.microarchitecture, pipeline.options] = pipeline
            pipeline = None
        if pipeline is None:
            pipeline = self._spare.pop((microarchitecture, options), None)
        if pipeline is None:
            # If every run has its own microarchitecture (a sweep), at least the columns are reused.
            full = len(self._spare) >= _MOST_SPARE
            oldest = self._spare.pop(next(iter(self._spare)), None) if full else None
            columns = Columns(Program()) if oldest is None else oldest.columns
            pipeline = _made(microarchitecture, options, columns)
        pipeline.begin(block, watched, followed)
        return pipeline

    def release(self, pipeline: AnyPipeline) -> None:
        """The run is over; keep the pipeline for the next one."""
        if pipeline.columns.short():
            self._last = pipeline


def _made(microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> AnyPipeline:
    check_kinds(microarchitecture)
    # Imported here, because a start takes less time without the other kind.
    if microarchitecture.macro_ops is None:
        from cyclelens.analyzer.simulator.uop_pipeline import UopPipeline

        return UopPipeline(microarchitecture, options, columns)
    from cyclelens.analyzer.simulator.macro_pipeline import MacroPipeline

    return MacroPipeline(microarchitecture, options, columns)
