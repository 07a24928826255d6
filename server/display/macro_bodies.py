"""Figures of loops at their labels in the body of a macro, one for each use of the macro.

%macro FILTER 2
.rows:                       cycles/iter by use: 8, 8: 3.50 · 4, 8: 1.75
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from cyclelens.server.documents.session import ShownRegion, Snapshot

_MOST = 6
"""Uses on one line."""
_NUMBERED = r"-\d+(?:-\d+)?$"
"""What follows the label in the name of a loop that the macro has made before."""
_DEFINITION = r"\s*%\s*i?r?i?macro\s+{}\b|\s*\.macro\s+{}\b|\s*{}\s+macro\b"
_END = r"\s*(?:%\s*endm(?:acro)?\b|\.?endm\b)"


def figures(snapshot: Snapshot) -> Mapping[int, str]:
    """Line of a label in a macro -> the figures of the loops that begin there."""
    found: defaultdict[int, list[ShownRegion]] = defaultdict(list)
    for region in snapshot.regions:
        if (line := _line_of(region, snapshot.lines)) is not None:
            found[line].append(region)
    return {line: _told(regions, snapshot.lines) for line, regions in found.items()}


def _line_of(region: ShownRegion, lines: Sequence[str]) -> int | None:
    """The line of the region's label in the macro whose use is the whole region; None for other regions."""
    result = region.result
    if not result.unmarked or not result.figure or result.first_line != result.last_line:
        return None
    label = re.sub(_NUMBERED, "", result.name)
    words = lines[result.first_line].split(None, 1)
    if not words or label in lines[result.first_line]:
        return None
    macro = _DEFINITION.replace("{}", re.escape(words[0]))
    for first in range(result.first_line - 1, -1, -1):
        if re.match(macro, lines[first], re.IGNORECASE):
            for line in range(first + 1, result.first_line):
                if lines[line].lstrip().startswith(f"{label}:"):
                    return line
                if re.match(_END, lines[line], re.IGNORECASE):
                    return None
    return None


def _told(regions: Sequence[ShownRegion], lines: Sequence[str]) -> str:
    uses = []
    for region in regions[:_MOST]:
        arguments = lines[region.result.first_line].partition(";")[0].split(None, 1)[1:]
        uses.append(f"{arguments[0].strip()}: {region.result.figure}" if arguments else region.result.figure)
    more = [f"{len(regions) - _MOST} more"] if len(regions) > _MOST else []
    stale = " (stale)" if any(region.stale for region in regions) else ""
    return f"cycles/iter by use: {' · '.join([*uses, *more])}{stale}"
