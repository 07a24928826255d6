"""textDocument/selectionRange: what a selection grows to: the word, the operand, the statement, the line, the
region, the lines of the label around it, the text."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts import statements
from cyclelens.server.texts.words import word_at
from lsprotocol import types

Span = tuple[int, int, int, int]
"""Line and column of the start, line and column of the end; columns are code points."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def selections(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        snapshot = server.session.assembly(params.text_document.uri, part=True)
        if snapshot is None:
            return None
        return [_selection(server, snapshot, position) for position in params.positions]


def _selection(server: CyclelensServer, snapshot: Snapshot, position: types.Position) -> types.SelectionRange:
    lines = snapshot.lines
    line, column = server.converter.offset(lines, position)
    chain: list[Span] = []
    for span in _spans(snapshot, line, column):
        if not chain or _contains(span, chain[-1]):
            chain.append(span)
    selection: types.SelectionRange | None = None
    for first, start, last, end in reversed(chain):
        place = types.Range(
            server.converter.position(lines, first, start), server.converter.position(lines, last, end)
        )
        selection = types.SelectionRange(place, selection)
    assert selection is not None, "the whole text is always there"
    return selection


def _contains(outer: Span, inner: Span) -> bool:
    """Whether a span is larger than another one, which lies within it."""
    return outer != inner and outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _spans(snapshot: Snapshot, line: int, column: int) -> Iterator[Span]:
    """What lies around a position, from small to large."""
    lines = snapshot.lines
    text = lines[line]
    if word := word_at(lines, line, column):
        yield line, word[0].column, line, word[0].end_column
    for start, end in statements.around(text, column):
        yield line, start, line, end
    yield line, len(text) - len(text.lstrip()), line, len(text.rstrip())
    yield line, 0, line, len(text)
    around = [
        each.result for each in snapshot.regions if each.result.first_line <= line <= each.result.last_line
    ]
    for region in sorted(around, key=lambda each: each.last_line - each.first_line):
        end = min(region.last_line, len(lines) - 1)
        yield region.first_line, 0, end, len(lines[end])
    first, last = statements.label_block(lines, line)
    yield first, 0, last, len(lines[last])
    yield 0, 0, len(lines) - 1, len(lines[-1])
