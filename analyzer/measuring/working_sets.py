"""Measures a loop on working sets of several sizes, each beside its prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from cyclelens.analyzer.common.byte_sizes import written_size
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.loops import with_data
from cyclelens.analyzer.measuring.machine_memory import MachineMemory
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.measuring.region import vector_bits
from cyclelens.analyzer.measuring.repeated import repeated
from cyclelens.analyzer.measuring.requests import Inputs, Measurement, MeasurementRequest
from cyclelens.analyzer.measuring.walks import NoWalk, PlannedWalk, planned
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct

MILLISECONDS = 12_000
"""Time limit of one process: a pass over a gigabyte takes a tenth of a second."""

Predict = Callable[[str, int], float | None]
"""Cycles per iteration with data of this many bytes in a level, by its name; None if they are not known."""


class LoopOnData(Struct, frozen=True, kw_only=True):
    """A loop to measure, with what its walk is planned from."""

    code: bytes
    templates: Sequence[InstructionTemplate]
    """The instructions of the code."""
    offset: int
    inputs: Inputs


class SizeMeasurement(Struct, frozen=True):
    """A loop on one working set."""

    size: int
    """Bytes asked for."""
    level: str
    """The nearest level of this machine that holds them."""
    measured: Measurement
    predicted: float | None = None
    """Cycles per iteration with all data in ``level``; None if not known."""
    rounds: int = 0
    """Iterations of a pass; 0 if it was not measured."""
    note: str = ""
    """How the measured code differs from the region."""

    @property
    def difference(self) -> float | None:
        """The prediction's relative difference from the measurement; None without either."""
        cycles = self.measured.cycles
        return None if self.predicted is None or not cycles else self.predicted / cycles - 1

    @property
    def huge_share(self) -> float:
        """Share of the working set that was in huge pages, at most 1."""
        return min(1.0, self.measured.huge / self.size)


def measure_sizes(
    harness: Harness,
    loop: LoopOnData,
    sizes: Iterable[int],
    memory: MachineMemory,
    predict: Predict,
    runs: int = 1,
) -> Iterator[SizeMeasurement]:
    """Measure a loop on each size, in their order. Raises ``CannotMeasure``."""
    for size in sizes:
        level = memory.level_of(size)
        try:
            walk = _checked(loop, size, memory.most)
        except NoWalk as reason:
            yield SizeMeasurement(size, level, Measurement(None, str(reason)))
            continue
        measured = repeated(harness, _request(loop, walk), runs)
        yield SizeMeasurement(size, level, measured, predict(level, size), walk.walk.rounds, walk.loop.note)


def _checked(loop: LoopOnData, size: int, most: int) -> PlannedWalk:
    """The walk. Raises ``NoWalk`` if there is none, or if it must not run."""
    reason = refusal(decode(loop.code), loop.inputs.registers)
    if reason:
        raise NoWalk(reason)
    walk = planned(loop.templates, loop.code, loop.inputs, size)
    if most and walk.walk.bytes > most:
        raise NoWalk(f"this machine has too little free memory: at most {written_size(most)} can be used")
    reason = refusal(decode(loop.code), walk.inputs.registers)
    if reason:
        raise NoWalk(reason)
    return walk


def _request(loop: LoopOnData, walk: PlannedWalk) -> MeasurementRequest:
    return MeasurementRequest(
        code=with_data(walk.loop.code, loop.offset),
        instructions=len(loop.templates),
        loop=True,
        closed=walk.loop.closed,
        counter=walk.loop.counter,
        offset=loop.offset,
        vector_bits=vector_bits(loop.code),
        inputs=walk.inputs,
        walk=walk.walk,
    )
