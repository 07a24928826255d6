"""What the background search brings to the editor: advice, rewrites, and prices of findings."""

from __future__ import annotations

import asyncio
from ast import literal_eval
from pathlib import Path

import pytest
from lsprotocol import types
from testkit.kernels import KERNELS
from testkit.narrowing import some
from testkit.server.editor import TIMEOUT, Editor, with_code_actions

ROOT = Path(__file__).parents[2]
TEXT = KERNELS["dot product of two chained FMAs"].text
MARKER = TEXT.split("\n").index("# cyclelens-begin loop")
INDEXED = """\
# cyclelens-begin dot
.L1:
    vmovups (%rdi,%rax), %ymm1
    vfmadd231ps (%rsi,%rax), %ymm1, %ymm0
    add $32, %rax
    cmp %rdx, %rax
    jne .L1
# cyclelens-end
# cyclelens-begin lcp mode=unroll
    add $0x1234, %ax
    dec %r14
# cyclelens-end
"""


@pytest.fixture(autouse=True)
def advised(editor: Editor) -> None:
    editor.client.set_configuration({}, section="cyclelens")


async def label(editor: Editor, line: int, part: str) -> str:
    """The label of a line, once it has a part."""
    async with asyncio.timeout(TIMEOUT):
        while part not in (found := (await editor.labels()).get(line, "")):
            await asyncio.sleep(0.05)
    return found


async def rewrite(editor: Editor, line: int, words: str) -> types.CodeAction:
    async with asyncio.timeout(TIMEOUT):
        while True:
            for action in await editor.actions(line):
                if words in action.title:
                    return action
            await asyncio.sleep(0.05)


