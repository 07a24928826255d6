"""Mispredicted branches in an editor: the marker's key, the label, the hover and the panel's data."""

from __future__ import annotations

import pytest
from lsprotocol import types
from testkit.server.editor import Editor

KERNEL = ".Lx:\n    imul %rax, %rax\n    dec %rcx\n    jnz .Lx\n"
TEXT = f"# cyclelens-begin k mispredicted={{}}\n{KERNEL}# cyclelens-end\n"
SUM = "(3.00 + 0.10 × 16.5)"


@pytest.mark.asyncio
async def test_a_marker_gives_the_sum_in_label_and_hover(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT.format("0.1"))
    assert f"4.65 cycles/iter {SUM} · SKL · latency-bound" in (await editor.labels())[0]
    card = await editor.hover(0)
    assert "4.65" in card and SUM in card
    assert "A misprediction costs SKL about 16.5 cycles (published: 7-cpu, Agner Fog)." in card
    assert await editor.codes() == []


@pytest.mark.asyncio
async def test_a_share_that_is_none_is_a_diagnostic_on_the_marker(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT.format("often"))
    assert await editor.codes() == [(0, "bad-option-value")]
    assert "3.00 cycles/iter · SKL" in (await editor.labels())[0]


@pytest.mark.asyncio
async def test_the_key_is_completed_in_a_marker(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT.format("0.1").replace("mispredicted=0.1", "mi"))
    answer = await editor.client.text_document_completion_async(
        types.CompletionParams(types.TextDocumentIdentifier(editor.uri), types.Position(0, 20))
    )
    items = answer.items if isinstance(answer, types.CompletionList) else answer or []
    assert "mispredicted=" in [item.label for item in items]
