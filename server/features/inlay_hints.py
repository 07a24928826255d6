"""textDocument/inlayHint and workspace/inlayHint/refresh: one hint per line, aligned within a region.

# cyclelens-begin dot              4.00 cycles/iter · SKL · latency-bound
    vfmadd231ps (%rdi), %ymm1, %ymm0  █ chain +4
# cyclelens-begin sum    1.00 cycles/iter · SKL · front end (stale)
# cyclelens-begin add    predicted 4.00, measured 4.02 · SKL · latency-bound
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.hints import heat
from cyclelens.analyzer.hints import region as region_hint
from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.insight.label import render
from cyclelens.analyzer.insight.work import Pace, change, comparable, written
from cyclelens.analyzer.model.label import MeasuredFigure, RegionLabel
from cyclelens.analyzer.model.result import Hint
from cyclelens.analyzer.rewrites.search import Advice
from cyclelens.server.display import columns
from cyclelens.server.display.advice import told
from cyclelens.server.documents import macro_bodies
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace
from pygls.capabilities import get_capability

SOURCE_BUDGET = 43
"""Longest hint in a source, in characters; VS Code truncates longer ones by default."""
_BAR = len("█ ")
_SEPARATOR = " · "
"""Between the hints of a line."""

REPEAT_SECONDS = (1.0, 2.0, 4.0)
"""Delays after which a refresh that no request followed is sent again. VS Code drops a refresh that arrives
before it has taken in the answer to an earlier request: its hints would stay old until the next edit."""

STALE_SENTENCE = "This is the last complete result; the text has changed since."


class _HintPart(Struct, frozen=True):
    """One part of a line's hint."""

    label: str
    tooltip: str = ""
    heat: bool = False


