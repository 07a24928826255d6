"""Runs a block and returns the results: figures, trace, account."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.alike import Alike, Key
from cyclelens.analyzer.simulator.reuse import AnyPipeline, Pipelines
from cyclelens.analyzer.simulator.wanted import Wanted
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.model.account import Account
    from cyclelens.analyzer.model.simulation import Simulation

_BUFFERS_FILLED = 4
_DIGITS = 2
"""Decimals of a figure."""
_USUAL = Wanted()


def simulate(
    block: Block,
    microarchitecture: Microarchitecture,
    *,
    wanted: Wanted = _USUAL,
    options: ModelOptions = DEFAULT,
    cancel: Callable[[], bool] | None = None,
    caches: Caches | None = None,
) -> Simulation:
    """Run the block for as long as ``wanted`` says.

    ``options`` selects the variant of the model (``variant`` applies its part of them to the
    microarchitecture). ``caches`` keep the pipeline for the next run. Raises Cancelled if ``cancel`` returns
    true, SimulationStuck if nothing retires any more, ValueError for an empty block.
    """
    # Imported here, because predictions need no details and start faster without them.
    from cyclelens.analyzer.simulator.observed.summary import Run, summarize

    pipelines = (caches or Caches()).of(Pipelines)
    pipeline = pipelines.started(block, microarchitecture, options, watched=wanted.trace or wanted.account)
    window = _ran(pipeline, wanted, cancel)
    run = Run(
        window,
        _cycles_per_iteration(pipeline, window),
        pipeline.cycle + 1,
        (pipeline.period_cycles, pipeline.period_rounds) if pipeline.period_cycles else None,
        pipeline.front_end.lsd_unroll,
        pipeline.buffers() if wanted.trace else (),
    )
    simulation = summarize(pipeline.columns, microarchitecture, run, wanted)
    if wanted.account:
        simulation = replace(simulation, account=_account(pipeline, block, microarchitecture, cancel))
    pipelines.release(pipeline)
    return simulation


def key_of(block: Block, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches) -> Key:
    """Key by which blocks that run alike are found."""
    return caches.of(Alike).key(block, microarchitecture, options)


def cycles_per_iteration(
    block: Block,
    microarchitecture: Microarchitecture,
    options: ModelOptions = DEFAULT,
    caches: Caches | None = None,
    key: Key | None = None,
) -> float:
    """Only the figure that ``simulate`` finds, which takes less time: blocks that run alike are simulated
    once. ``key``: the block's key (``key_of``), if known. Raises what ``simulate`` raises."""
    if caches is None:
        caches = Caches()
    alike = caches.of(Alike)
    if key is None:
        key = alike.key(block, microarchitecture, options)
    figure = alike.figures.get(key)
    if figure is None:
        pipelines = caches.of(Pipelines)
        pipeline = pipelines.started(block, microarchitecture, options, watched=False, followed=False)
        placed = alike.key_of_loop(key, pipeline.front_end.placement()) if key and block.loop else ()
        figure = alike.figures.get(placed)
        if figure is None:
            figure = round(pipeline.pace(_USUAL.min_rounds, _USUAL.min_cycles), _DIGITS)
        pipelines.release(pipeline)
        for each in filter(None, (key, placed)):
            alike.figures[each] = figure
    return figure


def _ran(pipeline: AnyPipeline, wanted: Wanted, cancel: Callable[[], bool] | None) -> tuple[int, int]:
    """First and last relevant round of a run. The run ends when its state repeats, unless a full run is
    wanted."""
    full = wanted.is_full
    pipeline.run(wanted.min_rounds, wanted.min_cycles, stop_at_period=not full, cancel=cancel)
    rounds = pipeline.reorder_buffer.last_round + 1
    if not full:
        rounds = pipeline.rounds_retired(wanted.min_rounds, wanted.min_cycles)
    return pipeline.reorder_buffer.window(rounds)


def _cycles_per_iteration(pipeline: AnyPipeline, window: tuple[int, int]) -> float:
    return round(pipeline.reorder_buffer.cycles_per_round(*window), _DIGITS)


def _account(
    pipeline: AnyPipeline,
    block: Block,
    microarchitecture: Microarchitecture,
    cancel: Callable[[], bool] | None,
) -> Account:
    # Imported here, because predictions need no account and start faster without it.
    from cyclelens.analyzer.simulator.observed.accounting import account_of

    begin, end, iterations = pipeline.settle(rounds_to_settle(block, microarchitecture), cancel=cancel)
    return account_of(pipeline.columns, microarchitecture, begin, end, iterations)


def rounds_to_settle(block: Block, microarchitecture: Microarchitecture) -> int:
    """Rounds after which uops issue as fast as they retire in the second half of them: enough to fill the
    reorder buffer four times."""
    uops = sum(len(template.fused_uops) for template in block.instructions)
    return max(10, ceil(_BUFFERS_FILLED * microarchitecture.reorder_buffer_size / max(1, uops)))
