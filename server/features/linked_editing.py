"""textDocument/linkedEditingRange: while a user types at the definition of a label, a symbol or a macro, its
uses change with it.

A use is never linked: who types there means another label. Numeric labels are not linked either, because
their uses carry a letter (``1f``), nor names with several definitions.
"""

from __future__ import annotations

from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.labels import Name, Names, occurrences
from lsprotocol import types

WORD = r"[A-Za-z_.$@?][\w.$@?]*"
"""What a name may become without ending the linked editing; clients read it as JavaScript does."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE)
    def linked(params: types.LinkedEditingRangeParams) -> types.LinkedEditingRanges | None:
        snapshot = server.session.assembly(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, params.position)
        target = Names(snapshot.lines).at(line, column)
        if target is None or not target.defined:
            return None
        found = list(occurrences(snapshot.lines, target.text))
        if len(found) < 2 or any(use.text != target.text for use in found):
            return None
        if sum(use.defined for use in found) != 1:
            return None

        def place(name: Name) -> types.Range:
            return server.converter.range(snapshot.lines, name.line, name.column, name.end_column)

        return types.LinkedEditingRanges([place(name) for name in found], WORD)
