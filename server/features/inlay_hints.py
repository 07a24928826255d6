"""textDocument/inlayHint and workspace/inlayHint/refresh: one hint per line, aligned within a region.

# cyclelens-begin dot              4.00 cycles/iter · SKL · latency-bound
    vfmadd231ps (%rdi), %ymm1, %ymm0  █ chain +4
# cyclelens-begin sum    1.00 cycles/iter · SKL · front end (stale)
# cyclelens-begin add    predicted 4.00, measured 4.02 · four accumulators: 1.00
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.hints import heat
from cyclelens.analyzer.hints import region as region_hint
from cyclelens.analyzer.hints.change import label_with_change
from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.result import Hint
from cyclelens.server.display import columns
from cyclelens.server.display.advice import label_with_advice, told
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types
from msgspec import Struct
from pygls.capabilities import get_capability

STALE_SUFFIX = " (stale)"
SOURCE_BUDGET = 40
"""Longest hint in a source, in characters; VS Code truncates longer ones."""
_LEAST = 30
"""Characters reserved for advice behind a measured figure: ``4.00 · four accumulators: 1.00``."""
_SEPARATOR = " · "

STALE_SENTENCE = "This is the last complete result; the text has changed since."


class _HintPart(Struct, frozen=True):
    """One part of a line's hint."""

    label: str
    tooltip: str = ""
    heat: bool = False


def register(server: CyclelensServer) -> None:
    """Register the request; have the client repeat it after each analysis, if it can."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=True))
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        nested = snapshot.has_nested_regions
        path = "text_document.inlay_hint.resolve_support.properties"
        later = "tooltip" in (get_capability(server.client_capabilities, path, None) or ())
        return [
            without_tooltip(snapshot, hint) if later else hint
            for region, others in snapshot.leading()
            if region.result.first_line <= last and first <= region.result.last_line
            for hint in of_region(snapshot, region, others, first, last, nested)
        ]

    def without_tooltip(snapshot: Snapshot, hint: types.InlayHint) -> types.InlayHint:
        """The hint without its tooltip, which the client requests when the pointer is on the hint."""
        hint.tooltip, hint.data = None, [snapshot.uri, snapshot.revision, hint.position.line]
        return hint

    @server.feature(types.INLAY_HINT_RESOLVE)
    def resolve(hint: types.InlayHint) -> types.InlayHint:
        known = hint.data if isinstance(hint.data, list | tuple) and len(hint.data) == 3 else ("", -1, 0)
        snapshot = server.session.get(str(known[0]))
        if snapshot is None or snapshot.revision != known[1]:
            return hint  # belongs to a text that no longer exists
        nested = snapshot.has_nested_regions
        for region, others in snapshot.leading():
            for found in of_region(snapshot, region, others, known[2], known[2], nested):
                if found.position == hint.position:
                    hint.tooltip = found.tooltip
        return hint

    def of_region(
        snapshot: Snapshot,
        region: ShownRegion,
        others: Sequence[ShownRegion],
        first: int,
        last: int,
        nested: bool,
    ) -> Iterator[types.InlayHint]:
        """One hint for each requested line of a region that has one."""
        result, settings = region.result, server.settings
        lines: defaultdict[int, list[_HintPart]] = defaultdict(list)
        # A measurement comes first: the user just asked for it, and the line has no room for both.
        found = server.measurements.get(snapshot, result.name)
        measured = found.title if found is not None else ""
        if found is not None:
            lines[result.first_line].append(_HintPart(measured, found.text))
        for hint in result.hints:
            # A line in nested regions shows the hint of the innermost one: two would not fit.
            if hint.kind == region_hint.KIND or not nested or snapshot.region_at(hint.line) is region:
                lines[hint.line].append(part(snapshot, region, hint, others, measured))
        heated = any(each.heat for parts in lines.values() for each in parts)
        tab_size = settings["hints.tabSize"] or columns.TAB_SIZE
        shown = {line: snapshot.lines[line] for line in lines}
        # Editors truncate hints in other languages by length, spaces included.
        in_column = settings["hints.column"] and not snapshot.language
        spaces = columns.paddings(shown, tab_size) if in_column else {}
        for line, parts in sorted(lines.items()):
            if first <= line <= last:
                yield types.InlayHint(
                    position=server.converter.position(snapshot.lines, line, len(snapshot.lines[line])),
                    label=" " * (spaces.get(line, 0)) + _label(parts, heated),
                    tooltip=_tooltip(parts, region) or None,
                    padding_left=True,
                )

    def part(
        snapshot: Snapshot, region: ShownRegion, hint: Hint, others: Sequence[ShownRegion], measured: str
    ) -> _HintPart:
        label, tooltip = hint.label, hint.tooltip
        if hint.kind == region_hint.KIND:
            label = change_shown(server, snapshot, region, label)
            stale = len(STALE_SUFFIX) if region.stale else 0
            if snapshot.language:
                label = short_label(label, others, stale)
                tooltip = "\n\n".join([tooltip, *map(_also, others)])
            if server.settings["advice"] and (advice := server.searches.advice(snapshot, region)):
                budget = SOURCE_BUDGET - stale if snapshot.language else LINE_BUDGET
                budget = max(budget - _taken(measured, label), min(budget, _LEAST))
                label = label if region.result.unmarked else label_with_advice(label, advice, budget)
                tooltip = f"{tooltip}\n\n{told(advice, bool(snapshot.language))}"
            if _says_figure(measured, label):
                label = label.partition(_SEPARATOR)[2]
        if region.stale and hint.line == region.result.first_line:
            # One mark per region is enough; every tooltip repeats it.
            label = stale_label(label)
        return _HintPart(label, tooltip, hint.kind == heat.KIND)

    def refresh(_snapshot: Snapshot) -> None:
        if get_capability(server.client_capabilities, "workspace.inlay_hint.refresh_support", False):
            server.workspace_inlay_hint_refresh(None)

    server.result_listeners.append(refresh)


def change_shown(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion, label: str) -> str:
    """A region's label with the change since the last save or the pinned baseline, if that has a figure."""
    result = region.result
    before = server.baselines.before(snapshot, result)
    if before is None or result.cycles is None or region.stale or not server.settings["hints.change"]:
        return label
    return label_with_change(label, before, Pace(result.cycles, result.work))


