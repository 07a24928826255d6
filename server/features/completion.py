"""textDocument/completion: markers and their options in comments, directives behind a dot, labels behind a
jump, and instructions with their costs.

vfma|     vfmadd231ps     1 uop p01 · latency 4 · 0.50 cycles · SKL
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cyclelens.analyzer.engine.settings import MARKERS
from cyclelens.analyzer.frontend.source.lexer import COMMENT_SIGN
from cyclelens.analyzer.frontend.statements.directive_meanings import directive_meaning
from cyclelens.analyzer.frontend.statements.directives import ALIGNMENTS, SILENT
from cyclelens.analyzer.insight.costs import ATT_NAMES
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.server.display.costs import documentation
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.labels import Names
from cyclelens.server.texts.tokens import TokenKind, line_tokens
from lsprotocol import types
from pygls.capabilities import get_capability

_DIRECTIVES = tuple(
    sorted(SILENT | ALIGNMENTS.keys() | {"set", "equ", "rept", "endr", "macro", "endm", "byte", "quad"})
)
_MARKERS = ("cyclelens-begin", "cyclelens-end")

MAX_MNEMONICS = 100
"""Largest number of mnemonics in an answer; the client asks again after further typing."""
_ATT_NAMES = frozenset(name.lower() for names in ATT_NAMES.values() for name in names)

_OPTION = re.compile(
    rf"cyclelens-begin\s+(?:\S+\s+)+(?:(?P<key>{'|'.join(MARKERS)})=(?:[^\s,]+,)*)?(?P<word>[^\s,=]*)$",
    re.IGNORECASE,
)
_COMMENT = re.compile(rf"{COMMENT_SIGN}\s*(?P<word>[\w-]*)$")
_DIRECTIVE = re.compile(r"(?:^|[\s:;])\.(?P<word>\w*)$")
_JUMP = re.compile(r"(?:^|[\s:;])(?:j[a-z]+|loop[a-z]*|call[q]?)\s+(?P<word>[\w.$]*)$", re.IGNORECASE)


def register(server: CyclelensServer) -> None:
    """Register the requests."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["#", ".", "-", "="], resolve_provider=True),
    )
    async def complete(params: types.CompletionParams) -> types.CompletionList | None:
        snapshot = server.session.assembly(params.text_document.uri)
        if snapshot is None:
            return None
        converter = server.converter
        line, column = converter.offset(snapshot.lines, params.position)
        before = snapshot.lines[line][:column]

        def item(
            word: str, text: str, kind: types.CompletionItemKind, detail: str = "", data: Any = None
        ) -> types.CompletionItem:
            # Replace exactly the typed word: editors disagree on whether a dot or a hyphen belongs to it.
            place = converter.range(snapshot.lines, line, column - len(word), column)
            edit = types.TextEdit(place, text)
            return types.CompletionItem(text, kind=kind, detail=detail or None, text_edit=edit, data=data)

        items = [item(*candidate) for candidate in _candidates(server.session.names(snapshot), line, before)]
        word = _mnemonic(before)
        if items or not word:
            return types.CompletionList(False, items)
        name = server.settings_of(snapshot).cores[0]
        unknown = _ATT_NAMES if snapshot.dialect == "intel" else frozenset()
        for mnemonic, variants in (await server.costs.of(name)).items():
            if mnemonic.startswith(word.lower()) and mnemonic not in unknown:
                written = mnemonic.upper() if word.isupper() else mnemonic
                kind = types.CompletionItemKind.Function
                items.append(item(word, written, kind, f"{variants[0].short} · {name}", [name, mnemonic]))
        return types.CompletionList(len(items) > MAX_MNEMONICS, items[:MAX_MNEMONICS])

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        if isinstance(item.data, list | tuple) and len(item.data) == 2 and item.data[0] in registry.names():
            name, mnemonic = item.data
            text = documentation(name, mnemonic, (await server.costs.of(name)).get(mnemonic, ()))
            path = "text_document.completion.completion_item.documentation_format"
            markdown = types.MarkupKind.Markdown in (
                get_capability(server.client_capabilities, path, None) or ()
            )
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text) if markdown else text
        return item


def _mnemonic(before: str) -> str:
    """The typed part of a mnemonic; empty in any other place."""
    found, _ = line_tokens(before, False, False)
    last = found[-1] if found else None
    if last is None or last.kind is not TokenKind.INSTRUCTION or last.column + last.length != len(before):
        return ""
    return before[last.column :]


def _candidates(
    names: Names, line: int, before: str
) -> Iterator[tuple[str, str, types.CompletionItemKind, str]]:
    """The typed part, the whole word, its kind, and what it does if that is known."""
    if match := _JUMP.search(before):
        for name, places in sorted(names.index.items()):
            if not places[0].label:
                continue
            if name.isdigit():
                name += "b" if places[0].line <= line else "f"
            if name.startswith(match["word"]):
                yield match["word"], name, types.CompletionItemKind.Reference, ""
    elif match := _OPTION.search(before):
        key = match["key"]
        choices = MARKERS[key.lower()].offered() if key else tuple(f"{known}=" for known in MARKERS)
        for choice in choices:
            if choice.lower().startswith(match["word"].lower()):
                yield match["word"], choice, types.CompletionItemKind.Property, ""
    elif match := _COMMENT.search(before):
        for marker in _MARKERS:
            if marker.startswith(match["word"]):
                yield match["word"], marker, types.CompletionItemKind.Snippet, ""
    elif match := _DIRECTIVE.search(before):
        for directive in _DIRECTIVES:
            if directive.startswith(match["word"]):
                kind, about = types.CompletionItemKind.Keyword, directive_meaning(directive)
                yield f".{match['word']}", f".{directive}", kind, about
