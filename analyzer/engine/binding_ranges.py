"""Predicts blocks with the ranges of their figures under other rules of binding uops to ports."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.engine.prediction import (
    BatchTask,
    Predictor,
    PredictResult,
    from_hex,
    listing_of,
    predict_hex,
)
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.port_binding import port_binding
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import PortBinding
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace


def predict_with_ranges(predictor: Predictor, blocks: Sequence[str], task: BatchTask) -> list[PredictResult]:
    """``predict_hex`` with the ranges of the figures; takes about ten times as long."""
    found = predict_hex(predictor, blocks, task)
    if not task.options.model.simulates:
        return found
    return [
        result
        if result.cycles_per_iteration is None
        else replace(result, port_binding=_range(predictor, block, result.cycles_per_iteration, task))
        for block, result in zip(blocks, found, strict=True)
    ]


def _range(predictor: Predictor, block: str, cycles: float, task: BatchTask) -> PortBinding | None:
    """The range of a block's figure under other rules of binding uops to ports; None if it changes little.
    Raises ``TablesUnavailable``."""
    code = from_hex(block)
    if isinstance(code, PredictResult):
        return None
    model = variant(registry.get(task.microarchitecture), task.options)
    loop = task.mode is Mode.LOOP
    caches = predictor.caches
    listing = listing_of(code, loop, task.copies, model.name, caches)
    if isinstance(listing, PredictResult):
        return None
    built = predictor.built(*listing, model, loop, task.alignment, task.options)
    if isinstance(built, PredictResult):
        return None
    own, copies = built
    simulation = simulate(own, model, options=task.options, caches=caches)
    found = port_binding(
        own, explain(own, model, simulation, task.options), Runs(model, task.options, None, caches)
    )
    if found is None:
        return None
    least, most = min(found.least / copies, cycles), max(found.most / copies, cycles)
    return PortBinding(least, most, found.steady_states)
