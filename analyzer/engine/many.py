"""Predicts many blocks in several processes. ``prediction.py`` predicts blocks in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future

from cyclelens.analyzer.engine.prediction import BatchTask, Predictor, PredictResult, predict_hex
from cyclelens.analyzer.engine.workers import pool, start_worker
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry

PredictBatch = Callable[[Predictor, Sequence[str], BatchTask], list[PredictResult]]

_AHEAD = 4
"""Batches in flight for each process: enough to keep it busy, few enough to read the input as it comes."""


def predict_many(
    batches: Iterable[Sequence[str]],
    task: BatchTask,
    *,
    jobs: int = 1,
    predictor: Predictor | None = None,
    predict: PredictBatch = predict_hex,
) -> Iterator[PredictResult]:
    """``prediction.predict_in_order`` in ``jobs`` processes; ``predict`` predicts a batch.

    With more than one process, the input is read a few batches ahead; with one, ``predictor`` is used if
    given. Raises like ``predict_in_order``.
    """
    registry.get(task.microarchitecture)
    if jobs <= 1:
        predictor = predictor or Predictor(Workspace(open_store(task.tables)))
        for batch in batches:
            yield from predict(predictor, batch, task)
        return
    global _worker
    remaining = iter(batches)
    store = open_store(task.tables)
    predictor = Predictor(Workspace(store))
    # Predict the first batch here: forked processes then inherit the caches that it fills.
    yield from predict(predictor, next(remaining, ()), task)
    store.close()
    _worker = predictor, task, predict
    processes = pool(jobs, _start_worker, (task, predict))
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


_worker: tuple[Predictor, BatchTask, PredictBatch] | None = None


def _start_worker(task: BatchTask, predict: PredictBatch) -> None:
    """A forked process inherits the caches; any other one needs tables and caches of its own."""
    global _worker
    start_worker()
    if _worker is None:
        _worker = Predictor(Workspace(open_store(task.tables))), task, predict
    else:
        _worker[0].reopen()


def _predict_in_worker(blocks: Sequence[str]) -> list[PredictResult]:
    assert _worker is not None, "the pool runs its initializer first"
    predictor, task, predict = _worker
    return predict(predictor, blocks, task)
