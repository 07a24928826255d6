"""Measures the regions of an analysis and compares them with their predictions."""

from __future__ import annotations

from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import lacking
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.inputs import with_marker
from cyclelens.analyzer.measuring.region import RUNS, Comparison, measure_region
from cyclelens.analyzer.measuring.requests import DISTINCT, Inputs, MeasurementRequest
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import RegionAnalysis


def compare(
    harness: Harness,
    region: RegionAnalysis,
    model: Microarchitecture | None,
    *,
    inputs: Inputs = DISTINCT,
    runs: int = RUNS,
) -> Comparison:
    """Measure a region with ``inputs`` and those of its marker, and predict it if there is a ``model``.

    Raises ``CannotMeasure``, and ``InputsError`` if the marker cannot be parsed."""
    predictor = Predictor()

    def predict(code: bytes, loop: bool, offset: int, options: ModelOptions) -> float | None:
        return None if model is None else predictor.cycles_of(code, model, loop, offset, options)

    loop, offset = region.region.ends_in_jump_to_start, 0
    if region.predictions:
        loop, offset = region.predictions[0].mode is Mode.LOOP, region.predictions[0].alignment
    request = MeasurementRequest(
        code=region.region.code,
        instructions=len(region.region.instructions),
        loop=loop,
        offset=offset,
        inputs=with_marker(inputs, region.region.options.get("init", "")),
    )
    return measure_region(harness, request, predict, runs)


def without_figure(region: RegionAnalysis, microarchitecture: str) -> str:
    """Text for a region without an exact figure: ``at least 3.00: no figures for clac``."""
    for prediction in region.predictions:
        if prediction.microarchitecture == microarchitecture and (missing := lacking(prediction)):
            return f"{wording.figure_of(prediction)}: {missing}"
    for missing_core in region.missing:
        if missing_core.microarchitecture == microarchitecture:
            return f"no figure: {missing_core.reason}"
    return "no figure"
