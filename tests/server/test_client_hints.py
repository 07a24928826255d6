"""Which hints a client gets, and where."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types
from testkit.server.editor import Editor
from testkit.server.two_kernels import CHAIN, TEXT

MULTIPLICATIONS = (
    "# cyclelens-begin ports mode=unroll\n" + "    imul $3, %rax, %rcx\n" * 3 + "# cyclelens-end\n"
)


@pytest.mark.asyncio
async def test_the_figure_is_where_the_settings_want_it(editor: Editor) -> None:
    async def lenses() -> list[str]:
        document = types.TextDocumentIdentifier(editor.uri)
        found = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
        return [lens.command.title for lens in found]

    await editor.start()
    await editor.open(TEXT)
    figure = "3.00 cycles/iter · SKL · latency-bound"
    for place, in_hint, in_lens in (("lens", False, True), ("both", True, True), ("hint", True, False)):
        editor.client.set_configuration({"figure": place}, section="cyclelens")
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        while ((await editor.labels()).get(CHAIN, "").endswith(figure), figure in await lenses()) != (
            in_hint,
            in_lens,
        ):
            await asyncio.sleep(0.02)


@pytest.mark.asyncio
async def test_the_hints_of_a_region_stand_in_one_column(editor: Editor) -> None:
    """Behind the widest line that has one, but for those that are much too wide; tabs as the settings say."""
    text = (
        "# cyclelens-begin wide\n1:\timul %rax, %rbx # 漢\n\timul %rbx, %rax"
        + " " * 120
        + "\n    dec %r14\n    jnz 1b\n# cyclelens-end\n"
    )
    editor.client.set_configuration({"hints": {"tabSize": 4, "heat": False}}, section="cyclelens")
    await editor.start()
    await editor.open(text)

    async def places() -> dict[int, int]:
        labels = {hint.position.line: str(hint.label) for hint in await editor.hints()}
        spaces = {line: len(label) - len(label.lstrip()) for line, label in labels.items()}
        width = {0: 22, 1: 24, 2: 139, 4: 10}
        return {line: width[line] + count for line, count in spaces.items() if line in width}

    shown = await places()
    assert {shown[line] for line in (0, 1, 4) if line in shown} == {24}
    assert shown[2] == 139


@pytest.mark.asyncio
async def test_every_kind_of_hint_can_be_switched_off(editor: Editor) -> None:
    texts = {
        "region": "cycles/iter",
        "ports": "p1 1.00",
        "chain": "chain +3",
        "fusion": "fused",
        "stalls": "▇ LCP",
        "heat": "▇",
    }
    await editor.start()
    await editor.open(TEXT + MULTIPLICATIONS)
    await editor.complete()
    shown = " ".join((await editor.labels()).values())
    assert [text for text in texts.values() if text not in shown] == []
    for kind in texts:
        editor.client.set_configuration({"hints": {kind: False}}, section="cyclelens")
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        while texts[kind] in (shown := " ".join((await editor.labels()).values())):
            await asyncio.sleep(0.02)
        if kind == "region":
            assert "(stale)" not in shown


@pytest.mark.asyncio
async def test_a_line_of_two_regions_shows_the_inner_ones_hints(editor: Editor) -> None:
    text = (
        "# LLVM-MCA-BEGIN outer\n# LLVM-MCA-BEGIN inner\n    add $0x1234, %ax\n"
        "# LLVM-MCA-END inner\n    dec %r14\n# LLVM-MCA-END outer\n"
    )
    await editor.start()
    await editor.open(text)
    hints = await editor.hints()
    assert {
        str(hint.label).split()[-2:] == ["LCP", "stall"] for hint in hints if hint.position.line == 2
    } == {True}
    assert {hint.position.line for hint in hints} >= {0, 1}
