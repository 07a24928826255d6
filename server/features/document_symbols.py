"""textDocument/documentSymbol: the regions by name, and the labels inside of them."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.server import labels
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import Snapshot
from lsprotocol import types
from pygls.capabilities import get_capability


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(
        params: types.DocumentSymbolParams,
    ) -> Sequence[types.DocumentSymbol] | Sequence[types.SymbolInformation]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return []
        found = []
        for region in snapshot.regions:
            result, end = region.result, min(region.result.last_line, len(snapshot.lines) - 1)
            first = server.converter.position(snapshot.lines, result.first_line, 0)
            last = server.converter.position(snapshot.lines, end, len(snapshot.lines[end]))
            line = server.converter.range(
                snapshot.lines, result.first_line, 0, len(snapshot.lines[result.first_line])
            )
            found.append(
                types.DocumentSymbol(
                    name=result.name or "region",
                    kind=types.SymbolKind.Function,
                    range=types.Range(first, last),
                    selection_range=line,
                    detail=result.headline or None,
                    children=_labels(server, snapshot, result.first_line, end),
                )
            )
        path = "text_document.document_symbol.hierarchical_document_symbol_support"
        if get_capability(server.client_capabilities, path, False):
            return found
        return [
            types.SymbolInformation(
                name=symbol.name,
                kind=symbol.kind,
                location=types.Location(uri=snapshot.uri, range=symbol.range),
            )
            for symbol in found
        ]


def _labels(server: CyclelensServer, snapshot: Snapshot, first: int, last: int) -> list[types.DocumentSymbol]:
    return [
        types.DocumentSymbol(name.text, types.SymbolKind.Key, place, place)
        for name in labels.definitions(snapshot.lines[first : last + 1])
        if name.label
        for place in [server.converter.range(snapshot.lines, first + name.line, name.column, name.end_column)]
    ]
