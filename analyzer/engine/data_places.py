"""Adds to an analysis the figure for the place of the data that the user names."""

from __future__ import annotations

from cyclelens.analyzer.engine.regions import at_line
from cyclelens.analyzer.insight.memory_levels.placement import (
    DataPlace,
    place_of,
    place_of_size,
    placed,
    unknown_pointers,
)
from cyclelens.analyzer.model.analysis_options import Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Problem, Region, Severity
from msgspec import Struct
from msgspec.structs import replace

_KEYS = {"data": place_of, "working-set": place_of_size}
PLACE_KEYS = frozenset(_KEYS)
"""The keys of a marker that say where the data are."""


class DataPlaceReader(Struct, frozen=True):
    """Finds the places of regions; what cannot be read becomes a problem at the region's first line."""

    target: Target
    text: str | None
    problems: list[Problem]

    def of_region(self, result: RegionAnalysis) -> RegionAnalysis:
        """The region with its figures for the place that the options name, else its marker. A region that
        touches no new addresses stays as it is; a marker that names a place for it is reported."""
        region = result.region
        marked = [key for key in _KEYS if key in region.options]
        place = place_of(self.target.data) if self.target.data else self._marked(region, marked)
        if len(marked) > 1:
            message = f"'{region.name}' has data= and working-set=; only data= counts"
            self._report(region, message, Severity.WARNING)
        if place is None or not result.predictions:
            return result
        data = result.predictions[0].data
        if data is None:
            if marked:
                message = f"{marked[0]}= has no effect: '{region.name}' walks through no array"
                self._report(region, message, Severity.WARNING)
            elif _touches_memory_once(result.predictions[0]):
                message = f"'{region.name}' walks through no array in a loop, so its figure is for data in L1"
                self._report(region, message, Severity.WARNING)
            return result
        unknown = unknown_pointers(data, place)
        if unknown:
            known = " and ".join(dict.fromkeys(stream.pointer for stream in data.streams)) or "none"
            message = f"'{region.name}' walks through no array by {unknown[0]}; its pointers are {known}"
            self._report(region, message)
            return result
        return replace(result, predictions=tuple(placed(each, place) for each in result.predictions))

    def _marked(self, region: Region, keys: list[str]) -> DataPlace | None:
        """The place that the marker names; None if it is wrong."""
        try:
            return _KEYS[keys[0]](region.options[keys[0]])
        except ValueError as error:
            self._report(region, str(error))
            return None

    def _report(self, region: Region, message: str, severity: Severity = Severity.ERROR) -> None:
        self.problems.append(at_line(region.first_line, self.text, "bad-option-value", message, severity))


def _touches_memory_once(prediction: Prediction) -> bool:
    """Whether code that is no loop accesses memory: a loop without new addresses has its data in L1."""
    if prediction.mode is Mode.LOOP:
        return False
    return any(template.memory_operands for template in prediction.instructions)
