"""textDocument/inlayHint and workspace/inlayHint/refresh.

# cyclelens-begin dot        predicted 4.00, measured 4.02  4.00 cycles/iter · SKL · latency
    add $32, %rsi            p0156
# cyclelens-begin sum        1.00 cycles/iter · SKL · front end (stale)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cyclelens.analyzer.hints import region as region_hint
from cyclelens.analyzer.hints.change import label_with_change
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.result import Hint
from cyclelens.server.convert import Converter
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import ShownRegion, Snapshot
from lsprotocol import types
from pygls.capabilities import get_capability

MAXIMUM_LENGTH = 43
"""Characters of hints that VS Code shows on a line."""

STALE_SUFFIX = " (stale)"

STALE_SENTENCE = "This is the last complete result; the text has changed since."


def register(server: CyclelensServer) -> None:
    """Register the request; ask the client to repeat it after each analysis, if it can."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        nested = snapshot.has_nested_regions
        # What was just asked for comes first: the line has not room for both.
        return [
            hint
            for region in snapshot.regions
            if first <= region.result.first_line <= last
            for hint in measured(snapshot, region)
        ] + [
            _inlay_hint(snapshot, server.converter, region, with_change(snapshot, region, hint))
            for region in snapshot.regions
            for hint in region.result.hints
            if first <= hint.line <= last and (not nested or is_shown(snapshot, region, hint))
        ]

    def measured(snapshot: Snapshot, region: ShownRegion) -> Iterator[types.InlayHint]:
        """What the region took on this machine, on its opening line."""
        found = server.measurements.get(snapshot, region.result.name)
        if found is not None:
            line = region.result.first_line
            end = server.converter.position(snapshot.lines, line, len(snapshot.lines[line]))
            yield types.InlayHint(end, found.title, tooltip=found.text, padding_left=True)

    def is_shown(snapshot: Snapshot, region: ShownRegion, hint: Hint) -> bool:
        """Within nested regions a line says what the innermost has to say: two would not fit."""
        return hint.kind == region_hint.KIND or snapshot.region_at(hint.line) is region

    def with_change(snapshot: Snapshot, region: ShownRegion, hint: Hint) -> Hint:
        """The hint on the opening line compares with the last save or the pinned baseline."""
        result = region.result
        before = server.baselines.before(snapshot, result)
        if (
            hint.kind != region_hint.KIND
            or before is None
            or result.cycles is None
            or region.stale
            or not server.settings["hints.change"]
        ):
            return hint
        return replace(hint, label=label_with_change(hint.label, before, Pace(result.cycles, result.work)))

    def refresh(_snapshot: Snapshot) -> None:
        if get_capability(server.client_capabilities, "workspace.inlay_hint.refresh_support", False):
            server.workspace_inlay_hint_refresh(None)

    server.result_listeners.append(refresh)


def stale_label(label: str) -> str:
    """The label with the mark behind it, shortened so that the mark is never cut off."""
    room = MAXIMUM_LENGTH - len(STALE_SUFFIX)
    return (label if len(label) <= room else label[: room - 1].rstrip() + "…") + STALE_SUFFIX


def _inlay_hint(snapshot: Snapshot, converter: Converter, region: ShownRegion, hint: Hint) -> types.InlayHint:
    label, tooltip = hint.label, hint.tooltip
    if region.stale:
        # Once for each region is enough to see; every tooltip says it.
        label = stale_label(label) if hint.line == region.result.first_line else label
        reason = region.result.note or STALE_SENTENCE
        tooltip = f"{reason}\n\n{tooltip}" if tooltip else reason
    return types.InlayHint(
        position=converter.position(snapshot.lines, hint.line, hint.column),
        label=label,
        tooltip=tooltip or None,
        padding_left=True,
    )
