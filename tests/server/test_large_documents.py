"""A large document costs other documents nothing: its edits are cheap, and no request scans all of it."""

from __future__ import annotations

import asyncio
import gc
import io
import random
import tracemalloc
from typing import Any

import pytest
from cyclelens.server.app import create_server
from cyclelens.server.texts import lines as parts_of_lines
from cyclelens.server.texts.lines import Lines
from cyclelens.server.texts.text import split
from lsprotocol import types
from pygls.io_ import StdoutWriter
from testkit.server.editor import Editor

KERNEL = "# cyclelens-begin chain\n1:\n imul %rax, %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"


def test_a_text_in_parts_has_the_lines_of_the_text_after_every_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_of_lines, "PART_CHARACTERS", 5)
    chance = random.Random(39)
    pieces = ["", "a", "bc", "\n", "\r", "\r\n", "\n\n", "x\ny\r", "\u2028", "\U0001f4a5", "long " * 6]
    for _ in range(60):
        text = "".join(chance.choices(pieces, k=chance.randrange(30)))
        lines = Lines.of(text)
        for _ in range(40):
            known, ends = split(text)
            assert (tuple(lines), lines.ends, len(lines)) == (known, ends, len(known))
            assert lines.text == "\n".join(known)
            first, behind = sorted(chance.choices(range(len(known) + 2), k=2))
            assert lines[first:behind] == known[first:behind]
            assert lines[-1] == known[-1]
            places = sorted(
                (line, chance.randrange(len(known[line]) + 1))
                for line in chance.choices(range(len(known)), k=2)
            )
            start, end = (
                sum(map(len, known[:line])) + sum(map(len, ends[:line])) + column for line, column in places
            )
            new = chance.choice(pieces)
            lines = lines.edited(places[0], places[1], new)
            plain = "".join(line + mark for line, mark in zip(known, (*ends, ""), strict=True))
            text = plain[:start] + new + plain[end:]


def test_an_edit_of_a_large_text_cuts_no_other_part() -> None:
    lines = Lines.of("# x\n" * 1_000_000)
    edited = lines.edited((500_000, 1), (500_000, 2), "y\nz")
    assert len(edited) == len(lines) + 1
    assert edited[500_000:500_002] == ("#y", "zx")
    shared = set(map(id, lines._parts)) & set(map(id, edited._parts))
    assert len(shared) >= len(lines._parts) - 1
    assert sum(part._split is not None for part in edited._parts) <= 3


@pytest.mark.asyncio
async def test_a_large_text_is_analysed_and_coloured_on_request(editor: Editor) -> None:
    settings = {"debounceMs": 10, "largeFileLines": 100, "microarchitectures": ["SKL"]}
    editor.client.set_configuration(settings, section="cyclelens")
    await editor.start()
    text = "# filling\n" * 200 + KERNEL
    await editor.open(text)
    assert await editor.codes() == [(0, "file-too-large")]
    document = types.TextDocumentIdentifier(editor.uri)
    start, end = types.Position(200, 0), types.Position(205, 0)
    tokens = await editor.client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(document, types.Range(start, end))
    )
    assert tokens.data
    whole = await editor.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert not whole
    assert not symbols
    editor.replace_line(0, "# edited")
    assert await editor.codes() == [(0, "file-too-large")]
    assert await editor.labels() == {}
    await editor.run("cyclelens.analyse")
    await editor.until_label(200, "3.00 cycles/iter")
    assert editor.client.messages == []


@pytest.mark.parametrize("size", [0, 200])
@pytest.mark.asyncio
async def test_names_are_searched_in_small_texts_alone(editor: Editor, size: int) -> None:
    editor.client.set_configuration({"debounceMs": 10, "largeFileLines": 100}, section="cyclelens")
    await editor.start()
    await editor.open("# filling\n" * size + KERNEL)
    document = types.TextDocumentIdentifier(editor.uri)
    client = editor.client
    for at in (types.Position(size + 1, 0), types.Position(size + 4, 6)):  # "1:" and "jnz 1b"
        defined = await client.text_document_definition_async(types.DefinitionParams(document, at))
        used = await client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(include_declaration=True), document, at)
        )
        assert bool(defined) is bool(used) is (size == 0)
    assert editor.client.messages == []


@pytest.mark.asyncio
async def test_a_closed_document_leaves_nothing_in_memory() -> None:
    """Bounded by 64 KiB; the words alone of this text take more than 1 MB."""
    output = io.BytesIO()
    server = create_server()
    server.protocol.set_writer(StdoutWriter(output))

    async def send(method: str, identifier: int | None = None, **params: Any) -> None:
        identified = {} if identifier is None else {"id": identifier}
        output.seek(0)
        output.truncate()
        server.protocol.receive({"jsonrpc": "2.0", "method": method, "params": params, **identified})
        async with asyncio.timeout(60):
            while identified and b'"id"' not in output.getvalue():
                await asyncio.sleep(0.01)

    async def session(uri: str, seed: int) -> None:
        chance = random.Random(seed)
        text = "".join(f"l{n}: add ${chance.random()}, %eax # {n}\n" for n in range(2_000))
        document = {"uri": uri}
        await send(
            "textDocument/didOpen", textDocument={**document, "languageId": "asm", "version": 1, "text": text}
        )
        spot = {"textDocument": document, "position": {"line": 5, "character": 1}}
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 20_000, "character": 0}}
        for number in range(2):
            await send("textDocument/semanticTokens/full", 1, textDocument=document)
            assert b'"data"' in output.getvalue()
            await send("textDocument/semanticTokens/range", 2, textDocument=document, range=whole)
            await send("textDocument/documentSymbol", 3, textDocument=document)
            await send("textDocument/foldingRange", 4, textDocument=document)
            await send("textDocument/definition", 5, **spot)
            await send("textDocument/willSave", textDocument=document, reason=2)
            changes = [{"range": {"start": spot["position"], "end": spot["position"]}, "text": str(number)}]
            await send(
                "textDocument/didChange",
                textDocument={**document, "version": number + 2},
                contentChanges=changes,
            )
        await send("textDocument/didClose", textDocument=document)
        await send("textDocument/willSave", textDocument=document, reason=2)

    await send("initialize", 0, capabilities={})
    # What is loaded once is loaded now.
    await session("file:///first.s", 1)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(2):
            await session(f"file:///{number}.s", number + 2)
        output.seek(0)
        output.truncate()
        gc.collect()
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert left < 64 << 10
