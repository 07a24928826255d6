"""The promises of docs/server.md that no other file tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.rewrites import registry
from lsprotocol import types
from testkit.narrowing import some
from testkit.server.editor import Editor, small_capabilities

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "server.md"
HELD_BY = {
    "server/test_tcp.py": (
        ("listens on 127.0.0.1 instead, for one client", "it_serves_one_client_and_ends"),
    ),
    "server/test_guarantees.py": (
        (
            "the server looks at the text, not at the identifier",
            "what_the_editor_calls_the_language_does_not_matter",
        ),
        ("in diagnostics, messages and tables of the server", "what_a_text_calls_things_is_shown_as_words"),
        ("At most 40 rewrites of a region are tried", "rewrites_are_limited"),
        ("answer `null` for a document that is not open", "of_a_document_that_is_not_open_nothing_is_known"),
    ),
    "server/test_positions.py": (
        ("Positions are counted as agreed with the client", "after_any_edits_the_text_is_that_of_the_client"),
        ("Lines end with", "every_line_end_of_the_protocol_ends_a_line"),
    ),
    "server/test_protocol.py": (
        ("Every request is answered", "every_request_gets_one_answer"),
        (
            "before `initialize` or after `shutdown`",
            "before_the_start_and_after_the_end_requests_are_refused",
        ),
        ("None of that ends the server or touches the next message", "a_real_server_survives_all_of_it"),
        (
            "If the server cannot read a change of a document, it tells the user",
            "a_document_with_an_unreadable_change_is_dropped_and_the_user_told",
        ),
        ("Messages of more than 64 MB are refused", "what_is_no_message_costs_only_itself"),
    ),
    "server/test_jobs.py": (
        (
            "shows the figures of a text when you have stopped typing",
            "only_the_last_of_several_quick_edits_is_analysed",
        ),
        (
            "its result waits for the rest, so that the figures are there when typing pauses",
            "where_answers_come_quickly_one_is_there_when_the_debounce_ends",
        ),
        ("The analysis normally begins at that moment", "slow_answers_are_not_begun_ahead"),
        (
            "a newer text cancels the analysis of an older one",
            "a_newer_text_cancels_the_analysis_of_the_older_one",
        ),
    ),
    "server/test_client_robustness.py": (
        ("No request waits for it", "requests_are_answered_while_an_analysis_runs"),
        ("gives up an analysis that takes longer than `timeoutMs`", "an_analysis_that_hangs_is_given_up"),
        (
            "The server reports each of these two failures once, until an analysis succeeds again",
            "trouble_is_shown_once_until_things_work_again",
        ),
        (
            "appears as progress, where you can cancel it; the next edit tries",
            "a_long_analysis_is_shown_and_can_be_cancelled",
        ),
        (
            "The process ends with the server, even if the server is killed",
            "a_worker_outlives_neither_its_server_nor_a_hanging_analysis",
        ),
        (
            "The server asks a client that supports `workspace/configuration` for them",
            "nothing_is_analysed_before_the_settings_are_known",
        ),
        (
            "other clients send them as `initializationOptions`",
            "a_client_without_configuration_requests_sends_its_settings",
        ),
        (
            "Each answers `null` if the user cancelled it",
            "a_comparison_is_cancelled_as_progress_or_as_a_request",
        ),
        (
            "Comparisons run in a process of their own, so that no edit waits for one",
            "a_long_comparison_shows_its_steps_and_no_edit_waits_for_it",
        ),
    ),
    "server/test_snapshots.py": (
        (
            "the server answers with the last result, moved along with the text",
            "any_edit_gives_the_text_that_python_gives_and_hints_inside_it",
        ),
        ("keeps its last complete result", "a_bad_line_keeps_the_last_result_of_its_region_only"),
    ),
    "server/test_engine.py": (
        (
            "Hints, diagnostics and the hovers of regions' first lines come first",
            "the_first_answer_is_what_is_shown_and_later_ones_only_add",
        ),
        (
            "The first answer to an edit, or about long code, is about one position",
            "the_first_answer_does_not_wait_for_all_positions_of_long_code",
        ),
        (
            "For a text with many regions the server sends the first figures",
            "of_many_regions_the_first_figures_come_before_the_others_are_there",
        ),
    ),
    "server/test_client_comparisons.py": (
        (
            "`cyclelens.pinBaseline` compares with the present figures",
            "an_edit_is_compared_with_the_last_save_and_with_a_pinned_baseline",
        ),
        ("A client that shows the answer by itself says so", "a_client_with_panels_gets_no_messages"),
        ("is answered with `html` where there is a page to show", "a_client_that_shows_pages_is_sent_them"),
    ),
    "server/test_client_session.py": (
        (
            "The server tells the editor when the other positions change what it shows",
            "figures_that_later_answers_add_reach_the_screen",
        ),
        (
            "Other regions are not affected",
            "a_half_typed_line_leaves_the_other_region_alone_and_its_own_marked",
        ),
        (
            "With `analyse` other than `onType`",
            "on_save_a_text_is_analysed_when_it_is_saved_and_compared_with_the_save_before",
        ),
        ("win over the settings", "settings_choose_the_processor_and_a_marker_wins"),
        ("only the regions of that name are in the answer", "stored_results_can_be_had_as_plain_json"),
    ),
    "server/test_chaos.py": (
        (
            "If a process ends unexpectedly, at whatever moment, the server replaces it",
            "after_any_death_every_hint_is_right_and_no_process_is_left",
        ),
    ),
    "server/test_deaths.py": (
        ("the new process repeats the work", "the_job_of_a_worker_that_dies_is_done_by_the_next_one"),
        ("that of the comparisons", "a_comparison_is_done_once_more_and_then_given_up_with_a_message"),
        ("the assemblers that they start", "an_assembler_that_dies_while_it_starts_or_waits_is_replaced"),
        ("If the second process ends too", "a_job_on_which_two_workers_die_is_given_up_with_a_message"),
        (
            "The server itself keeps saved and pinned figures",
            "what_a_figure_is_compared_with_survives_the_death_of_a_worker",
        ),
    ),
    "server/test_server_settings.py": (
        (
            "The server reports a value that it cannot use, and takes the default instead",
            "a_bad_value_gives_one_message_and_the_default",
        ),
    ),
    "editors/test_vscode_session.py": (("`allowExternalPrograms` is false whatever the settings say", ""),),
    "frontend/test_outside.py": (("nothing of another file gets into a message, a hover or a report", ""),),
    "server/test_trust.py": (
        (
            "Where no folder is open, the workspace is the folder of the document",
            "a_document_has_the_folders_of_its_workspace",
        ),
    ),
    "reports/test_escaping.py": (
        (
            "in Markdown they make no link, no image and no HTML",
            "cards_of_an_editor_hold_no_link_of_the_text",
        ),
        ("everything that the command line prints", "no_command_writes_what_a_terminal_obeys"),
    ),
    "rewrites/test_fixes.py": (
        ("it applies each to a copy of the text and simulates it", "the_rewrite_and_its_gain"),
        (
            "if an instruction of the region may read them",
            "what_would_change_the_meaning_is_not_proposed",
        ),
        (
            "neither the region nor the function around it names",
            "a_register_is_borrowed_only_where_the_function_does_not_use_it",
        ),
    ),
    "server/test_measure_in_editor.py": (
        ("only when the user calls them", "nothing_runs_without_leave"),
        (
            "The server refuses them if `allowExternalPrograms` is false",
            "nothing_runs_where_programs_must_not",
        ),
        ("shows the figure until the text changes", "the_figure_is_on_the_line_until_the_text_changes"),
    ),
}
"""By file: a part of each sentence, and its test; without a name all tests of the file."""

HOSTILE = "z\x1b[1m\u202e![x](http://x)<b>"
TEXT = f"""\
# cyclelens-begin {HOSTILE}
.L1:
    imul %rax, %rbx
    dec %r15
    jnz .L1
