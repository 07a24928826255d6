"""textDocument/documentSymbol: the regions by name, with their labels, and all other labels and macros."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts import labels
from lsprotocol import types
from pygls.capabilities import get_capability

MAX_SYMBOLS = 5_000
"""Largest number of labels in an answer, so that editors can handle the list."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(
        params: types.DocumentSymbolParams,
    ) -> Sequence[types.DocumentSymbol] | Sequence[types.SymbolInformation]:
        snapshot = server.session.assembly(params.text_document.uri)
        if snapshot is None:
            return []
        outside = list(itertools.islice(_names(server, snapshot), MAX_SYMBOLS))
        found = []
        for region in snapshot.regions:
            result, end = region.result, min(region.result.last_line, len(snapshot.lines) - 1)
            first = server.converter.position(snapshot.lines, result.first_line, 0)
            last = server.converter.position(snapshot.lines, end, len(snapshot.lines[end]))
            line = server.converter.range(
                snapshot.lines, result.first_line, 0, len(snapshot.lines[result.first_line])
            )
            begin = bisect_left(outside, result.first_line, key=_line)
            behind = bisect_right(outside, end, key=_line)
            inside = outside[begin:behind]
            del outside[begin:behind]
            found.append(
                types.DocumentSymbol(
                    name=result.name or "region",
                    kind=types.SymbolKind.Function,
                    range=types.Range(first, last),
                    selection_range=line,
                    detail=result.headline or None,
                    children=inside,
                )
            )
        found = sorted(found + outside, key=_line)
        path = "text_document.document_symbol.hierarchical_document_symbol_support"
        if get_capability(server.client_capabilities, path, False):
            return found
        return [
            types.SymbolInformation(
                name=symbol.name,
                kind=symbol.kind,
                location=types.Location(uri=snapshot.uri, range=symbol.range),
            )
            for top in found
            for symbol in (top, *(top.children or ()))
        ]


def _line(symbol: types.DocumentSymbol) -> int:
    return symbol.range.start.line


def _names(server: CyclelensServer, snapshot: Snapshot) -> Iterator[types.DocumentSymbol]:
    for name in labels.definitions(snapshot.lines):
        kind = types.SymbolKind.Key if name.label else types.SymbolKind.Constant
        place = server.converter.range(snapshot.lines, name.line, name.column, name.end_column)
        yield types.DocumentSymbol(name.text, kind, place, place)
