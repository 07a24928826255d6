"""textDocument/semanticTokens/full, full/delta and range: colours for instructions, registers, labels and
more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import BY_NAME, detect, semicolon_starts_comment
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.convert import Converter, to_client
from cyclelens.server.texts import tokens
from cyclelens.server.texts.tokens import TokenKind
from lsprotocol import types
from msgspec import Struct, field

MAX_LINES = 20_000
"""Longest text, in lines, that is coloured as a whole; of longer texts only the visible part is."""

_LINES_AT_ONCE = 1_000
"""Lines after which other messages get a turn."""

_TYPES = {
    TokenKind.INSTRUCTION: types.SemanticTokenTypes.Keyword,
    TokenKind.REGISTER: types.SemanticTokenTypes.Variable,
    # "label" is newer than many clients in use.
    TokenKind.LABEL: types.SemanticTokenTypes.Function,
    TokenKind.DIRECTIVE: types.SemanticTokenTypes.Macro,
    TokenKind.NUMBER: types.SemanticTokenTypes.Number,
    TokenKind.COMMENT: types.SemanticTokenTypes.Comment,
    TokenKind.STRING: types.SemanticTokenTypes.String,
    TokenKind.SIZE: types.SemanticTokenTypes.Type,
    TokenKind.SYMBOL: types.SemanticTokenTypes.EnumMember,
}
LEGEND = types.SemanticTokensLegend(
    token_types=[_TYPES[kind].value for kind in sorted(_TYPES)],
    token_modifiers=[
        types.SemanticTokenModifiers.Definition.value,
        types.SemanticTokenModifiers.Documentation.value,
    ],
)
_DEFINED, _MARKER = 1, 2
"""Bits of the modifiers above."""


class _Coloured(Struct):
    """Cached tokens of an open document."""

    words: tokens.WordCache = field(default_factory=tokens.WordCache)
    identifier: str = ""
    sent: list[int] = []
    """Numbers of the tokens that the client has, under ``identifier``."""


def register(server: CyclelensServer) -> None:
    """Register the requests."""
    coloured: dict[str, _Coloured] = {}
    server.close_listeners.append(lambda uri: coloured.pop(uri, None))

    async def whole(uri: str) -> types.SemanticTokens | None:
        snapshot = server.session.assembly(uri)
        if snapshot is None or len(snapshot.lines) > MAX_LINES:
            return None
        known = coloured.setdefault(uri, _Coloured())
        data = await _data(known.words, snapshot, server.converter, 0, len(snapshot.lines) - 1)
        known.identifier, known.sent = str(snapshot.revision), data
        return types.SemanticTokens(data=data, result_id=known.identifier)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def full(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await whole(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)
    async def delta(
        params: types.SemanticTokensDeltaParams,
    ) -> types.SemanticTokens | types.SemanticTokensDelta | None:
        known = coloured.get(params.text_document.uri, _Coloured())
        identifier, before = known.identifier, known.sent
        answer = await whole(params.text_document.uri)
        if answer is None or identifier != params.previous_result_id:
            return answer
        return types.SemanticTokensDelta(edits=_edits(before, answer.data), result_id=answer.result_id)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def part(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        snapshot = server.session.assembly(params.text_document.uri, part=True)
        if snapshot is None:
            return None
        known = coloured.setdefault(snapshot.uri, _Coloured())
        first, last = params.range.start.line, params.range.end.line
        return types.SemanticTokens(data=await _data(known.words, snapshot, server.converter, first, last))


async def _data(
    words: tokens.WordCache, snapshot: Snapshot, converter: Converter, first: int, last: int
) -> list[int]:
    """Five numbers per word: lines and characters since the previous word, length, type, modifiers."""
    # The beginning of a long text is enough to detect its dialect.
    source = SourceText("\n".join(snapshot.lines[:MAX_LINES]))
    comments = semicolon_starts_comment(source, BY_NAME.get(snapshot.dialect) or detect(source))
    data: list[int] = []
    previous_line = 0
    for line, found in words.tokens(snapshot.lines, first, last, semicolon_comments=comments):
        text, encoding = snapshot.lines[line], converter.encoding
        plain = text.isascii()
        previous = 0
        for token in found:
            start, end = token.column, token.column + token.length
            if not plain:
                start, end = to_client(text, start, encoding), to_client(text, end, encoding)
            modifiers = _DEFINED * token.defined + _MARKER * token.marker
            data += (line - previous_line, start - previous, end - start, token.kind, modifiers)
            previous, previous_line = start, line
        if line % _LINES_AT_ONCE == 0:
            await asyncio.sleep(0)
    return data


def _edits(before: Sequence[int], after: Sequence[int]) -> list[types.SemanticTokensEdit]:
    """A single edit that spans all differences; empty if there are none."""
    limit = min(len(before), len(after))
    head = next((i for i in range(limit) if before[i] != after[i]), limit)
    tail = next((i for i in range(limit - head) if before[-1 - i] != after[-1 - i]), limit - head)
    removed, added = len(before) - head - tail, list(after[head : len(after) - tail])
    if not removed and not added:
        return []
    return [types.SemanticTokensEdit(start=head, delete_count=removed, data=added)]
