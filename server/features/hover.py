"""textDocument/hover: the cost of an instruction, in context inside a region and alone elsewhere; the summary
on a region's first line, both with a timeline; what a register or a directive is; the definition and uses of
a label."""

from __future__ import annotations

import asyncio
import re

from cyclelens.analyzer.common.escaping import prose, without_markdown
from cyclelens.analyzer.frontend.statements.directive_meanings import directive_meaning
from cyclelens.analyzer.frontend.statements.register_meanings import register_meaning
from cyclelens.server.display import messages
from cyclelens.server.display.costs import documentation, variants
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.features.commands import shows
from cyclelens.server.features.inlay_hints import STALE_SENTENCE, advice_for
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.labels import Names
from cyclelens.server.texts.tokens import TokenKind, line_tokens
from lsprotocol import types
from pygls.capabilities import get_capability

PATIENCE = 3.0
"""Seconds that a hover waits for instruction cards, which follow soon after the figures, and again for its
timeline. Editors show meanwhile that it is loading, and ask for nothing again while a hover is open."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        snapshot = await server.detailed(params.text_document.uri, PATIENCE)
        if snapshot is None:
            return None
        text = with_findings(
            server, snapshot, params.position.line, hover_text(snapshot, params.position.line)
        )
        if fastest := rewrite_text(server, snapshot, params.position.line):
            text = f"{text}\n\n{fastest}"
        if text and (drawn := await timeline_text(snapshot, params.position.line)):
            text = f"{text}\n\n{drawn}"
        if call := call_text(snapshot, *server.converter.offset(snapshot.lines, params.position)):
            text = f"{call}\n\n{text}".rstrip()
        line, column = server.converter.offset(snapshot.lines, params.position)
        if not snapshot.language and (word := word_text(snapshot.lines[line], column)):
            text = f"{word}\n\n{text}".rstrip()
        if not text and not snapshot.language:
            text = await cost_text(snapshot, params.position) or name_text(
                server.session.names(snapshot), *server.converter.offset(snapshot.lines, params.position)
            )
        if not text:
            return None
        formats = get_capability(server.client_capabilities, "text_document.hover.content_format", None) or ()
        markdown = types.MarkupKind.Markdown in formats
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, text if markdown else without_markdown(text)))

    async def timeline_text(snapshot: Snapshot, line: int) -> str:
        """A timeline around a line, which the worker draws now; empty for sources, and for a text whose
        analysis is not done."""
        region = snapshot.region_at(line)
        wanted = server.settings_of(snapshot)["hover.timeline"] and not snapshot.language
        if region is None or region.stale or not wanted or snapshot.detailed != snapshot.revision:
            return ""
        try:
            async with asyncio.timeout(PATIENCE):
                return await server.jobs.timeline(server.analysis_of(snapshot), region.result.name, line)
        except TimeoutError:
            return ""
        except RuntimeError as error:
            server.note(types.MessageType.Error, messages.no_timeline(str(error)))
            return ""

    async def cost_text(snapshot: Snapshot, position: types.Position) -> str:
        line, column = server.converter.offset(snapshot.lines, position)
        mnemonic = instruction_at(snapshot.lines[line], column)
        name = server.settings_of(snapshot).cores[0]
        found = variants(await server.costs.of(name), mnemonic) if mnemonic else ()
        return documentation(name, mnemonic, found) if found else ""


def instruction_at(line: str, column: int) -> str:
    """The mnemonic at a position; empty if there is none."""
    for token in line_tokens(line, False, False)[0]:
        if token.kind is TokenKind.INSTRUCTION and token.column <= column <= token.column + token.length:
            return line[token.column : token.column + token.length]
    return ""


def word_text(line: str, column: int) -> str:
    """Markdown about the register or directive at a position; empty if there is none."""
    for token in line_tokens(line, False, False)[0]:
        about = _MEANINGS.get(token.kind)
        if about and token.column <= column < token.column + token.length:
            word = line[token.column : token.column + token.length]
            return f"**`{word}`**: {said}" if (said := about(word)) else ""
    return ""


def call_text(snapshot: Snapshot, line: int, column: int) -> str:
    """Markdown about the intrinsic at a position of a source; empty if there is none."""
    for word in _WORD.finditer(snapshot.lines[line]) if snapshot.calls else ():
        if word.start() <= column <= word.end():
            if known := snapshot.calls.get(word[0]):
                return known
            if _INTRINSIC.fullmatch(word[0]):
                return (
                    f"**`{word[0]}`** has no instruction of its own here: the compiler merged it into "
                    "others or removed it."
                )
    return ""


def name_text(names: Names, line: int, column: int) -> str:
    """Where the name at a position is defined and used; empty if there is none."""
    target = names.definition_at(line, column)
    if target is None:
        return ""
    used = [str(number + 1) for number in dict.fromkeys(each.line for each in names.references_to(target))]
    where = f"used in line{'s' * (len(used) > 1)} {', '.join(used)}" if used else "not used in this file"
    return f"`{target.text}` is defined in line {target.line + 1} and {where}."


_MEANINGS = {TokenKind.REGISTER: register_meaning, TokenKind.DIRECTIVE: directive_meaning}
_WORD = re.compile(r"\w+")
_INTRINSIC = re.compile(r"_mm(?:256|512|_)\w+")


def with_findings(server: CyclelensServer, snapshot: Snapshot, line: int, text: str) -> str:
    """The text with what each finding of the line costs, as far as the search has found that out; without the
    findings if the client shows diagnostics in its hovers itself."""
    region = snapshot.region_at(line)
    if region is None:
        return text
    twice = shows(server.client_capabilities, "hoverDiagnostics") and server.settings["diagnostics.enabled"]
    for finding in region.result.findings:
        if finding.line != line:
            continue
        shown = f"**{finding.code}**: {prose(finding.message)}"
        price = server.searches.cost(snapshot, region, finding) if server.settings["advice"] else None
        # A finding without cost has no diagnostic of its own.
        if twice and (price is None or price[0]):
            text = text.replace(f"\n\n{shown}", "", 1)
        elif price is not None:
            text = text.replace(shown, f"{shown} {price[1]}", 1)
    return text


def rewrite_text(server: CyclelensServer, snapshot: Snapshot, line: int) -> str:
    """The fastest rewrite of the region that begins at a line, as far as the search has found one."""
    region = snapshot.region_at(line)
    if region is None or line != region.result.first_line or region.stale or snapshot.language:
        return ""
    advice = advice_for(server, snapshot, region)
    best = advice and advice.best
    return f"fastest rewrite: **{best.gain}**: {prose(best.proposal.title)}" if best else ""


def hover_text(snapshot: Snapshot, line: int) -> str:
    """Markdown for a line; empty if there is nothing to show."""
    region = snapshot.region_at(line)
    if region is None:
        return ""
    result = region.result
    if line == result.first_line:
        # The first line of an unmarked loop may have an instruction behind its label.
        parts = [result.summary or prose(result.note), result.cards.get(line, "")]
        text = "\n\n".join(part for part in parts if part)
    else:
        text = result.cards.get(line, "")
    if text and region.stale:
        text = f"*{prose(result.note or STALE_SENTENCE)}*\n\n{text}"
    return text
