"""textDocument/codeLens: above each region
``4.00 cycles/iter · SKL · latency-bound | Timeline | Compare CPUs | Alignment | Measure``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.server.features.commands import LENSES
from cyclelens.server.features.inlay_hints import STALE_SUFFIX
from cyclelens.server.features.measure import MEASURE, is_offered
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import ShownRegion, Snapshot
from lsprotocol import types
from pygls.capabilities import get_capability


def register(server: CyclelensServer) -> None:
    """Register the request; ask the client to repeat it after each analysis, if it can."""

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
            for region in snapshot.regions
            if region.result.headline
            for command in _commands(snapshot.uri, region, offered)
        ]

    def refresh(_snapshot: Snapshot) -> None:
        if get_capability(server.client_capabilities, "workspace.code_lens.refresh_support", False):
            server.workspace_code_lens_refresh(None)

    server.result_listeners.append(refresh)


def _commands(uri: str, region: ShownRegion, offered: Sequence[tuple[str, str]]) -> Iterator[types.Command]:
    # No command: the title is the message, there is nothing to run.
    yield types.Command(title=region.result.headline + (STALE_SUFFIX if region.stale else ""), command="")
    for title, command in offered:
        yield types.Command(title=title, command=command, arguments=[uri, region.result.name])
