"""textDocument/documentHighlight: the uses of the label, symbol, macro or register under the cursor.

Editors ask at every move of the cursor, so the answer takes the lines near it only, whatever the text's
length. A register is highlighted in all its widths, within its region if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.uops.registers import canonical
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.labels import Name, Names
from cyclelens.server.texts.tokens import TokenKind
from cyclelens.server.texts.words import Word, word_at, words
from lsprotocol import types

NEAR = 1_000
"""Number of lines before and behind the cursor in which uses are searched."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        snapshot = server.session.assembly(params.text_document.uri, part=True)
        if snapshot is None:
            return []
        line, column = server.converter.offset(snapshot.lines, params.position)
        place, kind = word_at(snapshot.lines, line, column) or (None, None)
        if place is None:
            return []
        first, last = max(line - NEAR, 0), min(line + NEAR, len(snapshot.lines) - 1)
        if kind is TokenKind.REGISTER:
            region = snapshot.region_at(line)
            if region is not None:
                first, last = max(first, region.result.first_line), min(last, region.result.last_line)
            uses: Iterator[tuple[Name | Word, types.DocumentHighlightKind]] = (
                (use, types.DocumentHighlightKind.Text)
                for number in range(first, last + 1)
                for use, other in words(snapshot.lines, number)
                if other is kind and _register(use) == _register(place)
            )
        else:
            near = Names(snapshot.lines[first : last + 1])
            uses = _uses_of_name(near, near.definition_at(line - first, column))
        offset = 0 if kind is TokenKind.REGISTER else first
        return [
            types.DocumentHighlight(
                server.converter.range(snapshot.lines, use.line + offset, use.column, use.end_column), how
            )
            for use, how in uses
        ]


def _register(word: Word) -> str:
    return canonical(word.text.upper())


def _uses_of_name(names: Names, target: Name | None) -> Iterator[tuple[Name, types.DocumentHighlightKind]]:
    """A definition and the references to it."""
    if target is not None:
        yield target, types.DocumentHighlightKind.Write
        for use in names.references_to(target):
            yield use, types.DocumentHighlightKind.Read
