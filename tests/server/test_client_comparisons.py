"""Comparisons in a client: with earlier figures, other processors, other regions, and changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lsprotocol import types
from testkit.server.editor import Editor, small_capabilities
from testkit.server.two_kernels import ADD, CHAIN, IMMEDIATE, IMUL, TEXT


@pytest.mark.asyncio
async def test_an_edit_is_compared_with_the_last_save_and_with_a_pinned_baseline(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    editor.replace_line(ADD, "    add $0x12, %ax")
    await editor.analysed()
    labels = await editor.labels()
    assert labels[IMMEDIATE].startswith("3.44 -> 1.00, 3.4x")
    assert labels[CHAIN].startswith("3.00 cycles/iter")
    await editor.run("cyclelens.pinBaseline")
    editor.replace_line(ADD, "    add $0x1234, %ax")
    await editor.analysed()
    assert (await editor.labels())[IMMEDIATE].startswith("1.00 -> 3.44, +244 % time")
    await editor.run("cyclelens.unpinBaseline")
    assert (await editor.labels())[IMMEDIATE].startswith("3.44 cycles/iter")
    editor.replace_line(ADD, "    add $0x12, %ax")
    await editor.analysed()
    editor.save(types.TextDocumentSaveReason.AfterDelay)
    assert (await editor.labels())[IMMEDIATE].startswith("3.44 -> 1.00, 3.4x")
    editor.save(types.TextDocumentSaveReason.Manual)
    assert (await editor.labels())[IMMEDIATE].startswith("1.00 cycles/iter")


@pytest.mark.asyncio
async def test_unrolling_shows_as_the_gain_that_it_is(editor: Editor) -> None:
    """Four cycles for 32 bytes, and then for 64."""
    head = "# cyclelens-begin a\n.L:\n    vaddps (%rsi), %ymm0, %ymm0\n"
    tail = "    dec %rcx\n    jnz .L\n# cyclelens-end\n"
    await editor.start()
    await editor.open(f"{head}    add $32, %rsi\n{tail}")
    editor.replace_line(3, "    vaddps 32(%rsi), %ymm1, %ymm1\n    add $64, %rsi")
    await editor.analysed()
    assert (await editor.labels())[0].startswith("0.500 -> 0.250 cycles/float, 2.0x")


@pytest.mark.asyncio
async def test_regions_without_a_name_are_compared_only_while_their_numbers_stay(editor: Editor) -> None:
    text = "# cyclelens-begin\n    imul %rax, %rax\n# cyclelens-end\n"
    await editor.start()
    await editor.open(text)
    editor.replace_line(1, "    add %rax, %rax")
    await editor.analysed()
    assert (await editor.labels())[0].startswith("3.00 -> 1.00")
    editor.replace_all("# cyclelens-begin\n    nop\n# cyclelens-end\n" + editor.text)
    await editor.analysed()
    labels = await editor.labels()
    assert labels[0].startswith("0.25 cycles/iter") and labels[3].startswith("1.00 cycles/iter")


@pytest.mark.asyncio
async def test_a_lens_compares_processors_and_alignments(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    answer = await editor.run("cyclelens.compare", "chain")
    assert answer["columns"][:2] == ["CPU", "cycles/iter"]
    assert {row[0]: row[1] for row in answer["rows"]}.items() >= {"SKL": 3.0, "HSW": 3.0}.items()
    assert "SKL" in await editor.message("chain on")
    answer = await editor.run("cyclelens.alignment", "chain")
    assert [row[0] for row in answer["rows"]] == list(range(64))
    assert "3.00 cycles/iter (best)" in answer["text"]
    assert "no region 'gone'" in (await editor.run("cyclelens.compare", "gone"))["text"]
    answer = await editor.run("cyclelens.timeline", "chain")
    assert "imul" in answer["text"]
    assert len(answer["lines"]) == len(answer["text"].split("\n"))
    assert "html" not in answer


@pytest.mark.asyncio
async def test_a_region_is_compared_with_another_and_a_line_names_one(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    answer = await editor.run("cyclelens.compareRegions", IMUL, "immediate")
    assert answer["title"] == "chain against immediate"
    assert ["SKL", 3.0, 3.44, "-13 % time"] in [row[:4] for row in answer["rows"]]
    below, last = [(await editor.run("cyclelens.compare", line))["title"] for line in (0, 99)]
    assert below.startswith("chain on") and last.startswith("immediate on")


@pytest.mark.asyncio
async def test_a_region_is_compared_with_the_last_commit_where_programs_may_run(
    editor: Editor, tmp_path: Path
) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    path = tmp_path / "kernel.s"
    path.write_text(TEXT)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    editor.uri = path.as_uri()
    await editor.start()
    await editor.open(TEXT.replace("$0x1234", "$0x12"))
    answer = await editor.run("cyclelens.compareHead", "immediate")
    assert answer["columns"][:4] == ["CPU", "HEAD", "now", "now: difference"]
    assert ["SKL", 3.44, 1.00, "3.4x"] in [row[:4] for row in answer["rows"]]
    path.rename(tmp_path / "other.s")
    editor.uri = (tmp_path / "other.s").as_uri()
    await editor.open(TEXT)
    assert "no version HEAD of other.s" in (await editor.run("cyclelens.compareHead", "chain"))["text"]


@pytest.mark.asyncio
async def test_what_if_says_what_would_help(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    answer = await editor.run("cyclelens.whatif", IMUL)
    assert answer["columns"][0] == "saves"
    assert answer["rows"][0][:3] == [2.0, 1.0, "4 accumulators in place of rbx, unrolled 4 times"]
    assert "without line 4: imul %rax, %rbx" in [row[2] for row in answer["rows"]]
    assert "3.00 cycles/iter on SKL" in answer["text"]


@pytest.mark.asyncio
async def test_a_client_with_panels_gets_no_messages(editor: Editor) -> None:
    able = small_capabilities()
    able.experimental = {"cyclelens": {"panels": True}}
    await editor.start(able)
    await editor.open(TEXT)
    assert (await editor.run("cyclelens.compare", "chain"))["rows"]
    assert editor.client.messages == []


@pytest.mark.asyncio
async def test_a_client_that_shows_pages_is_sent_them(editor: Editor) -> None:
    able = small_capabilities()
    able.experimental = {"cyclelens": {"panels": True, "html": True}}
    await editor.start(able)
    await editor.open(TEXT)
    assert "data-timeline=" in (await editor.run("cyclelens.timeline", "chain"))["html"]
    assert "multiples" in (await editor.run("cyclelens.compare", "chain"))["html"]
