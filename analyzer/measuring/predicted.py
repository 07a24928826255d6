"""Measures the regions of an analysis and compares them with their predictions."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import lacking
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.inputs import with_marker
from cyclelens.analyzer.measuring.layout import NOT_ALONE, CannotLayOut, laid_out
from cyclelens.analyzer.measuring.region import RUNS, TOLERANCE, Comparison, measure_region
from cyclelens.analyzer.measuring.requests import DISTINCT, Inputs, Measurement, MeasurementRequest
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import Assumption, Prediction, RegionAnalysis
from msgspec.structs import replace

_IN_DOUBT = frozenset(
    {
        "measured-otherwise",
        "loop-branch",
        "same-address",
        "gather-neighbours",
        "line-crossings",
        "published-throughput",
        "operand-values",
    }
)
"""Codes of the assumptions that a measurement may contradict."""
_EITHER = frozenset({"gather-neighbours", "operand-values"})
"""Those of them without which code may be faster or slower; without the others it takes longer, unless their
values say less."""


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

    try:
        code = laid_out(region.region)
    except CannotLayOut as error:
        reason = f"{NOT_ALONE}: {error}"
        return Comparison(None, Measurement(None, reason), region.region.code)
    loop, offset = region.region.ends_in_jump_to_start, 0
    if region.predictions:
        loop, offset = region.predictions[0].mode is Mode.LOOP, region.predictions[0].alignment
    request = MeasurementRequest(
        code=code,
        instructions=len(region.region.instructions),
        loop=loop,
        offset=offset,
        inputs=with_marker(inputs, region.region.options.get("init", "")),
    )
    found = measure_region(harness, request, predict, runs, region.region.code)
    if found.agrees or found.measured.cycles is None:
        return found
    code = region.region.code
    own = [each for each in region.predictions if model is not None and each.microarchitecture == model.name]
    causes = [cause for each in own for cause in _said(each, found, found.measured.cycles, code)]
    return replace(found, causes=(*found.causes, *causes))


def _said(prediction: Prediction, found: Comparison, measured: float, code: bytes) -> Iterator[str]:
    """What the analysis says of its figure that may explain the difference. Its range holds only for the
    region's own ``code``."""
    known = prediction.port_binding
    if (
        known is not None
        and found.code == code
        and known.least * (1 - TOLERANCE) <= measured <= known.most * (1 + TOLERANCE)
    ):
        figure = f"{prediction.cycles_per_iteration:.2f}{wording.binding(prediction)}"
        yield f"range: the figure is {figure}, which includes the measured one"
    slower = measured > (found.predicted or 0)
    codes = [
        each.code
        for each in prediction.assumptions
        if each.code in _IN_DOUBT and (_direction(each) in (slower, None))
    ]
    for each in dict.fromkeys(codes):
        yield f"assumption: '{each}', which cyclelens analyze explains, may be the cause"


def _direction(assumption: Assumption) -> bool | None:
    """Whether code takes longer where the assumption does not hold; None if it may be either."""
    if assumption.code in _EITHER:
        return None
    return assumption.values.get("difference_cycles", 1) > 0  # type: ignore[operator]


def without_figure(region: RegionAnalysis, microarchitecture: str) -> str:
    """Text for a region without an exact figure: ``at least 3.00: no figures for clac``."""
    for prediction in region.predictions:
        if prediction.microarchitecture == microarchitecture and (missing := lacking(prediction)):
            return f"{wording.figure_of(prediction)}: {missing}"
    for missing_core in region.missing:
        if missing_core.microarchitecture == microarchitecture:
            return f"no figure: {missing_core.reason}"
    return "no figure"
