"""Loops of a text without markers, in a session of a client."""

from __future__ import annotations

import pytest
from lsprotocol import types
from testkit.server.editor import Editor, with_code_actions

COMPILED = """\
    .globl scale
scale:
    xor %eax, %eax
.L3:
    add $0x1234, %ax
    imul %rax, %rbx
    dec %rcx
    jnz .L3
    ret
.L9:
    addps %xmm1, %xmm0
    frobnicate %rax
    dec %rcx
    jnz .L9
    ret
"""


@pytest.mark.asyncio
async def test_a_file_with_few_unmarked_loops_shows_their_figures_hints_and_lenses(editor: Editor) -> None:
    await editor.start()
    await editor.open(COMPILED)
    labels = await editor.labels()
    assert "chain +3" in labels[5] and "fused with dec" in labels[7]
    assert labels[3].startswith("3.00 cycles/iter")
    assert labels[9] == "no prediction"
    assert await editor.codes() == [(11, "unsupported-instruction")]
    (diagnostic,) = (await editor.analysed()).diagnostics
    assert diagnostic.severity == types.DiagnosticSeverity.Information
    assert [lens.range.start.line for lens in await editor.lenses() if _title(lens) == "Timeline"] == [3]
    await editor.complete()
    assert "imul" in await editor.hover(5), "what is asked for is there"


@pytest.mark.asyncio
async def test_of_many_unmarked_loops_each_shows_one_figure(editor: Editor) -> None:
    loop = ".L{0}:\n    imul %rax, %rax\n    dec %rcx\n    jnz .L{0}\n"
    await editor.start()
    await editor.open("".join(loop.format(number) for number in range(9)))
    labels = await editor.labels()
    assert labels.keys() == {4 * number for number in range(9)}, "nothing but the figures"
    assert await editor.lenses() == []
    await editor.complete()
    assert "imul" in await editor.hover(1), "what is asked for is there"


def _title(lens: types.CodeLens) -> str:
    return lens.command.title if lens.command else ""


@pytest.mark.asyncio
async def test_the_loop_at_the_cursor_is_marked_by_a_code_action(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(COMPILED)
    await editor.complete()
    (action,) = [each for each in await editor.actions(5) if each.title.startswith("Mark")]
    assert action.title == "Mark the loop .L3 as a region"
    editor.apply(action)
    assert editor.text.split("\n")[3] == "# cyclelens-begin .L3"
    assert editor.text.split("\n")[9] == "# cyclelens-end"
    await editor.analysed()
    labels = await editor.labels()
    assert labels[3].startswith("3.00 cycles/iter")
    assert "fused with dec" in labels[8], "what is marked has all its hints"
