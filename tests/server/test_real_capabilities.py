"""One session with every feature, repeated with the capabilities that real editors send."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from testkit.narrowing import some
from testkit.server.editor import Editor, capabilities, small_capabilities

CAPTURED = Path(__file__).parents[3] / "shared" / "editors"
TEXT = """\
# 🔥 two kernels
# cyclelens-begin chain
/* 🔥 */ top: imul %rax, %rbx
    /* 🔥 */ dec %r15; jnz top
# cyclelens-end

# cyclelens-begin immediate mode=unroll
    /* 🔥 */ add $0x1234, %ax
    dec %r14
# cyclelens-end
"""
IMUL, JUMP, ADD = 2, 3, 7


def captured(name: str) -> Any:
    """A test parameter that is skipped, before anything is started, where the capture is missing."""
    path = CAPTURED / f"capabilities-{name}.json"
    missing = pytest.mark.skipif(not path.exists(), reason=f"{path.name} is not beside the project")
    return pytest.param(path, marks=missing, id=name)


EDITORS = [captured("neovim-0.11.4"), captured("neovim-0.12.4"), captured("vscode-1.139.1")]
SMALL = pytest.param(None, id="small")


def units(line: int, text: str, encoding: str, *, behind: bool = False) -> int:
    """The start (or end) of a range of a line, in this encoding's units."""
    written = TEXT.split("\n")[line]
    before = written[: written.index(text) + len(text) * behind]
    return len(before.encode()) if encoding == "utf-8" else len(before.encode("utf-16-le")) // 2


def allowed_requests(able: types.ClientCapabilities) -> set[str]:
    """The requests that the server may send to this client."""
    workspace, window = some(able.workspace), able.window
    allowed = set()
    if workspace.inlay_hint and workspace.inlay_hint.refresh_support:
        allowed.add(types.WORKSPACE_INLAY_HINT_REFRESH)
    if workspace.code_lens and workspace.code_lens.refresh_support:
        allowed.add(types.WORKSPACE_CODE_LENS_REFRESH)
    if workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
        allowed.add(types.CLIENT_REGISTER_CAPABILITY)
    if workspace.diagnostics and workspace.diagnostics.refresh_support:
        allowed.add(types.WORKSPACE_DIAGNOSTIC_REFRESH)
    if window and window.work_done_progress:
        allowed.add(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    return allowed


@pytest.mark.parametrize("path", [*EDITORS, SMALL])
@pytest.mark.asyncio
async def test_no_editor_gets_requests_that_it_cannot_handle(editor: Editor, path: Path | None) -> None:
    able = small_capabilities() if path is None else capabilities(path)
    await editor.start(able)
    await editor.open(TEXT)
    editor.replace_line(ADD, "    add $0x12, %ax")
    await editor.analysed()
    await editor.labels()
    await editor.run("cyclelens.pinBaseline")
    await editor.run("cyclelens.whatif", "chain")
    editor.save()
    await editor.hover(IMUL)
    asked = {method for method, _ in editor.client.requests}
    allowed = allowed_requests(able)
    assert asked <= allowed
    # Progress is for long requests, registration for clients that support it; all else needs a request.
    assert {method for method in allowed if method.endswith("refresh")} <= asked


@pytest.mark.parametrize("path", EDITORS)
@pytest.mark.asyncio
async def test_positions_are_counted_as_the_editor_prefers(editor: Editor, path: Path) -> None:
    able = capabilities(path)
    answer = await editor.start(able)
    assert able.general is not None and able.general.position_encodings is not None
    encoding = able.general.position_encodings[0]
    assert answer.capabilities.position_encoding == encoding
    await editor.open(TEXT)
    client, document = editor.client, types.TextDocumentIdentifier(editor.uri)

    hint = next(hint for hint in await editor.hints() if hint.position.line == IMUL)
    assert hint.position.character == units(IMUL, "%rbx", encoding, behind=True)

    jump = types.Position(JUMP, units(JUMP, "top", encoding))
    found = await client.text_document_definition_async(types.DefinitionParams(document, jump))
    assert found.range.start == types.Position(IMUL, units(IMUL, "top", encoding))
    assert found.range.end == types.Position(IMUL, units(IMUL, "top", encoding, behind=True))

    (diagnostic,) = (await editor.analysed()).diagnostics
    assert diagnostic.range.start == types.Position(ADD, units(ADD, "add", encoding))

    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    line = character = 0
    places = set()
    for lines, characters, length, *_ in zip(*[iter(tokens.data)] * 5, strict=True):
        line, character = line + lines, characters + (0 if lines else character)
        places.add((line, character, length))
    assert (JUMP, units(JUMP, "%r15", encoding), 4) in places
    assert (JUMP, units(JUMP, "top", encoding), 3) in places

    behind = types.Position(ADD, units(ADD, "add", encoding, behind=True))
    answer = await client.text_document_completion_async(types.CompletionParams(document, behind))
    item = next(item for item in answer.items if item.label == "add")
    assert item.text_edit.range.start == diagnostic.range.start

    request = types.CodeActionParams(
        document, diagnostic.range, types.CodeActionContext(diagnostics=[diagnostic])
    )
    while not (actions := await client.text_document_code_action_async(request)):
        await asyncio.sleep(0.01)
    action = next(action for action in actions if "Use eax" in action.title)
    changes = action.edit.changes or {c.text_document.uri: c.edits for c in action.edit.document_changes}
    (edit,) = changes[editor.uri]
    assert edit.range == diagnostic.range
    edit_support = some(some(able.workspace).workspace_edit)
    assert (action.edit.document_changes is not None) == bool(edit_support.document_changes)


@pytest.mark.parametrize("path", EDITORS)
@pytest.mark.asyncio
async def test_every_answer_is_of_a_kind_that_the_editor_knows(editor: Editor, path: Path) -> None:
    able = capabilities(path)
    answer = await editor.start(able)
    await editor.open(TEXT)
    client, document = editor.client, types.TextDocumentIdentifier(editor.uri)
    text = some(able.text_document)

    provider = answer.capabilities.semantic_tokens_provider
    assert provider is not None
    legend = provider.legend
    tokens = some(text.semantic_tokens)
    assert set(legend.token_types) <= set(tokens.token_types)
    assert set(legend.token_modifiers) <= set(tokens.token_modifiers)

    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert all(isinstance(symbol, types.DocumentSymbol) for symbol in symbols)
    kinds = set(some(some(some(text.document_symbol).symbol_kind).value_set))
    assert {symbol.kind for top in symbols for symbol in (top, *(top.children or ()))} <= kinds

    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document))
    fold_kinds = some(some(text.folding_range).folding_range_kind).value_set
    assert {fold.kind for fold in folds} <= {*some(fold_kinds), None}

    place = types.Position(1, 3)
    answer = await client.text_document_hover_async(types.HoverParams(document, place))
    formats = some(text.hover).content_format
    assert formats is not None and answer.contents.kind in formats

    answer = await client.text_document_completion_async(types.CompletionParams(document, place))
    item_kinds = some(some(text.completion).completion_item_kind).value_set
    assert {item.kind for item in answer.items} <= set(some(item_kinds))
    assert all(item.insert_text_format in (None, 1) for item in answer.items)

    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lenses[0].command.title == "Timeline"