# cyclelens-end
# cyclelens-begin b
    frob\x1b[A %rax
    {HOSTILE}
# cyclelens-end
"""


@pytest.mark.parametrize(
    ("file", "sentence", "name"),
    [(file, *promise) for file, promises in HELD_BY.items() for promise in promises],
)
def test_a_promise_of_the_document_has_its_test(file: str, sentence: str, name: str) -> None:
    assert sentence in re.sub(r"\s+", " ", DOCUMENT.read_text())
    assert re.search(rf"\bdef test_{name}", (ROOT / "tests" / file).read_text())


@pytest.mark.asyncio
@pytest.mark.parametrize("language", ["asm", "plaintext", "python"])
async def test_what_the_editor_calls_the_language_does_not_matter(editor: Editor, language: str) -> None:
    await editor.start()
    editor.text = "# cyclelens-begin a\n1: imul %rax, %rbx\n dec %r15\n jnz 1b\n# cyclelens-end\n"
    document = types.TextDocumentItem(editor.uri, language, 0, editor.text)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    await editor.analysed()
    assert (await editor.labels())[0].startswith("3.00 cycles/iter")


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["analysis", "regions", "timeline"])
async def test_of_a_document_that_is_not_open_nothing_is_known(editor: Editor, method: str) -> None:
    await editor.start()
    await editor.open("# cyclelens-begin a\n nop\n# cyclelens-end\n")
    ask = editor.client.protocol.send_request_async
    assert await ask(f"cyclelens/{method}", {"textDocument": {"uri": "file:///other.s"}}) is None
    assert await ask(f"cyclelens/{method}", {"textDocument": {"uri": editor.uri}}) is not None


@pytest.mark.asyncio
async def test_what_a_text_calls_things_is_shown_as_words(editor: Editor) -> None:
    able = small_capabilities()
    some(able.text_document).code_lens = types.CodeLensClientCapabilities()
    await editor.start(able)
    await editor.open(TEXT)
    shown = [str(item.message) for item in (await editor.analysed()).diagnostics]
    assert any("frob" in message for message in shown)
    shown += [str(hint.label) for hint in await editor.hints()]
    hover = await editor.hover(0)
    shown.append(hover)
    assert "](http" not in hover.replace("\\](", "").replace("\\]\\(", "")
    for command in ("cyclelens.whatif", "cyclelens.compare", "cyclelens.alignment"):
        answer = await editor.run(command, 2)
        shown += [answer["title"], answer["text"], *(str(cell) for row in answer["rows"] for cell in row)]
    assert editor.client.messages
    shown += [message.message for message in editor.client.messages]
    assert not [text for text in shown if re.search("[\x1b\u202e]", text)]


def test_rewrites_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (registry.MAX_PROPOSALS, registry.MAX_LINES) == (40, 25_000)
    text = "# cyclelens-begin a mode=unroll\n" + "    add $0x1234, %ax\n" * 6 + "# cyclelens-end\n"
    analyzer, options = Analyzer(), AnalysisOptions()
    analysis = analyzer.analyze(text, options)
    count = len(list(registry.fixes(analyzer, text, options, analysis)))
    assert count > 1
    monkeypatch.setattr(registry, "MAX_PROPOSALS", 1)
    assert len(list(registry.fixes(analyzer, text, options, analysis))) == 1
    monkeypatch.setattr(registry, "MAX_LINES", 7)
    assert not list(registry.fixes(analyzer, text, options, analysis))
