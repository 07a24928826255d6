"""Shared by all comparisons: the predictions of one region with given options."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import LowerBound
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import doubt, lacking, shows_at_least
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from msgspec.structs import replace


def found(
    request: ComparisonRequest, options: AnalysisOptions, *, text: str | None = None, name: str | None = None
) -> RegionAnalysis | None:
    """The region with its predictions; None if the text has no region of this name."""
    wanted = request.region if name is None else name
    # Only a page shows alternatives.
    options = AnalysisOptions(
        replace(options.source, region=wanted),
        options.target,
        replace(options.detail, alternatives=request.html),
    )
    if request.machine_code is not None and text is None:
        code, function = request.machine_code, request.function
        analysis = request.analyzer.analyze_object(code, options, function, request.cancel)
    else:
        analysis = request.analyzer.analyze(request.text if text is None else text, options, request.cancel)
    return analysis.regions[0] if analysis.regions else None


def gone(name: str, where: str = "the text any more") -> str:
    """Message about a region that no longer exists."""
    return f"There is no region '{name}' in {where}."


def on_every_microarchitecture(options: AnalysisOptions) -> AnalysisOptions:
    """The options for all microarchitectures, oldest first, whatever the marker says, unless the user named
    some."""
    if "arch" in options.target.forced:
        return options
    return replace(options, target=options.target.only_on(*registry.names()))


def by_name(region: RegionAnalysis) -> dict[str, Prediction]:
    """Microarchitecture -> prediction, in the region's order."""
    return {prediction.microarchitecture: prediction for prediction in region.predictions}


def limits(prediction: Prediction) -> str:
    """The bottleneck of the figure, or for a lower bound what it lacks."""
    if missing := lacking(prediction):
        return f"lower bound: {missing}"
    return wording.bound_of(prediction) + doubt(prediction)


def figure(prediction: Prediction) -> float:
    """The figure for a table cell; a LowerBound if it is one."""
    cycles = prediction.shown_cycles
    return LowerBound(cycles) if shows_at_least(prediction) else cycles
