"""Measures a region on working sets, with its predictions by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.inputs import with_marker
from cyclelens.analyzer.measuring.layout import NOT_ALONE, CannotLayOut, laid_out
from cyclelens.analyzer.measuring.machine_memory import this_machine
from cyclelens.analyzer.measuring.requests import Inputs, Measurement
from cyclelens.analyzer.measuring.working_sets import LoopOnData, SizeMeasurement, measure_sizes
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis

NO_ADDRESSES = (
    "no model of this processor, so the loop's addresses are not known; --arch NAME selects another one"
)
NO_LOOP = "it is no loop: only a loop walks through memory"


def measure_by_size(
    harness: Harness,
    region: RegionAnalysis,
    model: Microarchitecture | None,
    inputs: Inputs,
    sizes: Sequence[int],
    runs: int,
) -> Iterator[SizeMeasurement]:
    """Measure a region on each size, with ``inputs`` and those of its marker.

    Raises ``CannotMeasure``, and ``InputsError`` if the marker cannot be parsed."""
    memory = this_machine()
    given = with_marker(inputs, region.region.options.get("init", ""))
    prediction = next(
        (each for each in region.predictions if model is not None and each.microarchitecture == model.name),
        None,
    )
    if prediction is None or prediction.mode is not Mode.LOOP:
        reason = (
            NO_LOOP if prediction is not None or not region.region.ends_in_jump_to_start else NO_ADDRESSES
        )
        for size in sizes:
            yield SizeMeasurement(size, memory.level_of(size), Measurement(None, reason))
        return
    known = prediction
    try:
        code = laid_out(region.region)
    except CannotLayOut as error:
        for size in sizes:
            yield SizeMeasurement(size, memory.level_of(size), Measurement(None, f"{NOT_ALONE}: {error}"))
        return
    loop = LoopOnData(
        code=code,
        templates=prediction.instructions,
        offset=prediction.alignment,
        inputs=given,
    )
    yield from measure_sizes(
        harness, loop, sizes, memory, lambda level, size: cycles_with_data(known, level, size), runs
    )


def cycles_with_data(prediction: Prediction, level: str, size: int) -> float | None:
    """Cycles per iteration with data of this many bytes in a level; None if they are not known."""
    cycles, data = prediction.cycles_per_iteration, prediction.data
    if data is None or not data.figures or data.left_out:
        return cycles if level == "L1" else None
    found = next((figure.cycles for figure in data.figures if figure.level == level), None)
    return None if found is None else found + data.translated(size)
