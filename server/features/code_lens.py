"""textDocument/codeLens: above each region
``Timeline | Compare CPUs | Alignment | Measure``, behind the figure if the settings put it there: ``4.00
cycles/iter · SKL · latency-bound``. Of many unmarked loops each has at most the figure. In a source, the
other loops compiled from the same one follow: ``chain.loop-2: 7.00``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight.label import headline
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.features.commands import LENSES, TIMELINE
from cyclelens.server.features.history import HISTORY, strip
from cyclelens.server.features.inlay_hints import shown_label
from cyclelens.server.features.measure import MEASURE, is_offered
from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types
from pygls.capabilities import get_capability


def register(server: CyclelensServer) -> None:
    """Register the request; have the client repeat it after each analysis, if it can."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None or not server.settings["codeLens.enabled"]:
            return []
        offered = [*LENSES, *([("Measure", MEASURE)] if is_offered(server) else [])]
        return [
            types.CodeLens(
                range=server.converter.range(snapshot.lines, region.result.first_line, 0, 0), command=command
            )
            for region, others in snapshot.leading()
            if region.result.headline
            for command in (
                *figure(snapshot, region),
                *_commands(snapshot.uri, region, offered),
                *_also(snapshot.uri, others),
                *history(snapshot, region),
            )
        ]

    def figure(snapshot: Snapshot, region: ShownRegion) -> Iterator[types.Command]:
        """The figure, if the settings show it in a lens. It has no command, as there is nothing to run."""
        if server.settings["figure"] != "hint":
            labels = [shown_label(server, snapshot, region), *region.result.labels[1:]]
            yield types.Command(title=headline(labels, stale=region.stale), command="")

    def history(snapshot: Snapshot, region: ShownRegion) -> Iterator[types.Command]:
        """The figures since the document was opened, once there are several."""
        title = strip(server.history.of(snapshot, region))
        if title:
            yield types.Command(title, HISTORY, arguments=[snapshot.uri, region.result.name])

    def refresh(_snapshot: Snapshot) -> None:
        if get_capability(server.client_capabilities, "workspace.code_lens.refresh_support", False):
            server.workspace_code_lens_refresh(None)

    server.result_listeners.append(refresh)


def _commands(uri: str, region: ShownRegion, offered: Sequence[tuple[str, str]]) -> Iterator[types.Command]:
    for title, command in () if region.result.quiet else offered:
        yield types.Command(title=title, command=command, arguments=[uri, region.result.name])


def _also(uri: str, others: Sequence[ShownRegion]) -> Iterator[types.Command]:
    """The other loops compiled from this source loop."""
    for region in others:
        if region.result.figure:
            title = f"{region.result.name}: {region.result.figure}"
            yield types.Command(title=title, command=TIMELINE, arguments=[uri, region.result.name])
