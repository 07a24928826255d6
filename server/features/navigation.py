"""textDocument/definition, references and foldingRange: labels, symbols and macros; regions, macros,
repetitions and conditions fold."""

from __future__ import annotations

from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts import labels
from lsprotocol import types


def register(server: CyclelensServer) -> None:
    """Register the requests."""

    def location(snapshot: Snapshot, name: labels.Name) -> types.Location:
        place = server.converter.range(snapshot.lines, name.line, name.column, name.end_column)
        return types.Location(uri=snapshot.uri, range=place)

    def defined(snapshot: Snapshot, position: types.Position) -> labels.Name | None:
        line, column = server.converter.offset(snapshot.lines, position)
        return server.session.names(snapshot).definition_at(line, column)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        snapshot = server.session.assembly(params.text_document.uri)
        found = defined(snapshot, params.position) if snapshot else None
        return location(snapshot, found) if snapshot and found else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        snapshot = server.session.assembly(params.text_document.uri)
        target = defined(snapshot, params.position) if snapshot else None
        if snapshot is None or target is None:
            return []
        found = [target] if params.context.include_declaration else []
        references = server.session.names(snapshot).references_to(target)
        return [location(snapshot, name) for name in (*found, *references)]

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        snapshot = server.session.assembly(params.text_document.uri)
        if snapshot is None:
            return []
        regions = [(region.result.first_line, region.result.last_line) for region in snapshot.regions]
        kinds = dict.fromkeys(labels.blocks(snapshot.lines)) | dict.fromkeys(
            regions, types.FoldingRangeKind.Region
        )
        return [
            types.FoldingRange(start_line=first, end_line=last, kind=kind)
            for (first, last), kind in sorted(kinds.items())
            if last > first
        ]
