"""Predicts blocks of machine code: ``predict`` and ``predict_batch``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from cyclelens.analyzer.engine.many import predict_many
from cyclelens.analyzer.engine.prediction import BatchTask, Predictor
from cyclelens.analyzer.engine.regions import ALIGNMENTS
from cyclelens.analyzer.engine.shared import shared_workspace
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.arguments import core_named, model_named, one_of
from cyclelens.results import Prediction, Predictions

Code = bytes | bytearray | memoryview | str
"""Machine code; a string is hexadecimal."""

MODES = (Mode.UNROLL, Mode.LOOP)
_BATCH = 512


def predict(
    code: Code,
    *,
    arch: str | None = None,
    mode: str = "unroll",
    alignment: int = 0,
    copies: int | None = 1,
    model: str = "hardware",
) -> Prediction:
    """Cycles per iteration of one block of machine code (bytes, or text in hexadecimal).

    ``arch``: a core of ``cyclelens arch list``, or ``native``; None: that of this machine, or SKL with a
    warning if it is not simulated. ``mode``: ``unroll`` repeats the block end to end; ``loop`` puts
    ``copies`` of it (None: enough to hide the loop's overhead) into a loop with a counter, and the figure is
    that of one copy. ``alignment``: offset of the first byte within a 64-byte line. ``model``: ``hardware``
    (real cores), ``uica`` (as published) or ``bounds`` (no simulation).

    An unpredictable block gives a result without a figure, whose ``problem`` says why. Raises ValueError for
    an argument that is not one of the allowed values, TypeError for code of another type, and
    ``TablesUnavailable`` if the instruction tables cannot be read.

    >>> predict("4801c0", arch="SKL").cycles_per_iteration
    1.0
    >>> predict(b"\\x06").problem
    'no valid instruction at byte 0'
    """
    return predict_batch([code], arch=arch, mode=mode, alignment=alignment, copies=copies, model=model)[0]


def predict_batch(
    blocks: Iterable[Code],
    *,
    arch: str | None = None,
    mode: str = "unroll",
    alignment: int = 0,
    copies: int | None = 1,
    model: str = "hardware",
    jobs: int = 1,
) -> Predictions:
    """``predict`` for many blocks; results are in the same order. Much faster than block by block.

    ``jobs``: number of processes. With more than one, the calling program needs ``if __name__ ==
    "__main__":`` where Python's ``multiprocessing`` does. Raises the same errors as ``predict``.

    >>> figures = predict_batch(["4801c0", "90"], arch="SKL")
    >>> [each.cycles_per_iteration for each in figures]
    [1.0, 0.25]
    """
    name = core_named(arch)
    one_of("mode", mode, MODES)
    if alignment not in ALIGNMENTS:
        raise ValueError(f"alignment {alignment!r} is not between 0 and {ALIGNMENTS[-1]}")
    if copies is not None and (copies < 1 or (copies > 1 and mode != "loop")):
        raise ValueError(f"copies={copies!r}: must be at least 1, and more than 1 needs mode='loop'")
    if jobs < 1:
        raise ValueError(f"jobs={jobs!r}: at least 1 is needed")
    options = ModelOptions(model=model_named(model))
    batches = _batches(blocks)
    figures: list[Prediction] = []
    waiting: list[str] = []

    def given() -> Iterator[list[str]]:
        for batch in batches:
            waiting.extend(batch)
            yield batch

    with shared_workspace() as workspace:
        results = predict_many(
            given(),
            BatchTask(name, Mode(mode), alignment, options, copies),
            jobs=jobs,
            predictor=Predictor(workspace),
        )
        for number, found in enumerate(results):
            code = _bytes(waiting[number])
            figures.append(
                Prediction(code, name, mode, found.cycles_per_iteration, found.problem, found.least)
            )
    return Predictions(figures)


def _batches(blocks: Iterable[Code]) -> Iterator[list[str]]:
    if isinstance(blocks, (str, bytes, bytearray, memoryview)):
        raise TypeError("blocks must be a collection: put a single block into a list, or call predict")
    remaining = iter(blocks)
    while batch := [_hexadecimal(block) for block in islice(remaining, _BATCH)]:
        yield batch


def _hexadecimal(code: Code) -> str:
    if isinstance(code, str):
        return code
    if isinstance(code, (bytes, bytearray, memoryview)):
        return bytes(code).hex()
    raise TypeError(f"machine code must be bytes or text in hexadecimal, not {type(code).__name__}")


def _bytes(hexadecimal: str) -> bytes:
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return b""
