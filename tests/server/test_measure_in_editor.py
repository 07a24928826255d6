"""The command that measures a region: runs only on request, needs permission, and shows its result until
the text changes."""

from __future__ import annotations

import asyncio
import re

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.microarchitectures import registry
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from testkit.server.editor import Editor, with_code_actions

TEXT = """\
# cyclelens-begin chain
.L1:
    imul %rax, %rax
    dec %rcx
    jnz .L1
# cyclelens-end
# cyclelens-begin forbidden
    syscall
# cyclelens-end
"""
TRIES = 10


@pytest.fixture(scope="module", autouse=True)
def _possible() -> None:
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")


async def measured(editor: Editor) -> str:
    """The command's answer; a busy machine may need several tries."""
    for _ in range(TRIES):
        try:
            answer = await editor.run("cyclelens.measure", "chain")
        except JsonRpcException as error:
            assert "busy" in str(error)
            continue
        return str(answer)
    pytest.skip("the machine is too busy to measure anything")


@pytest.mark.asyncio
async def test_the_figure_is_on_the_line_until_the_text_changes(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    editor.client.answer = "Run It"
    assert re.search(r"measured (3\.|2\.9)", await measured(editor))
    label = (await editor.labels())[0]
    assert re.search(r"measured (3\.|2\.9)", label)
    core = registry.native()
    if core is not None and core.name != "SKL":
        # The line has the figure of another core, so that of this machine names it.
        assert re.match(rf"\s*{re.escape(core.name)}: predicted .* · 3\.00 cycles/iter · SKL", label)
    else:
        # The prediction is the figure of the line and stands there once.
        assert "cycles/iter" not in label or "predicted 3.00" not in label
    assert len(editor.client.questions) == 1
    await measured(editor)
    assert len(editor.client.questions) == 1, "only the first time"
    editor.type(3, 0, " ")
    assert "measured" not in (await editor.labels())[0]


@pytest.mark.asyncio
async def test_nothing_runs_without_leave(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    assert await editor.run("cyclelens.measure", "chain") is None
    assert "sandbox" in editor.client.questions[0]
    assert "measured" not in (await editor.labels())[0]


@pytest.mark.asyncio
async def test_nothing_runs_where_programs_must_not(editor: Editor) -> None:
    editor.client.set_configuration({"allowExternalPrograms": False}, section="cyclelens")
    editor.client.answer = "Run It"
    await editor.start()
    await editor.open(TEXT)
    with pytest.raises(JsonRpcException, match="only in trusted workspaces"):
        await editor.run("cyclelens.measure", "chain")
    assert not editor.client.questions
    document = types.CodeLensParams(types.TextDocumentIdentifier(editor.uri))
    lenses = await editor.client.text_document_code_lens_async(document)
    assert "Measure" not in [lens.command.title for lens in lenses]


@pytest.mark.asyncio
async def test_what_must_not_run_is_refused_with_the_reason(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    editor.client.answer = "Run It"
    with pytest.raises(
        JsonRpcException, match="forbidden was not measured: 'syscall': system calls are not run"
    ):
        await editor.run("cyclelens.measure", "forbidden")


SUM = """\
    .globl total
total:
# cyclelens-begin sum
.L2:
    vaddps (%rdi), %ymm0, %ymm0
    add $32, %rdi
    dec %rcx
    jnz .L2
# cyclelens-end
    ret
"""
CHECKING = "Check the rewrites of sum on random inputs"


async def offered(editor: Editor) -> None:
    """Wait for the action that runs the rewrites; they are found in the background."""
    for _ in range(300):
        if any(action.title.startswith(CHECKING) for action in await editor.actions(4)):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("no rewrites were found")


@pytest.mark.asyncio
async def test_rewrites_are_checked_on_request(editor: Editor) -> None:
    editor.client.set_configuration({}, section="cyclelens")
    await editor.start(with_code_actions())
    await editor.open(SUM)
    editor.client.answer = "Run It"
    await offered(editor)
    assert not any("checked" in action.title for action in await editor.actions(4))
    answer = await editor.run("cyclelens.checkRewrites", "sum")
    assert "compute the same" in str(answer)
    assert len(editor.client.questions) == 1
    titles = [action.title for action in await editor.actions(4)]
    assert any("Split ymm0 over two" in title and title.endswith("(checked)") for title in titles)
    assert not any(title.startswith(CHECKING) for title in titles)
    editor.type(4, 4, " ")
    await offered(editor)  # what was found was about another text
    assert not any("checked" in action.title for action in await editor.actions(4))


@pytest.mark.asyncio
async def test_a_check_of_no_region_is_refused(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(SUM)
    with pytest.raises(JsonRpcException, match="no region 'product'"):
        await editor.run("cyclelens.checkRewrites", "product")
    assert not editor.client.questions


@pytest.mark.asyncio
async def test_nothing_is_checked_without_leave(editor: Editor) -> None:
    editor.client.set_configuration({}, section="cyclelens")
    await editor.start(with_code_actions())
    await editor.open(SUM)
    await offered(editor)
    assert await editor.run("cyclelens.checkRewrites", "sum") is None
    assert "sandbox" in editor.client.questions[0]
    assert not any("checked" in action.title for action in await editor.actions(4))


@pytest.mark.asyncio
async def test_nothing_is_offered_where_programs_must_not_run(editor: Editor) -> None:
    editor.client.set_configuration({"allowExternalPrograms": False}, section="cyclelens")
    await editor.start(with_code_actions())
    await editor.open(SUM)
    for _ in range(300):
        if any("over two registers" in action.title for action in await editor.actions(4)):
            break
        await asyncio.sleep(0.1)
    assert not any(action.title.startswith(CHECKING) for action in await editor.actions(4))
    with pytest.raises(JsonRpcException, match="only in trusted workspaces"):
        await editor.run("cyclelens.checkRewrites", "sum")
