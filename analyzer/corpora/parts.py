"""Splits a corpus into parts. A part is all that a process or a machine needs: ``predict_part`` reads its
rows, predicts them, and writes its file atomically; a second call does nothing. ``run`` predicts all parts on
this machine; clusters call ``predict_part`` themselves (docs/corpora.md).

The figures are a table: ``hex``, ``mode``, one column of cycles per iteration for each core, named after it,
and ``problems``, which gives the cores without a figure and why.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.regular_files import AT_ONCE, read_regular
from cyclelens.analyzer.corpora.formats import HEX, CorpusError, RowRange, Table, format_of
from cyclelens.analyzer.engine.prediction import BatchTask, Predictor, predict_in_order
from cyclelens.analyzer.engine.shared import shared_workspace
from cyclelens.analyzer.engine.workers import pool, start_worker
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode, Repetition
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from msgspec import Struct, to_builtins

if TYPE_CHECKING:
    from concurrent.futures import Future

ROWS = 10_000
"""Rows per part: a few seconds of work for each core."""
_BATCH = 2048
_JOB = "job.json"
_AHEAD = 2
"""Parts in flight per process."""


class Part(Struct, frozen=True, kw_only=True):
    """Rows of a corpus and how to predict them; the argument of ``predict_part``. Can be pickled."""

    input: str
    span: RowRange
    output: str
    """File of this part."""
    cores: tuple[str, ...]
    mode: Mode = Mode.UNROLL
    copies: int | None = 1
    alignment: int = 0
    column: str = HEX
    options: ModelOptions = DEFAULT


def parts(
    input: Path | str,
    output: Path | str,
    cores: Sequence[str],
    *,
    mode: str = "unroll",
    copies: int | None = 1,
    alignment: int = 0,
    column: str = HEX,
    options: ModelOptions = DEFAULT,
    rows: int = ROWS,
) -> list[Part]:
    """The parts of a corpus (``.parquet``, ``.csv`` with a header, ``.txt``) whose figures go to ``output``
    (``.parquet`` or ``.csv``), including finished ones, which ``predict_part`` skips.

    Their files are in the folder ``OUTPUT.parts`` beside it until ``join`` combines them. ``cores``: names,
    or only ``all``. Raises CorpusError if that folder has parts of another run or a file cannot be read;
    UnknownMicroarchitecture; ValueError if ``mode`` is neither ``unroll`` nor ``loop``.
    """
    if mode not in (Mode.UNROLL, Mode.LOOP):
        raise ValueError(f"unknown mode '{mode}'; known are unroll, loop")
    source, target = Path(input), Path(output)
    names = list(registry.names()) if list(cores) == ["all"] else [registry.get(name).name for name in cores]
    suffix = target.suffix
    format_of(target, written=True)
    folder = _folder(target)
    try:
        found = [
            Part(
                input=str(source),
                span=span,
                output=str(folder / f"{number:06}{suffix}"),
                cores=tuple(dict.fromkeys(names)),
                mode=Mode(mode),
                copies=copies,
                alignment=alignment,
                column=column,
                options=options,
            )
            for number, span in enumerate(format_of(source).spans(source, rows))
        ]
        state = source.stat()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CorpusError(f"{error.filename}: {error.strerror}") from None
    if not found:
        raise CorpusError(f"{source} contains no blocks")
    first: dict[str, object] = to_builtins(found[0])
    job = {"cyclelens": version("cyclelens"), "rows": rows}
    job |= {"bytes": state.st_size, "changed": state.st_mtime_ns}
    _claim(folder, json.dumps(job | first, sort_keys=True))
    return found


def _folder(output: Path) -> Path:
    return output.with_name(output.name + ".parts")


def _claim(folder: Path, job: str) -> None:
    """Claim the folder for this run. Raises CorpusError if another run owns it."""
    file = folder / _JOB
    if not file.exists():
        _put(file, lambda path: path.write_text(job, encoding="utf-8"))
    if read_regular(file, AT_ONCE) != job.encode():
        raise CorpusError(
            f"{folder} holds parts of another run (other blocks, options or version): remove it, or name "
            "another output"
        )


def _put(file: Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically, even if several processes write it at the same time."""
    partial = file.with_name(f"{file.stem}.{os.getpid()}.partial{file.suffix}")
    try:
        write(partial)
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def predict_part(part: Part) -> str:
    """Predict a part unless its file exists; returns the file's name. Raises CorpusError."""
    output = Path(part.output)
    if output.exists():
        return part.output
    blocks = format_of(Path(part.input)).blocks(Path(part.input), part.span, part.column)
    table = _figures(part, blocks)

    def write(path: Path) -> None:
        with format_of(path, written=True).writer(path) as writer:
            writer.write(table)

    try:
        _put(output, write)
    except OSError as error:
        raise CorpusError(f"{output}: {error.strerror}") from None
    return part.output


def _figures(part: Part, blocks: Sequence[str]) -> Table:
    batches = [blocks[start : start + _BATCH] for start in range(0, len(blocks), _BATCH)]
    columns: dict[str, list[float | None]] = {}
    problems: list[list[str]] = [[] for _ in blocks]
    with shared_workspace() as workspace:
        for core in part.cores:
            task = BatchTask(core, part.mode, part.alignment, part.options, part.copies)
            results = list(predict_in_order(batches, task, Predictor(workspace)))
            figures = (each.cycles_per_iteration for each in results)
            columns[core] = [None if cycles is None else round(cycles, 2) for cycles in figures]
            for row, result in enumerate(results):
                if result.problem:
                    problems[row].append(f"{core}: {result.problem}")
    head: dict[str, Sequence[object]] = {HEX: blocks, "mode": [_mode(part)] * len(blocks)}
    return {**head, **columns, "problems": ["; ".join(each) for each in problems]}


def _mode(part: Part) -> str:
    """The mode as files of figures name it (``evaluation.datasets``)."""
    if part.mode is Mode.UNROLL or part.copies == 1:
        return part.mode
    return Repetition.COPIES if part.copies is None else f"loop of {part.copies} copies"


def run(found: Sequence[Part], jobs: int) -> Iterator[Part]:
    """Predict the parts in ``jobs`` processes; yields each part once it is done. Stopping the run loses the
    parts in progress, but no finished ones."""
    if jobs == 1:
        for part in found:
            predict_part(part)
            yield part
        return
    processes = pool(jobs, start_worker)
    waiting: deque[tuple[Part, Future[str]]] = deque()
    remaining = iter(found)
    try:
        while True:
            for part in islice(remaining, jobs * _AHEAD - len(waiting)):
                waiting.append((part, processes.submit(predict_part, part)))
            if not waiting:
                return
            part, future = waiting.popleft()
            future.result()
            yield part
    finally:
        processes.shutdown(wait=True, cancel_futures=True)


def join(found: Sequence[Part], output: Path | str) -> int:
    """Combine the files of all parts and remove their folder; returns the number of blocks without a figure
    for some core. Raises CorpusError if a file is missing."""
    target = Path(output)
    kind = format_of(target, written=True)
    without = 0

    def write(path: Path) -> None:
        nonlocal without
        with kind.writer(path) as writer:
            for part in found:
                if not Path(part.output).exists():
                    raise CorpusError(f"{part.output} is missing: that part is not finished")
                table = kind.table(Path(part.output))
                without += sum(
                    any(value in (None, "") for value in row)
                    for row in zip(*(table[core] for core in part.cores), strict=True)
                )
                writer.write(table)

    try:
        _put(target, write)
        shutil.rmtree(_folder(target))
    except OSError as error:
        raise CorpusError(f"{target}: {error.strerror}") from None
    return without
