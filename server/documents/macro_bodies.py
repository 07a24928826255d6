"""Figures of loops at their labels in the body of a macro, one for each use of the macro.

%macro FILTER 2
.rows:                       cycles/iter by use: 8, 8: 3.50 · 4, 8: 1.75
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cyclelens.server.documents.session import ShownRegion, Snapshot
from msgspec import Struct

_MOST = 6
"""Uses on one line."""
_NUMBERED = r"-\d+(?:-\d+)?$"
"""What follows the label in the name of a loop that the macro has made before."""
_DEFINITION = re.compile(
    r"\s*(?:%\s*i?r?i?macro|\.macro)\s+([\w.$@?]+)|\s*([\w.$@?]+)\s+macro\b", re.IGNORECASE
)
_END = re.compile(r"\s*(?:%\s*endm(?:acro)?\b|\.?endm\b)", re.IGNORECASE)
_LABEL = re.compile(r"\s*([^\s:;#]+):")


class _MacroBody(Struct):
    """A macro's labels, each with its line."""

    first: int
    labels: dict[str, int]


def figures(snapshot: Snapshot) -> Mapping[int, str]:
    """Line of a label in a macro -> the figures of the loops that begin there."""
    regions = [region for region in snapshot.regions if _is_of_one_line(region)]
    if not regions:
        return {}
    bodies: defaultdict[str, list[_MacroBody]] = defaultdict(list)
    for name, body in _bodies(snapshot.lines):
        bodies[name].append(body)
    found: defaultdict[int, list[ShownRegion]] = defaultdict(list)
    for region in regions:
        if (line := _line_of(region, snapshot.lines, bodies)) is not None:
            found[line].append(region)
    return {line: _told(regions, snapshot.lines) for line, regions in found.items()}


def _is_of_one_line(region: ShownRegion) -> bool:
    result = region.result
    return result.unmarked and bool(result.figure) and result.first_line == result.last_line


def _bodies(lines: Sequence[str]) -> Iterator[tuple[str, _MacroBody]]:
    """Names of macros in lower case, each with its body; the innermost of nested ones have the labels."""
    around: list[_MacroBody] = []
    for number, line in enumerate(lines):
        if found := _DEFINITION.match(line):
            around.append(_MacroBody(number, {}))
            yield (found[1] or found[2]).lower(), around[-1]
        elif around and _END.match(line):
            around.pop()
        elif around and (label := _LABEL.match(line)):
            around[-1].labels.setdefault(label[1], number)


def _line_of(
    region: ShownRegion, lines: Sequence[str], bodies: Mapping[str, Sequence[_MacroBody]]
) -> int | None:
    """The line of the region's label in the macro whose use is the whole region; None for other regions."""
    used = region.result.first_line
    label = re.sub(_NUMBERED, "", region.result.name)
    words = lines[used].split(None, 1)
    if not words or label in lines[used]:
        return None
    known = bodies.get(words[0].lower(), ())
    at = bisect_left(known, used, key=lambda body: body.first)
    return known[at - 1].labels.get(label) if at else None


def _told(regions: Sequence[ShownRegion], lines: Sequence[str]) -> str:
    uses = []
    for region in regions[:_MOST]:
        arguments = lines[region.result.first_line].partition(";")[0].split(None, 1)[1:]
        uses.append(f"{arguments[0].strip()}: {region.result.figure}" if arguments else region.result.figure)
    more = [f"{len(regions) - _MOST} more"] if len(regions) > _MOST else []
    stale = " (stale)" if any(region.stale for region in regions) else ""
    return f"cycles/iter by use: {' · '.join([*uses, *more])}{stale}"
