"""Predicts many blocks in several processes, and the ranges of their figures. ``prediction.py`` predicts
blocks in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future

from cyclelens.analyzer.engine.prediction import (
    BatchTask,
    Predictor,
    PredictResult,
    from_hex,
    listing_of,
    predict_hex,
)
from cyclelens.analyzer.engine.workers import pool, start_worker
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.port_binding import port_binding
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import PortBinding
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace

_AHEAD = 4
"""Batches in flight for each process: enough to keep it busy, few enough to read the input as it comes."""


def predict_many(
    batches: Iterable[Sequence[str]], task: BatchTask, *, jobs: int = 1, predictor: Predictor | None = None
) -> Iterator[PredictResult]:
    """``prediction.predict_in_order`` in ``jobs`` processes, with ranges if the task asks for them.

    With more than one process, the input is read a few batches ahead; with one, ``predictor`` is used if
    given. Raises like ``predict_in_order``.
    """
    registry.get(task.microarchitecture)
    if jobs <= 1:
        predictor = predictor or Predictor(Workspace(open_store(task.tables)))
        for batch in batches:
            yield from _predict(predictor, batch, task)
        return
    global _worker
    remaining = iter(batches)
    store = open_store(task.tables)
    predictor = Predictor(Workspace(store))
    # Predict the first batch here: forked processes then inherit the caches that it fills.
    yield from _predict(predictor, next(remaining, ()), task)
    store.close()
    _worker = predictor, task
    processes = pool(jobs, _start_worker, (task,))
    waiting: deque[Future[list[PredictResult]]] = deque()
    try:
        while True:
            while len(waiting) < jobs * _AHEAD and (batch := next(remaining, ())):
                waiting.append(processes.submit(_predict_in_worker, batch))
            if not waiting:
                return
            yield from waiting.popleft().result()
    finally:
        _worker = None
        processes.shutdown(wait=True, cancel_futures=True)


def _predict(predictor: Predictor, blocks: Sequence[str], task: BatchTask) -> list[PredictResult]:
    """One batch, with ranges if the task asks for them."""
    found = predict_hex(predictor, blocks, task)
    if not task.ranges or not task.options.model.simulates:
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


_worker: tuple[Predictor, BatchTask] | None = None


def _start_worker(task: BatchTask) -> None:
    """A forked process inherits the caches; any other one needs tables and caches of its own."""
    global _worker
    start_worker()
    if _worker is None:
        _worker = Predictor(Workspace(open_store(task.tables))), task
    else:
        _worker[0].reopen()


def _predict_in_worker(blocks: Sequence[str]) -> list[PredictResult]:
    assert _worker is not None, "the pool runs its initializer first"
    predictor, task = _worker
    return _predict(predictor, blocks, task)