def short_label(label: str, others: Sequence[ShownRegion], taken: int = 0) -> str:
    """The label of a source line, where editors truncate hints: the figure, those of the other loops compiled
    from this one, and as much of the rest as fits."""
    figure, *rest = label.split(_SEPARATOR)
    also = [each.result.figure for each in others if each.result.figure]
    shown = f"{figure} (also {', '.join(also)})" if also else figure
    for more in rest:
        if len(shown) + len(_SEPARATOR) + len(more) + taken > SOURCE_BUDGET:
            break
        shown += _SEPARATOR + more
    return shown


def _says_figure(measured: str, label: str) -> bool:
    """Whether the measured text already states the figure that the label begins with."""
    return measured.startswith(f"predicted {label.partition(_SEPARATOR)[0].partition(' ')[0]}, ")


def _taken(measured: str, label: str) -> int:
    """Characters that a measured figure takes from the label behind it."""
    if not measured:
        return 0
    said = len(label.partition(" ")[0] + _SEPARATOR) if _says_figure(measured, label) else 0
    return len(measured + _SEPARATOR) - said


def _also(region: ShownRegion) -> str:
    result = region.result
    hint = next((each for each in result.hints if each.kind == region_hint.KIND), None)
    return f"The compiler made {result.name} of this loop, too: {hint.tooltip if hint else result.headline}"


def stale_label(label: str) -> str:
    """The label with the stale mark; trailing parts are dropped so that the mark is not truncated."""
    room = LINE_BUDGET - len(STALE_SUFFIX)
    while len(label) > room and _SEPARATOR in label:
        label = label.rpartition(_SEPARATOR)[0]
    return (label if len(label) <= room else label[: room - 1].rstrip() + "…") + STALE_SUFFIX


def _label(parts: Sequence[_HintPart], heated: bool) -> str:
    """The text of a line's hint; in regions with bars, the bar has its own column."""
    bar = "".join(part.label for part in parts if part.heat)[:1]
    words = _SEPARATOR.join(part.label for part in parts if not part.heat)
    return f"{bar or ' '} {words}".rstrip() if heated else words


def _tooltip(parts: Sequence[_HintPart], region: ShownRegion) -> str:
    """The tooltip of a line; a single part needs no name in front."""
    told = [
        part.tooltip if part.heat or len(parts) == 1 or not part.tooltip else f"{part.label}: {part.tooltip}"
        for part in parts
    ]
    reason = (region.result.note or STALE_SENTENCE) if region.stale else ""
    return "\n\n".join(text for text in (reason, *told) if text)
