"""textDocument/completion: markers behind a comment sign, directives behind a dot, labels behind a jump."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.assembly.directives import ALIGNMENTS, SILENT
from cyclelens.server import labels
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import Snapshot
from lsprotocol import types

_DIRECTIVES = tuple(
    sorted(SILENT | ALIGNMENTS | {"set", "equ", "rept", "endr", "macro", "endm", "byte", "quad"})
)
_MARKERS = ("cyclelens-begin", "cyclelens-end")

_COMMENT = re.compile(r"(?:#|//|;)\s*(?P<word>[\w-]*)$")
_DIRECTIVE = re.compile(r"(?:^|[\s:;])\.(?P<word>\w*)$")
_JUMP = re.compile(r"(?:^|[\s:;])(?:j[a-z]+|loop[a-z]*|call[q]?)\s+(?P<word>[\w.$]*)$", re.IGNORECASE)


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["#", ".", "-"])
    )
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return []
        line, column = server.converter.offset(snapshot.lines, params.position)
        items = []
        for word, text, kind in _candidates(snapshot, line, snapshot.lines[line][:column]):
            # An edit of the very word: editors do not agree on whether a dot or a hyphen belongs to it.
            place = server.converter.range(snapshot.lines, line, column - len(word), column)
            items.append(types.CompletionItem(label=text, kind=kind, text_edit=types.TextEdit(place, text)))
        return items


def _candidates(
    snapshot: Snapshot, line: int, before: str
) -> Iterator[tuple[str, str, types.CompletionItemKind]]:
    """What was typed of it, the whole, and its kind."""
    if match := _JUMP.search(before):
        names = {name.text for name in labels.definitions(snapshot.lines) if name.label}
        for name in sorted(names):
            if name.isdigit():
                earlier = any(
                    known.text == name and known.line <= line for known in labels.definitions(snapshot.lines)
                )
                name += "b" if earlier else "f"
            if name.startswith(match["word"]):
                yield match["word"], name, types.CompletionItemKind.Reference
    elif match := _COMMENT.search(before):
        for marker in _MARKERS:
            if marker.startswith(match["word"]):
                yield match["word"], marker, types.CompletionItemKind.Snippet
    elif match := _DIRECTIVE.search(before):
        for directive in _DIRECTIVES:
            if directive.startswith(match["word"]):
                yield f".{match['word']}", f".{directive}", types.CompletionItemKind.Keyword
