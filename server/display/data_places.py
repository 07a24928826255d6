"""The code actions *Where are the data?*: each writes a level into the region's marker.

# cyclelens-begin copy        Where are the data? In L3: 2.5 cycles per iteration
# cyclelens-begin copy data=L3
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.rewrites.proposal import Replacement
from msgspec import Struct

_GIVEN = re.compile(r"(?<!\S)(?:data|working-set)=\S*")
_MARKER = re.compile(r"cyclelens-begin.*?(?=\s*(?:\*/\s*)?$)", re.IGNORECASE)


class MarkedRegion(Struct, frozen=True):
    """A region that has a marker."""

    line: int
    """Line of the marker."""
    text: str
    """Text of this line."""
    prediction: Mapping[str, Any]
    """The prediction on the primary core, as in the JSON report."""


def placements(region: MarkedRegion, first: int, last: int) -> Iterator[tuple[str, Replacement]]:
    """(title, edit of the marker) for each level whose figure is known, if the lines ``first`` to ``last``
    have the marker, an access that walks through an array, or a chased pointer."""
    data = region.prediction["data"]
    if not data or not (data["streams"] or data["chased"]):
        return
    walking = {number for stream in data["streams"] for number in stream["instructions"]} | {*data["chased"]}
    left_out = {*data["scattered"], *data["far"]} - {*data["chased"]}
    lines = {row["line"] - 1 for row in region.prediction["rows"] if row["instruction"] in walking}
    if not any(first <= line <= last for line in (region.line, *lines)):
        return
    for place, level in enumerate(data["levels"]):
        name, cycles = level["level"], level["cycles_per_iteration"]
        least = AT_LEAST if left_out and place else ""
        edit = _written(region.text, region.line, f"data={name}")
        if cycles is not None and edit is not None:
            yield f"Where are the data? In {name}: {least}{cycles:.1f} cycles per iteration", edit


def _written(text: str, line: int, option: str) -> Replacement | None:
    """The option in place of the one that the marker has, else behind its last word; None if the line has no
    marker that takes options."""
    marker = _MARKER.search(text)
    if marker is None:
        return None
    given = _GIVEN.search(text, marker.start())
    if given is not None:
        return Replacement(line, given.start(), line, given.end(), option)
    return Replacement(line, marker.end(), line, marker.end(), f" {option}")