@pytest.mark.asyncio
async def test_one_accumulator_becomes_four_by_code_actions_alone(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    assert (await editor.labels())[MARKER].startswith("0.500 cycles/float · 8.00 cycles/iter · SKL")
    found = await label(editor, MARKER, "rewrite: 0.125")
    assert found == "0.500 cycles/float · SKL · latency-bound · rewrite: 0.125"
    action = await rewrite(editor, MARKER + 3, "over two registers")
    assert action.title.startswith("0.500 -> 0.250 cycles/float, 2.0x: Split ymm0 over two registers (sums")
    editor.apply(action)
    await editor.analysed()
    first = editor.text.split("\n").index("# cyclelens-begin loop")
    assert (await editor.labels())[first].startswith("0.500 -> 0.250 cycles/float, 2.0x")
    action = await rewrite(editor, first + 3, "0.250 -> 0.125 cycles/float, 2.0x")
    editor.apply(action)
    await editor.analysed()
    first = editor.text.split("\n").index("# cyclelens-begin loop")
    # Twice the work in the same time.
    shown = (await editor.labels())[first]
    assert shown.startswith("0.500 -> 0.125 cycles/float, 4.0x"), shown


@pytest.mark.asyncio
async def test_an_edit_of_the_region_ends_its_advice_and_another_one_moves_it(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    await label(editor, MARKER, "rewrite: 0.125")
    editor.type(0, 0, "# a comment\n")
    await editor.analysed()
    assert "rewrite: 0.125" in (await editor.labels())[MARKER + 1], "the region is what it was"
    action = await rewrite(editor, MARKER + 1, "over two registers")
    assert action.edit is not None and action.edit.changes is not None
    lines = [edit.range.start.line for edit in action.edit.changes[editor.uri]]
    assert min(lines) == MARKER + 1 - 1, "in front of the alignment, one line further down"
    editor.replace_line(MARKER + 5, "    vfmadd231ps (%rsi), %ymm1, %ymm5")
    await editor.analysed()
    assert "rewrite" not in (await editor.labels())[MARKER + 1]


@pytest.mark.asyncio
async def test_findings_have_prices_and_worthless_ones_are_one_line(editor: Editor) -> None:
    await editor.start()
    await editor.open(INDEXED)
    assert (3, "unlamination") in [(line, code) for line, code in await editor.codes()]

    def priced() -> bool:
        found = {item.code: item.message for item in editor.client.published[editor.uri].diagnostics}
        return "no-cost" in found and "It costs" in found["lcp-stall"]

    await editor.until(priced)
    found = {item.code: item for item in editor.client.published[editor.uri].diagnostics}
    assert found.keys() == {"no-cost", "lcp-stall"}
    folded = found["no-cost"]
    assert folded.message == "1 finding costs 0.00 cycles here: unlamination (line 4)."
    assert folded.range.start.line == 0 and folded.severity == types.DiagnosticSeverity.Hint
    assert "It costs 2.44 cycles per iteration here." in found["lcp-stall"].message


@pytest.mark.asyncio
@pytest.mark.parametrize("twice", [False, True])
async def test_a_hover_says_a_finding_once(editor: Editor, twice: bool) -> None:
    """Where the editor itself shows diagnostics in hovers, they are not there a second time."""
    able = with_code_actions()
    able.experimental = {"cyclelens": {"hoverDiagnostics": twice}}
    await editor.start(able)
    await editor.open(INDEXED)
    line = INDEXED[: INDEXED.index("0x1234")].count("\n")
    async with asyncio.timeout(TIMEOUT):
        while "It costs" not in str(editor.client.published[editor.uri].diagnostics):
            await asyncio.sleep(0.05)
    card = await editor.hover(line, 5)
    assert ("**lcp-stall**" in card) != twice
    assert ("It costs 2.44 cycles" in card) != twice
    assert "cycles of issue slots per iteration stay empty because of it" in card


@pytest.mark.asyncio
async def test_a_finding_that_says_its_price_has_one(editor: Editor) -> None:
    await editor.start()
    await editor.open((ROOT / "examples" / "byte_scan.s").read_text())
    await editor.until(lambda: "It costs 0.50" in str(editor.client.published[editor.uri].diagnostics))
    messages = [item.message for item in editor.client.published[editor.uri].diagnostics]
    (erratum,) = [
        message for message in messages if "JCC erratum at 2 of 4" in message and "0, 32" in message
    ]
    assert "costs up to 0.50 cycles" in erratum and "It costs" not in erratum


@pytest.mark.asyncio
async def test_a_setting_ends_the_search(editor: Editor) -> None:
    editor.client.set_configuration({"advice": False}, section="cyclelens")
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    await editor.complete()
    await asyncio.sleep(1.5)
    assert (await editor.labels())[MARKER].startswith("0.500 cycles/float · 8.00 cycles/iter · SKL")
    assert not [each for each in await editor.actions(MARKER) if "registers" in each.title]


@pytest.mark.asyncio
async def test_a_client_that_shows_previews_gets_rewrites_to_confirm(editor: Editor) -> None:
    able = with_code_actions()
    some(able.workspace).workspace_edit = types.WorkspaceEditClientCapabilities(
        document_changes=True, change_annotation_support=types.ChangeAnnotationsSupportOptions()
    )
    await editor.start(able)
    await editor.open(TEXT)
    action = await rewrite(editor, MARKER, "four accumulators")
    assert action.title == "0.500 -> 0.125 cycles/float, 4.0x: four accumulators"
    (annotation,) = some(some(action.edit).change_annotations).values()
    assert annotation.needs_confirmation
    assert annotation.label == "loop: 0.500 -> 0.125 cycles/float, 4.0x"
    assert annotation.description is not None and "not checked" in annotation.description


@pytest.mark.asyncio
async def test_a_client_that_shows_differences_gets_them_as_its_own_command(editor: Editor) -> None:
    able = with_code_actions()
    able.experimental = {"cyclelens": {"previews": True}}
    await editor.start(able)
    await editor.open(TEXT)
    action = await rewrite(editor, MARKER, "four accumulators")
    # The test's client takes an action with a command for a command, and prints the real one into it.
    assert not hasattr(action, "edit")
    assert isinstance(action.command, str)
    command = literal_eval(action.command)
    assert command["command"] == "cyclelens.previewRewrite"
    uri, version, edits, title, details = command["arguments"]
    assert (uri, version, title) == (editor.uri, 0, "loop: 0.500 -> 0.125 cycles/float, 4.0x")
    assert "not checked" in details and all(edit["newText"] for edit in edits)
