"""A real client over stdio and the real analyzer: the figures by level in hovers, and the actions that write
a level into the marker."""

from __future__ import annotations

import pytest
from cyclelens.server.features.code_actions import SEARCHING
from lsprotocol import types
from testkit.kernels import COPY_LOOP
from testkit.server.editor import Editor, with_code_actions

COPY = f"# cyclelens-begin copy arch=ZEN4\n{COPY_LOOP}# cyclelens-end\n"
FIRST, LOAD, ADD = 0, 3, 5


async def asked(editor: Editor, line: int) -> list[types.CodeAction]:
    return [each for each in await editor.actions(line) if each.title.startswith("Where are the data?")]


@pytest.mark.asyncio
async def test_the_data_of_a_loop_are_placed_by_code_actions(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(COPY)
    await editor.complete()
    assert "1.00 in L1 · 2.0 L2 · 2.5 L3 · 6.9 memory" in await editor.hover(FIRST)
    found = await asked(editor, LOAD)
    assert [each.title for each in found] == [
        "Where are the data? In L1: 1.0 cycles per iteration",
        "Where are the data? In L2: 2.0 cycles per iteration",
        "Where are the data? In L3: 2.5 cycles per iteration",
        "Where are the data? In memory: 6.9 cycles per iteration",
    ]
    assert await asked(editor, ADD) == [], "the line walks through no array"

    editor.apply(found[2])
    assert editor.text.split("\n")[FIRST] == "# cyclelens-begin copy arch=ZEN4 data=L3"
    await editor.analysed()
    assert "transfer-bound" in (await editor.labels())[FIRST]

    await editor.complete()
    hover = await editor.hover(FIRST)
    assert "2.45 cycles/iter" in hover
    assert "(data in L3; 1.00 in L1)" in hover
    editor.apply((await asked(editor, FIRST))[3])
    assert editor.text.split("\n")[FIRST] == "# cyclelens-begin copy arch=ZEN4 data=memory"
    await editor.complete()
    assert "(data in memory; 1.00 in L1)" in await editor.hover(FIRST)


@pytest.mark.asyncio
async def test_the_option_is_written_before_the_end_of_a_comment(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(f"/* cyclelens-begin copy arch=ZEN4 */\n{COPY_LOOP}/* cyclelens-end */\n")
    await editor.complete()
    editor.apply((await asked(editor, FIRST))[1])
    assert editor.text.split("\n")[FIRST] == "/* cyclelens-begin copy arch=ZEN4 data=L2 */"


@pytest.mark.asyncio
async def test_a_chase_is_placed_and_what_is_no_stream_makes_a_lower_bound(editor: Editor) -> None:
    chase = "1: mov (%rax), %rax\ndec %rcx\njnz 1b\n"
    indexed = "1: mov (%rsi), %eax\nadd (%rdi,%rax,8), %rbx\nadd $4, %rsi\ndec %rcx\njnz 1b\n"
    parts = (("chase", chase), ("indexed", indexed))
    await editor.start(with_code_actions())
    await editor.open(
        "".join(f"# cyclelens-begin {name} arch=ZEN4\n{loop}# cyclelens-end\n" for name, loop in parts)
    )
    await editor.complete()
    found = [each.title.partition("? ")[2] for each in await asked(editor, FIRST)]
    assert found == [
        "In L1: 4.0 cycles per iteration",
        "In L2: 14.0 cycles per iteration",
        "In L3: 50.0 cycles per iteration",
    ]
    near, *beyond = [each.title.partition("? ")[2] for each in await asked(editor, 5)]
    assert near.startswith("In L1: 1.")
    assert len(beyond) == 3
    assert all(": at least " in each for each in beyond)


@pytest.mark.asyncio
async def test_rewrites_come_first_and_until_then_the_list_says_that_they_are_searched(
    editor: Editor,
) -> None:
    editor.client.set_configuration({"advice": True}, section="cyclelens")
    await editor.start(with_code_actions())
    dot = "vmovups (%rsi), %ymm1\nvfmadd231ps (%rdi), %ymm1, %ymm0\nadd $32, %rsi\nadd $32, %rdi\n"
    await editor.open(f"# cyclelens-begin dot arch=SKL\n1:\n{dot}dec %rdx\njnz 1b\n# cyclelens-end\n")
    await editor.complete()

    async def titles() -> list[str]:
        return [each.title for each in await editor.actions(2)]

    for _ in range(1500):
        shown = await titles()
        if SEARCHING not in " ".join(shown) and "->" in shown[0]:
            break
        assert "->" in shown[0] or all(SEARCHING in title for title in shown if title.startswith("Where"))
        await editor.pause()
    else:
        pytest.fail(f"the search does not end: {shown}")
    first = next(number for number, title in enumerate(shown) if title.startswith("Where"))
    assert first > 0 and "->" in shown[0]
