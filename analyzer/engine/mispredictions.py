"""Adds to an analysis what the mispredicted branches cost of which the user or a profile knows the share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cyclelens.analyzer.engine.regions import at_line
from cyclelens.analyzer.insight import mispredictions
from cyclelens.analyzer.insight.mispredictions import ConditionalJumps, GivenShares
from cyclelens.analyzer.insight.paths import SharesError
from cyclelens.analyzer.model.analysis_options import Target
from cyclelens.analyzer.model.mispredictions import Mispredictions
from cyclelens.analyzer.model.paths import BranchingAnalysis
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Branching, Counts, Problem, Region
from msgspec import Struct
from msgspec.structs import replace

_Place = TypeVar("_Place", Region, Branching)


class MispredictionReader(Struct, frozen=True):
    """Finds the shares of regions; what cannot be read becomes a problem at the region's first line."""

    target: Target
    text: str | None
    problems: list[Problem]
    counts: Mapping[str, Counts]
    """Of a recorded profile, by block."""

    def of_branching(self, analysis: BranchingAnalysis) -> BranchingAnalysis:
        """The analysis with its mispredicted branches."""
        branching = analysis.branching
        found = self._given(branching, mispredictions.of_branching, branching.blocks)
        if found is None:
            return analysis
        try:
            return replace(
                analysis, mispredictions=mispredictions.through(analysis, found, self.target.machine)
            )
        except SharesError as error:
            if not found.least:
                self._report(branching, error)
            return analysis

    def of_region(self, result: RegionAnalysis) -> RegionAnalysis:
        """A region without inner branches, with its mispredicted branches."""
        region = result.region
        found = self._given(region, mispredictions.of_region, (region.name,))
        if found is None:
            return result
        return with_each(result, lambda prediction: mispredictions.straight(prediction, found))

    def _given(
        self, region: _Place, jumps_of: Callable[[_Place], ConditionalJumps], names: Sequence[str]
    ) -> GivenShares | None:
        """The shares of an option, the marker or the profile; None without any."""
        if said := self._said(region):
            jumps = jumps_of(region)
            if not jumps.places and said == self._everywhere():
                return None
            try:
                return mispredictions.parsed(said, jumps)
            except SharesError as error:
                self._report(region, error)
                return None
        return mispredictions.recorded(jumps_of(region), names, self.counts) if self.counts else None

    def _said(self, region: Region | Branching) -> str:
        """The shares of an option for this region, else of one for all, else of the marker; empty if none."""
        given = self.target.mispredicted
        own = next((text for name, text in reversed(given) if name == region.name), "") if given else ""
        return own or self._everywhere() or region.options.get("mispredicted", "")

    def _everywhere(self) -> str:
        """The shares of an option for all regions, which is not about those without conditional jumps."""
        return next((text for name, text in reversed(self.target.mispredicted) if not name), "")

    def _report(self, region: Region | Branching, error: SharesError) -> None:
        self.problems.append(at_line(region.first_line, self.text, "bad-option-value", str(error)))


def with_each(
    result: RegionAnalysis, of_prediction: Callable[[Prediction], Mispredictions | None]
) -> RegionAnalysis:
    """The region with the mispredicted branches of each prediction, in place of the assumption that there are
    none."""
    predictions = []
    for prediction in result.predictions:
        found = of_prediction(prediction)
        if found is not None:
            left = tuple(each for each in prediction.assumptions if each.code != mispredictions.CODE)
            prediction = replace(prediction, mispredictions=found, assumptions=left)
        predictions.append(prediction)
    return replace(result, predictions=tuple(predictions))
