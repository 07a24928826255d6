"""Aligns a loop whose speed depends on its position, so that it starts at a fast one.

        .p2align 4                        ->      .p2align 5
# cyclelens-begin dot                     ->  # cyclelens-begin dot

# cyclelens-begin dot alignment=23        ->      .p2align 6
                                              # cyclelens-begin dot alignment=0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.source.lexer import is_empty
from cyclelens.analyzer.insight.hazards.op_cache_windows import CODES
from cyclelens.analyzer.model.result import Position
from cyclelens.analyzer.model.source import LINE_BYTES
from cyclelens.analyzer.rewrites.jcc_erratum import CODE
from cyclelens.analyzer.rewrites.proposal import Proposal, Replacement
from cyclelens.analyzer.rewrites.site import Site
from msgspec import Struct

_OPTION = re.compile(r"\balign(?:ment)?=\d+")
_ALIGNMENT = re.compile(r"\s*(\.?(?:p2|b)?align[ \t]+(\d+))\s*(?:[#;/].*)?", re.IGNORECASE)


class _LoopPosition(Struct, frozen=True):
    """A position for a loop: ``distance`` bytes after a multiple of ``boundary``."""

    boundary: int
    distance: int


_PLACES = tuple(_LoopPosition(*each) for each in ((32, 0), (64, 0), (32, 16), (64, 16), (64, 32), (64, 48)))
"""Candidate positions, the simplest first."""


def propose(site: Site) -> Iterator[Proposal]:
    """Propose positions once per region, at its first instruction."""
    region = site.analysis.region
    if site.index:
        return
    option = _OPTION.search(site.lines[region.first_line])
    if option is not None:
        if site.prediction.alignment:
            yield _for_marker(site, option)
        return
    own = ("", site.prediction.microarchitecture)
    struck = [
        finding
        for finding in site.analysis.findings
        if finding.code in {CODE, *CODES} and finding.microarchitecture in own
    ]
    figures = {position.cycles_per_iteration for position in site.prediction.positions}
    if not region.ends_in_jump_to_start or site.is_block or not (struck or len(figures) > 1):
        return
    line, code = region.first_line, ""
    if struck:
        statement = region.lines[site.analysis.instruction_lines[struck[0].instruction]]
        line, code = statement.line, struck[0].code
    earlier = _earlier(site)
    least = earlier.boundary if earlier else 0
    places = [place for place in _PLACES if place.boundary >= least and not (site.nasm and place.distance)]
    for target in _best(places, site.prediction.positions):
        boundary, distance = target.boundary, target.distance
        title = f"Align the loop to {boundary} bytes"
        if distance:
            title = f"Put the loop {distance} bytes behind a {boundary}-byte boundary"
        yield Proposal(title, line, (_place(site, boundary, distance, earlier),), code, "place of the loop")


def _best(places: Sequence[_LoopPosition], known: Sequence[Position]) -> Iterator[_LoopPosition]:
    """The simplest of the places with the lowest figure in ``known``, and all places that ``known`` lacks.

    Trying a place means assembling the text again, so places known to be worse are skipped."""
    figures = {position.offset: position.cycles_per_iteration for position in known}
    best: tuple[float, _LoopPosition] | None = None
    for place in places:
        there = [figures.get(offset) for offset in range(place.distance, LINE_BYTES, place.boundary)]
        if None in there:
            yield place
        else:
            most = max(figure for figure in there if figure is not None)
            best = (most, place) if best is None or most < best[0] else best
    if best is not None:
        yield best[1]


def _for_marker(site: Site, option: re.Match[str]) -> Proposal:
    """Replace the marker's alignment option by an alignment directive."""
    line = site.analysis.region.first_line
    edits = (
        site.insert_before_region(site.align(64)),
        Replacement(line, option.start(), line, option.end(), "alignment=0"),
    )
    return Proposal("Align the start of the region to 64 bytes", line, edits)


class _Earlier(Struct, frozen=True):
    """An alignment directive already in front of the region."""

    line: int
    column: int
    end_column: int
    boundary: int


def _earlier(site: Site) -> _Earlier | None:
    line = site.analysis.region.first_line - 1
    while line >= 0 and is_empty(site.lines[line]):
        line -= 1
    known = _ALIGNMENT.fullmatch(site.lines[line]) if line >= 0 else None
    if known is None:
        return None
    number = int(known[2])
    boundary = 1 << min(number, 12) if "p2align" in known[1].lower() else number
    return _Earlier(line, known.start(1), known.end(1), boundary)


def _place(site: Site, boundary: int, distance: int, earlier: _Earlier | None) -> Replacement:
    """Insert an alignment in front of the region, or replace the one already there."""
    statements = [site.align(boundary)]
    if distance:
        statements.append(f".skip {distance}, 0x90")
    if earlier is None:
        return site.insert_before_region(*statements)
    line = earlier.line
    indent = re.sub(r"\S", " ", site.lines[line][: earlier.column])
    return Replacement(line, earlier.column, line, earlier.end_column, f"\n{indent}".join(statements))