@pytest.mark.asyncio
async def test_colours_of_an_edit_are_sent_as_a_difference(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    client, document = editor.client, types.TextDocumentIdentifier(editor.uri)
    first = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    editor.replace_line(IMUL, "top: xor %eax, %eax; imul %rax, %rbx")
    request = types.SemanticTokensDeltaParams(document, first.result_id)
    delta = await client.text_document_semantic_tokens_full_delta_async(request)
    (edit,) = delta.edits
    assert len(edit.data) < len(first.data)
    data = [*first.data]
    data[edit.start : edit.start + edit.delete_count] = edit.data
    again = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    assert data == list(again.data)
    part = types.SemanticTokensRangeParams(
        document, types.Range(types.Position(IMUL, 0), types.Position(IMUL, 99))
    )
    shown = await client.text_document_semantic_tokens_range_async(part)
    assert list(shown.data[:3]) == [IMUL, 0, len("top")]
    assert len(shown.data) // 5 == len(["top", "xor", "eax", "eax", "imul", "rax", "rbx"])


NAMES = {"neovim-0.11.4": "Neovim 0.11", "neovim-0.12.4": "Neovim 0.12", "vscode-1.139.1": "VS Code 1.139"}
COLUMNS = ("document_highlight", "call_hierarchy", "selection_range", "linked_editing_range")


@pytest.mark.parametrize("path", EDITORS)
def test_the_table_of_clients_has_what_they_announce(path: Path) -> None:
    able = capabilities(path)
    watches = some(able.workspace).did_change_watched_files
    announced = [getattr(some(able.text_document), name) is not None for name in COLUMNS]
    announced.append(bool(watches and watches.dynamic_registration))
    announced.append(some(able.workspace).diagnostics is not None)
    table = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
    name = NAMES[path.stem.removeprefix("capabilities-")]
    row = next(line for line in table.splitlines() if line.startswith(f"| {name} |"))
    assert [cell.strip().startswith("yes") for cell in row.split("|")[2:8]] == announced
