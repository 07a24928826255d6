"""textDocument/hover: on an instruction its facts, on a region's opening marker the summary and timeline."""

from __future__ import annotations

from cyclelens.server.features.inlay_hints import STALE_SENTENCE
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import Snapshot
from lsprotocol import types
from pygls.capabilities import get_capability


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        snapshot = server.session.get(params.text_document.uri)
        text = hover_text(snapshot, params.position.line) if snapshot else ""
        if not text:
            return None
        formats = get_capability(server.client_capabilities, "text_document.hover.content_format", None) or ()
        markdown = types.MarkupKind.Markdown in formats
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, text if markdown else plain(text)))


def hover_text(snapshot: Snapshot, line: int) -> str:
    """Markdown for a line; empty where there is nothing to say."""
    region = snapshot.region_at(line)
    if region is None:
        return ""
    result = region.result
    if line == result.first_line:
        parts = [result.summary or result.note]
        parts += [
            f"{timeline.microarchitecture}, the first iterations:\n\n```text\n{timeline.text}\n```"
            for timeline in result.timelines
        ]
        text = "\n\n".join(part for part in parts if part)
    else:
        text = result.cards.get(line, "")
    if text and region.stale:
        text = f"*{result.note or STALE_SENTENCE}*\n\n{text}"
    return text


def plain(markdown: str) -> str:
    """Markdown for clients that show it as it is: without fences and emphasis."""
    lines = [line for line in markdown.split("\n") if not line.startswith("```")]
    return "\n".join(lines).replace("**", "").replace("`", "")
