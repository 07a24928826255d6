"""Predicts many samples in parallel, caches finished ones, and can be stopped at any time."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from cyclelens.analyzer.common.regular_files import AT_ONCE, read_regular
from cyclelens.analyzer.corpora.formats import HEX, CorpusError, format_of
from cyclelens.analyzer.engine.workers import pool, start_worker
from cyclelens.analyzer.evaluation.blocks import BlockBuilder, Unpredictable
from cyclelens.analyzer.evaluation.categories import category, front_end, used_units
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from msgspec import Struct, field
from msgspec.structs import asdict
from tqdm import tqdm

_CHUNK = 64
"""Samples per task of a worker process: low overhead, and Ctrl-C waits for at most these."""
_FORMAT = 4


class PredictionResult(Struct, frozen=True):
    """Result of a prediction: a figure or a problem."""

    cycles: float | None
    """Cycles per iteration; None if the block cannot be predicted."""
    problem: str = ""
    category: str = ""
    front_end: str = ""
    baseline: float | None = None
    """Cycles per iteration by the baseline of uiCA's paper; None if not known."""
    units: Mapping[str, int] = field(default_factory=dict)
    """Number of the block's uops by the set of units that may execute them."""


def predict(builder: BlockBuilder, sample: Sample) -> PredictionResult:
    """Predict one sample. A failure is a result too, so that one bad block never ends a long run."""
    try:
        if not builder.simulates:
            block, cycles = builder.predict_analytically(sample)
            figure = cycles / builder.copies(sample)
            base = builder.baseline(sample, block)
            return PredictionResult(
                figure, "", category(block.instructions), baseline=base, units=used_units(block.instructions)
            )
        block, simulation = builder.simulate(sample)
    except Unpredictable as error:
        return PredictionResult(None, str(error))
    except Exception as error:
        return PredictionResult(
            None, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        )
    sources: dict[str, float] = {}
    for usage in simulation.usage:
        for source, uops in usage.sources.items():
            sources[source] = sources.get(source, 0.0) + uops
    cycles = simulation.cycles_per_iteration / builder.copies(sample)
    base = builder.baseline(sample, block)
    units = used_units(block.instructions)
    return PredictionResult(cycles, "", category(block.instructions), front_end(sources), base, units)


class Cache:
    """Finished predictions in a file of JSON lines, from which a stopped run can resume.

    The first line holds version and model; a file from another version or model is refused.
    """

    def __init__(self, path: Path | None, version: str, options: ModelOptions = DEFAULT) -> None:
        self._path = path
        self._header = {"cyclelens": version, "format": _FORMAT, "model": options.changed()}
        self.results: dict[str, PredictionResult] = {}
        self._cut_off = False
        """True if the file ends in the middle of a line."""
        if path is not None and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            text = read_regular(path, AT_ONCE).decode("utf-8", errors="replace")
        except OSError as error:
            raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from None
        if not text:
            return
        self._cut_off = not text.endswith("\n")
        lines = text.splitlines()
        try:
            header = json.loads(lines[0])
        except json.JSONDecodeError:
            header = None
        if header != self._header:
            raise DatasetError(
                f"{path} holds no predictions of this version and model; resume from another file"
            )
        for line in lines[1:]:
            with contextlib.suppress(json.JSONDecodeError):  # a line that was cut off
                entry = json.loads(line)
                key = entry.pop("key")
                self.results[key] = PredictionResult(**entry)

    def add(self, finished: Iterable[tuple[str, PredictionResult]]) -> None:
        """Store results in memory and in the file."""
        finished = list(finished)
        self.results.update(finished)
        if self._path is None:
            return
        new = not self._path.exists() or not self._path.stat().st_size
        with self._path.open("a", encoding="utf-8") as stream:
            if new:
                stream.write(json.dumps(self._header) + "\n")
            if self._cut_off:
                stream.write("\n")
                self._cut_off = False
            for key, result in finished:
                stream.write(json.dumps({"key": key} | asdict(result)) + "\n")


def read_predictions(path: Path) -> dict[str, PredictionResult]:
    """Results from a file of ``cyclelens predict --output``, by ``Sample.key``. Raises ``CorpusError``.

    The file does not distinguish alignments, so all count as 0."""
    table = format_of(path, written=True).table(path)
    if not {HEX, "mode", "problems"} <= table.keys():
        raise CorpusError(f"{path} is not a file of cyclelens predict --output")
    results = {}
    for core in table.keys() - {HEX, "mode", "problems"}:
        for code, mode, figure in zip(table[HEX], table["mode"], table[core], strict=True):
            cycles = None if figure in (None, "") else float(figure)
            problem = "" if cycles is not None else "no figure"
            results[Sample(code.lower(), core, mode, 0.0).key] = PredictionResult(cycles, problem)
    return results


def predict_all(
    samples: Sequence[Sample],
    cache: Cache,
    *,
    jobs: int,
    progress: bool,
    options: ModelOptions = DEFAULT,
) -> None:
    """Fill ``cache`` with a result for every sample.

    ``KeyboardInterrupt`` propagates after the chunks in progress are stored."""
    todo = {sample.key: sample for sample in samples if sample.key not in cache.results}
    work = list(todo.values())
    chunks = [work[start : start + _CHUNK] for start in range(0, len(work), _CHUNK)]
    bar = tqdm(total=len(work), unit="block", disable=not progress)
    with bar:
        for finished in _in_process(chunks, options) if jobs <= 1 else _in_pool(chunks, jobs, options):
            cache.add(finished)
            bar.update(len(finished))


_Finished = list[tuple[str, PredictionResult]]


def _in_process(chunks: Iterable[Sequence[Sample]], options: ModelOptions) -> Iterator[_Finished]:
    builder = BlockBuilder(options)
    for chunk in chunks:
        yield _run(builder, chunk)


def _in_pool(chunks: Sequence[Sequence[Sample]], jobs: int, options: ModelOptions) -> Iterator[_Finished]:
    processes = pool(min(jobs, len(chunks)) or 1, _start_worker, (options,))
    pending: set[Future[_Finished]] = set()
    try:
        pending = {processes.submit(_run_in_worker, chunk) for chunk in chunks}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise DatasetError("a worker process died; the predictions so far are kept with --resume") from None
    finally:
        processes.shutdown(wait=True, cancel_futures=True)


_worker: Callable[[Sequence[Sample]], _Finished] | None = None


def _start_worker(options: ModelOptions) -> None:
    global _worker
    start_worker()
    builder = BlockBuilder(options)
    _worker = lambda chunk: _run(builder, chunk)  # noqa: E731


def _run_in_worker(chunk: Sequence[Sample]) -> _Finished:
    assert _worker is not None, "the pool runs its initializer first"
    return _worker(chunk)


def _run(builder: BlockBuilder, chunk: Sequence[Sample]) -> _Finished:
    return [(sample.key, predict(builder, sample)) for sample in chunk]


def default_jobs() -> int:
    """Number of processes that can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