def register(server: CyclelensServer) -> None:
    """Register the request; have the client repeat it after each analysis, if it can."""
    requested: set[str] = set()
    """Documents whose hints the client has requested since it opened them."""
    repeats: dict[str, asyncio.TimerHandle] = {}
    """The next repeated refresh of each document whose hints were not requested since the last one."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=True))
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return []
        settle(snapshot.uri)
        requested.add(snapshot.uri)
        first, last = params.range.start.line, params.range.end.line
        nested = snapshot.has_nested_regions
        bodies = [] if snapshot.language else list(of_bodies(snapshot, first, last))
        path = "text_document.inlay_hint.resolve_support.properties"
        later = "tooltip" in (get_capability(server.client_capabilities, path, None) or ())
        own = [
            without_tooltip(snapshot, hint) if later else hint
            for region, others in snapshot.leading()
            if region.result.first_line <= last and first <= region.result.last_line
            for hint in of_region(snapshot, region, others, first, last, nested)
        ]
        return [*own, *bodies]

    def of_bodies(snapshot: Snapshot, first: int, last: int) -> Iterator[types.InlayHint]:
        """The hints at labels in the bodies of macros."""
        for line, figures in macro_bodies.figures(snapshot).items():
            if first <= line <= last:
                place = server.converter.position(snapshot.lines, line, len(snapshot.lines[line]))
                yield types.InlayHint(position=place, label=figures, padding_left=True)

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
        tab_size = settings["hints.tabSize"] or columns.TAB_SIZE
        found = measured_figure(server, snapshot, region)
        if found.text and not any(hint.kind == region_hint.KIND for hint in result.hints):
            lines[result.first_line].append(_HintPart(found.text, measurement(snapshot, region)))
        for hint in result.hints:
            # A line in nested regions shows the hint of the innermost one: two would not fit.
            if hint.kind == region_hint.KIND or not nested or snapshot.region_at(hint.line) is region:
                room = columns.room(snapshot.lines[hint.line], tab_size, settings["hints.width"])
                lines[hint.line].append(part(snapshot, region, hint, others, found, room))
        heated = any(each.heat for parts in lines.values() for each in parts)
        shown = {line: snapshot.lines[line] for line in lines}
        # Editors truncate hints in other languages by length, spaces included.
        in_column = settings["hints.column"] and not snapshot.language
        spaces = columns.paddings(shown, tab_size) if in_column else {}
        for line, parts in sorted(lines.items()):
            if first <= line <= last:
                label = _label(parts, heated)
                room = columns.room(shown[line], tab_size, settings["hints.width"]) - len(label)
                yield types.InlayHint(
                    position=server.converter.position(snapshot.lines, line, len(snapshot.lines[line])),
                    label=" " * min(spaces.get(line, 0), room) + label,
                    tooltip=_tooltip(parts, region) or None,
                    padding_left=True,
                )

    def part(
        snapshot: Snapshot,
        region: ShownRegion,
        hint: Hint,
        others: Sequence[ShownRegion],
        measured: MeasuredFigure,
        room: int,
    ) -> _HintPart:
        if hint.kind != region_hint.KIND:
            return _HintPart(hint.label, hint.tooltip, hint.kind == heat.KIND)
        # Every tooltip says that the region is stale; one mark is enough.
        label = replace(
            _beside_others(shown_label(server, snapshot, region), region, others),
            measured=measured,
            stale=region.stale,
        )
        tooltip = [measurement(snapshot, region), hint.tooltip]
        if snapshot.language:
            tooltip += map(_also, others)
        if advice := advice_for(server, snapshot, region):
            tooltip.append(told(advice, bool(snapshot.language)))
        budget = SOURCE_BUDGET if snapshot.language else LINE_BUDGET
        text = render(label, min(budget, room - _BAR))
        return _HintPart(text, "\n\n".join(filter(None, tooltip)))

    def measurement(snapshot: Snapshot, region: ShownRegion) -> str:
        found = server.measurements.get(snapshot, region.result.name)
        return "" if found is None else found.text

    def refresh(snapshot: Snapshot) -> None:
        if get_capability(server.client_capabilities, "workspace.inlay_hint.refresh_support", False):
            settle(snapshot.uri)
            send(snapshot.uri, REPEAT_SECONDS if snapshot.uri in requested else ())

    def send(uri: str, delays: Sequence[float]) -> None:
        if server.shutdown_requested:
            return
        server.workspace_inlay_hint_refresh(None)
        if delays:
            repeats[uri] = asyncio.get_running_loop().call_later(delays[0], send, uri, delays[1:])

    def settle(uri: str) -> None:
        if repeat := repeats.pop(uri, None):
            repeat.cancel()

    def close(uri: str) -> None:
        settle(uri)
        requested.discard(uri)

    server.result_listeners.append(refresh)
    server.close_listeners.append(close)


def shown_label(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> RegionLabel:
    """The label of the primary core with the change of its figure since the last save or the pinned baseline,
    and with advice, as far as the settings want them. Empty if the region has no label."""
    result = region.result
    advice = advice_for(server, snapshot, region)
    work = result.work if region.label.rate else None
    return replace(
        region.label,
        change=_change(server, snapshot, region),
        advice=() if advice is None or result.unmarked else tuple(advice.sentences(work)),
    )


def _beside_others(label: RegionLabel, region: ShownRegion, others: Sequence[ShownRegion]) -> RegionLabel:
    """The label with the figures of the other loops that were compiled from the same one: by work if all of
    them can be compared, per iteration otherwise."""
    shown = [each.result for each in others if each.result.figure]
    work = region.result.work if label.rate else None
    paces = [Pace(each.cycles, each.work) for each in shown if each.cycles is not None]
    if (
        work is None
        or len(paces) < len(shown)
        or not all(pace.work and comparable(pace.work, work) for pace in paces)
    ):
        return replace(label, also=tuple(each.figure for each in shown), rate="" if shown else label.rate)
    return replace(label, also=tuple(written(pace.cycles_for(work) / work.amount)[0] for pace in paces))


def measured_figure(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> MeasuredFigure:
    """The region's figure on this machine; empty if it was not measured since the last edit. It names the
    machine's core where the line shows the figure of another one."""
    found = server.measurements.get(snapshot, region.result.name)
    if found is None:
        return MeasuredFigure()
    predicted, core = found.rows[0][:2]
    if core and core != region.result.microarchitecture:
        return MeasuredFigure(f"{core}: {found.title}")
    return MeasuredFigure(found.title, f"{predicted:.2f}" if isinstance(predicted, float) else "")


def advice_for(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> Advice | None:
    """The advice for a region; None if there is none, or if the settings do not want it."""
    return server.searches.advice(snapshot, region) if server.settings["advice"] else None


def _change(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> str:
    result = region.result
    before = server.baselines.before(snapshot, result)
    if before is None or result.cycles is None or region.stale or not server.settings["hints.change"]:
        return ""
    return change(before, Pace(result.cycles, result.work))


def _also(region: ShownRegion) -> str:
    result = region.result
    hint = next((each for each in result.hints if each.kind == region_hint.KIND), None)
    return f"The compiler made {result.name} of this loop, too: {hint.tooltip if hint else result.headline}"


def _label(parts: Sequence[_HintPart], heated: bool) -> str:
    """The text of a line's hint; in regions with bars, the bar has its own column."""
    bar = next((part.label for part in parts if part.heat), "")
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
