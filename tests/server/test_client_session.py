"""A real client over stdio and the real analyzer: what a user sees while editing two kernels."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.settings import MARKERS
from lsprotocol import types
from testkit.narrowing import some
from testkit.server.editor import Editor, small_capabilities
from testkit.server.two_kernels import ADD, CHAIN, DEC, IMMEDIATE, IMUL, TEXT

ROOT = Path(__file__).parents[2]


@pytest.mark.asyncio
async def test_hints_hovers_and_diagnostics_of_two_kernels(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    labels = await editor.labels()
    assert labels[CHAIN].startswith("3.00 cycles/iter · SKL")
    assert labels[IMMEDIATE].startswith("3.44 cycles/iter · SKL")
    assert "LCP" in labels[ADD]
    assert "fused with dec" in labels[DEC + 1]
    assert (ADD, "lcp-stall") in await editor.codes()
    assert "imul" in await editor.hover(IMUL)
    assert "3.00" in await editor.hover(CHAIN)
    await editor.complete()
    assert "imul %rax, %rbx: 3 cycles for rbx" in await editor.hover(CHAIN)
    assert await editor.hover(0) == ""


@pytest.mark.asyncio
async def test_a_hover_holds_a_timeline_that_a_setting_turns_off(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    await editor.complete()
    card = await editor.hover(IMUL)
    rows = [line for line in card.split("```text")[1].splitlines() if line.startswith(">")]
    assert [row.split()[0] for row in rows] == [">1", ">2"]
    assert all("imul" in row and row.endswith("R") and "eeeE" in row for row in rows)
    assert "for rbx, made by imul %rax, %rbx (previous iteration)" in card
    first = await editor.hover(CHAIN)
    assert "\n* imul %rax, %rbx" in first and "the critical chain: 3.00 cycles per iteration" in first
    assert "eeE" in await editor.hover(ADD)
    editor.client.set_configuration({"hover": {"timeline": False}}, section="cyclelens")
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    while "```text" in await editor.hover(IMUL):
        await editor.pause()
    assert "Timeline" not in await editor.hover(CHAIN)


@pytest.mark.asyncio
async def test_a_hover_has_a_timeline_however_many_documents_were_opened_since(editor: Editor) -> None:
    """The worker keeps the analyses of some, and repeats one that it has forgotten."""
    await editor.start()
    await editor.open(TEXT)
    await editor.complete()
    for number in range(10):
        other = Editor(editor.client)
        other.uri = f"file:///other{number}.s"
        await other.open(TEXT)
        await other.complete()
    assert "```text" in await editor.hover(IMUL)


@pytest.mark.asyncio
async def test_an_edit_changes_the_hints_and_the_client_is_told(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    await editor.complete()
    told = len(editor.client.requests)
    editor.replace_line(ADD, "    add $0x12, %ax")
    await editor.until(lambda: len(editor.client.requests) > told)
    labels = await editor.labels()
    assert labels[IMMEDIATE].startswith("3.44 -> 1.00, 3.4x")
    assert ADD not in labels or "LCP" not in labels[ADD]
    assert await editor.codes() == []


@pytest.mark.asyncio
async def test_figures_that_later_answers_add_reach_the_screen(editor: Editor) -> None:
    """Of long code the other positions are simulated behind the first answer."""
    body = "".join(f"    mov %rax, %r{8 + number % 7}\n" for number in range(120))
    await editor.start()
    await editor.open(f"# cyclelens-begin long\n1:\n{body}    dec %rcx\n    jnz 1b\n# cyclelens-end\n")
    await editor.until(lambda: len(editor.client.requests) == 2)
    label = (await editor.labels())[0]
    assert "(to 30.43 by position)" in label
    assert "->" not in label, "it is no change of the text"
    await editor.complete()
    assert len(editor.client.requests) == 2, "what is asked for is not announced"


@pytest.mark.asyncio
async def test_a_half_typed_line_leaves_the_other_region_alone_and_its_own_marked(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    before = await editor.labels()
    editor.type(IMUL, len("    /* 🔥 */ imul") + 1, "", delete=len(" %rax, %rbx"))
    await editor.analysed()
    after = await editor.labels()
    assert {line: label for line, label in after.items() if line >= IMMEDIATE} == {
        line: label for line, label in before.items() if line >= IMMEDIATE
    }
    assert after[CHAIN].startswith("3.00 cycles/iter")
    assert after[CHAIN].endswith("(stale)") and "…" not in after[CHAIN]
    assert IMUL in [line for line, _ in await editor.codes()]


@pytest.mark.asyncio
@pytest.mark.parametrize("add", ["vaddps ymm0, ymm0, ymm1", "ADD"])
async def test_a_half_typed_word_that_nasm_takes_for_a_label_gives_no_new_figure(
    editor: Editor, add: str
) -> None:
    """Each new figure is that of all lines: one of the others alone would be too low."""
    await editor.start()
    macro = ["%macro ADD 0", "    vaddps ymm0, ymm0, ymm1", "%endmacro"] if add == "ADD" else []
    body = [".b:", f"    {add}", "", "    dec rdx", "    jnz .b"]
    await editor.open("\n".join([*macro, "; cyclelens-begin sum arch=SKL", *body, "; cyclelens-end"]))
    begin = len(macro)
    assert "4.00 cycles/iter" in (await editor.labels())[begin]
    for column, letter in enumerate("vaddp"):
        editor.type(begin + 3, column, letter)
        await editor.analysed()
        assert (await editor.labels())[begin].endswith("(stale)")
    editor.type(begin + 3, 5, "s ymm0, ymm0, ymm1")
    await editor.analysed()
    label = (await editor.labels())[begin]
    assert "8.00" in label and "stale" not in label


@pytest.mark.asyncio
async def test_settings_choose_the_processor_and_a_marker_wins(editor: Editor) -> None:
    editor.client.set_configuration({"microarchitectures": ["HSW"]}, section="cyclelens")
    await editor.start()
    await editor.open(TEXT.replace("begin chain", "begin chain arch=ICL"))
    labels = await editor.labels()
    assert "· ICL" in labels[CHAIN]
    assert "· HSW" in labels[IMMEDIATE]


@pytest.mark.asyncio
async def test_an_unknown_processor_gives_a_message_and_the_default(editor: Editor) -> None:
    editor.client.set_configuration({"microarchitectures": ["Z80"]}, section="cyclelens")
    await editor.start()
    await editor.open(TEXT)
    assert "'Z80' is not a known microarchitecture" in await editor.message("microarchitectures")
    assert "· SKL" in (await editor.labels())[CHAIN]


@pytest.mark.asyncio
async def test_lenses_and_symbols_name_the_regions(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    document = types.TextDocumentIdentifier(editor.uri)
    lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
    titles = [lens.command.title for lens in lenses]
    each = len(titles) // 2
    assert titles[:each] == titles[each:]
    assert titles[:3] == ["Timeline", "Compare CPUs", "Alignment"]
    symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [symbol.name for symbol in symbols] == ["chain", ".L1", "immediate"]


@pytest.mark.asyncio
async def test_labels_are_found_and_completed_and_regions_fold(editor: Editor) -> None:
    able = small_capabilities()
    await editor.start(able)
    await editor.open(TEXT)
    client, document = editor.client, types.TextDocumentIdentifier(editor.uri)
    jump = types.Position(DEC + 1, len("    jnz .L"))
    label = types.Range(types.Position(CHAIN + 1, 0), types.Position(CHAIN + 1, 3))
    found = await client.text_document_definition_async(types.DefinitionParams(document, jump))
    assert found.range == label
    request = types.ReferenceParams(types.ReferenceContext(True), document, label.start)
    places = await client.text_document_references_async(request)
    assert [place.range.start.line for place in places] == [CHAIN + 1, DEC + 1]
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(1, 6), (8, 11)]

    async def completed(line: str) -> set[str]:
        editor.replace_line(0, line)
        request = types.CompletionParams(document, types.Position(0, len(line)))
        answer = await client.text_document_completion_async(request)
        return {item.label for item in answer.items}

    assert await completed("# cyc") == {"cyclelens-begin", "cyclelens-end"}
    assert ".p2align" in await completed("    .p2")
    assert await completed("    jnz ") == {".L1"}
    assert await completed("    mov ") == set()
    assert await completed("# cyclelens-begin x arch=HSW,sk") == {"SKL", "SKX"}
    assert await completed("# cyclelens-begin x ") == {f"{key}=" for key in MARKERS}
    assert await completed("# cyclelens-begin x mode=") == {"loop", "unroll", "once"}
    for key, setting in MARKERS.items():
        assert await completed(f"# cyclelens-begin x {key}=") == set(setting.offered()) != set()


@pytest.mark.asyncio
async def test_an_instruction_is_completed_with_its_cost_and_the_rest_comes_when_it_is_looked_at(
    editor: Editor,
) -> None:
    editor.client.set_configuration({"microarchitectures": ["HSW"]}, section="cyclelens")
    able = small_capabilities()
    some(able.text_document).completion = types.CompletionClientCapabilities(
        completion_item=types.ClientCompletionItemOptions(documentation_format=[types.MarkupKind.Markdown])
    )
    await editor.start(able)
    await editor.open(TEXT)
    client, line = editor.client, "1: lock  vfmadd231p"
    editor.replace_line(0, line)
    place = types.Position(0, len(line))
    request = types.CompletionParams(types.TextDocumentIdentifier(editor.uri), place)
    answer = await client.text_document_completion_async(request)
    items = {item.label: item for item in answer.items}
    assert set(items) == {"vfmadd231pd", "vfmadd231ps"}
    item = items["vfmadd231ps"]
    assert item.detail == "1 uop p01 · latency 5 · 0.50 cycles · HSW"
    assert item.documentation is None
    assert item.text_edit.range == types.Range(types.Position(0, 9), place)
    resolved = await client.completion_item_resolve_async(item)
    assert "| YMM, YMM, M256 | 2 | p01 p23 |" in resolved.documentation.value
    editor.replace_line(0, "    # v")
    request.position = types.Position(0, 7)
    assert not (await client.text_document_completion_async(request)).items


@pytest.mark.asyncio
async def test_outside_of_regions_an_instruction_says_what_it_costs_by_itself(editor: Editor) -> None:
    await editor.start()
    await editor.open("top: addq %rax, %rbx\n    call top\n    unknown\n" + TEXT)
    assert "| R64, R64 | 1 | p0156 | 1 | 0.25 |" in await editor.hover(0, len("top: ad"))
    assert (await editor.hover(0, len("top: addq %r"))).startswith("**`%rax`**: A 64-bit general-purpose")
    assert await editor.hover(0, len("top: addq %rax,")) == ""
    assert await editor.hover(2, 5) == ""


@pytest.mark.asyncio
async def test_a_loop_that_begins_with_an_instruction_says_both(editor: Editor) -> None:
    editor.client.set_configuration({"regions": "loops"}, section="cyclelens")
    await editor.start()
    await editor.open("top: imul %rax, %rax\n    dec %rdi\n    jnz top\n")
    text = await editor.hover(0)
    assert "3.00" in text and "imul" in text and "executed (1×p1)" in text


@pytest.mark.asyncio
async def test_of_a_long_text_only_the_part_that_is_shown_has_colours(editor: Editor) -> None:
    await editor.start()
    await editor.open("/*\n*/ nop\n" + "    nop # one\n" * 30_000)
    client, document = editor.client, types.TextDocumentIdentifier(editor.uri)
    assert await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document)) is None
    shown = types.Range(types.Position(25_000, 0), types.Position(25_001, 0))
    part = types.SemanticTokensRangeParams(document, shown)
    answer = await client.text_document_semantic_tokens_range_async(part)
    assert list(answer.data[:5]) == [25_000, 4, 3, 0, 0]
    assert len(answer.data) == 2 * 2 * 5


@pytest.mark.asyncio
async def test_on_save_a_text_is_analysed_when_it_is_saved_and_compared_with_the_save_before(
    editor: Editor,
) -> None:
    editor.client.set_configuration({"analyse": "onSave", "debounceMs": 0}, section="cyclelens")
    await editor.start()
    await editor.open(TEXT)
    editor.replace_line(ADD, "    add $0x12, %ax")
    labels = await editor.labels()
    assert labels[IMMEDIATE].startswith("3.44 cycles/iter")
    assert labels[IMMEDIATE].endswith("(stale)")
    editor.save()
    await editor.analysed()
    assert (await editor.labels())[IMMEDIATE].startswith("3.44 -> 1.00, 3.4x")


@pytest.mark.asyncio
async def test_an_answer_that_an_edit_overtakes_is_about_the_new_text(editor: Editor) -> None:
    """Where edits alone ask for nothing: the figure came never, and progress was shown for ever."""
    editor.client.set_configuration({"analyse": "onSave", "debounceMs": 0}, section="cyclelens")
    await editor.start()
    editor.send_open(TEXT)
    editor.replace_line(ADD, "    add $0x12, %ax")
    await editor.analysed()
    assert (await editor.labels())[IMMEDIATE].startswith("1.00 cycles/iter")


@pytest.mark.asyncio
async def test_in_manual_mode_only_the_command_analyses(editor: Editor) -> None:
    editor.client.set_configuration({"analyse": "manual"}, section="cyclelens")
    await editor.start()
    editor.send_open(TEXT)
    editor.save()
    assert await editor.labels() == {}
    await editor.run("cyclelens.analyse")
    await editor.analysed()
    assert (await editor.labels())[CHAIN].startswith("3.00 cycles/iter")


@pytest.mark.asyncio
async def test_a_diagnostic_links_to_its_page(editor: Editor) -> None:
    editor.client.set_configuration(
        {"diagnostics": {"documentationUrl": "https://example.org/diagnostics"}}, section="cyclelens"
    )
    await editor.start()
    await editor.open(TEXT)
    (found,) = (await editor.analysed()).diagnostics
    assert some(found.code_description).href == "https://example.org/diagnostics/lcp-stall.md"


@pytest.mark.asyncio
async def test_a_code_action_states_its_gain_and_its_edit_brings_it(editor: Editor) -> None:
    able = small_capabilities()
    some(able.text_document).code_action = types.CodeActionClientCapabilities(
        code_action_literal_support=types.ClientCodeActionLiteralOptions(
            types.ClientCodeActionKindOptions([types.CodeActionKind.QuickFix])
        )
    )
    await editor.start(able)
    await editor.open("\n" + TEXT)
    line = ADD + 1
    diagnostics = list((await editor.analysed()).diagnostics)
    where = types.Range(types.Position(line, 4), types.Position(line, 4))
    request = types.CodeActionParams(
        types.TextDocumentIdentifier(editor.uri), where, types.CodeActionContext(diagnostics)
    )
    while not (actions := await editor.client.text_document_code_action_async(request)):
        await asyncio.sleep(0.01)
    titles = [action.title for action in actions]
    assert "3.44 -> 1.00, 3.4x: Use eax (its upper half and the flags may differ)" in titles
    action = actions[titles.index("3.44 -> 1.00, 3.4x: Use eax (its upper half and the flags may differ)")]
    assert action.kind == types.CodeActionKind.QuickFix
    (edit,) = action.edit.changes[editor.uri]
    assert edit.range.start.line == edit.range.end.line == line
    start, end = edit.range.start.character, edit.range.end.character
    editor.type(line, start, edit.new_text, delete=end - start)
    await editor.analysed()
    assert (await editor.labels())[IMMEDIATE + 1].startswith("3.44 -> 1.00, 3.4x")
    request.context.only = [types.CodeActionKind.Source]
    assert not await editor.client.text_document_code_action_async(request)


@pytest.mark.asyncio
async def test_stored_results_can_be_had_as_plain_json(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    ask = editor.client.protocol.send_request_async
    document = {"textDocument": {"uri": editor.uri}}
    while not (analysis := await ask("cyclelens/analysis", document)).upToDate:
        await asyncio.sleep(0.01)
    chain, immediate = analysis.regions
    assert (chain.name, chain.stale, analysis.upToDate) == ("chain", False, True)
    assert immediate.analysis.predictions[0].cycles_per_iteration == 3.44
    region = (await ask("cyclelens/regions", document)).regions[1]
    assert (region.cyclesPerIteration, region.microarchitecture) == (3.44, "SKL")
    assert not hasattr(region, "analysis")
    while not (answer := await ask("cyclelens/timeline", document | {"region": "chain"})).upToDate:
        await asyncio.sleep(0.01)
    (region,) = answer.regions
    (timeline,) = region.timelines
    assert "imul" in timeline.text
    assert len(timeline.rows[0]) == len(timeline.columns)
    assert await ask("cyclelens/timeline", {"textDocument": {"uri": "file:///other.s"}}) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\x01\x02\xff" * 500,
        "# cyclelens-begin a\n" + "".join(chr(random.Random(7).randrange(1, 0x3000)) for _ in range(2000)),
        "# cyclelens-begin never closed\n    add $1, %rax\n",
        "# cyclelens-begin a\n    .frobnicate 3\n    nop\n# cyclelens-end\n",
        "# cyclelens-begin a\n    add $1, \x0c %rax\r\n\u2028    nop\n# cyclelens-end\n",
        "# cyclelens-end\n# cyclelens-end\n",
        "    nop\n" * 650_000,
    ],
    ids=["empty", "binary", "noise", "never closed", "directive", "odd lines", "only ends", "5 MB"],
)
@pytest.mark.asyncio
async def test_no_text_ends_the_server(editor: Editor, text: str) -> None:
    await editor.start()
    await editor.open(text)
    editor.type(0, 0, "x")
    await editor.analysed()
    editor.replace_all(TEXT)
    await editor.analysed()
    assert (await editor.labels())[CHAIN].startswith("3.00 cycles/iter")
    assert editor.client.messages == []


EXAMPLES = sorted((ROOT / "examples").glob("*.[sS]"))


@pytest.mark.asyncio
async def test_every_example_shows_a_result_for_each_of_its_regions(editor: Editor) -> None:
    await editor.start()
    for path in EXAMPLES:
        document = Editor(editor.client)
        document.uri = path.as_uri()
        text = path.read_text(encoding="utf-8")
        await document.open(text)
        markers = [number for number, line in enumerate(text.split("\n")) if "cyclelens-begin" in line]
        labels = await document.labels()
        assert markers
        for line in markers:
            assert re.search(r" cycles/(iter|byte|float|double) · ", labels[line]), path
