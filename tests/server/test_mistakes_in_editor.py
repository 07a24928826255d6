"""Likely mistakes in an editor: their quick fixes, and the setting that leaves them out."""

from __future__ import annotations

import pytest
from lsprotocol import types
from testkit.server.editor import Editor, with_code_actions


@pytest.mark.asyncio
async def test_a_quick_fix_writes_what_was_meant_in_place_of_a_statement(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(".globl f\nf:\n# cyclelens-begin\nadd 32, %rax\n# cyclelens-end\nret\n")
    diagnostics = list((await editor.analysed()).diagnostics)
    assert {each.code for each in diagnostics} >= {"number-as-address", "register-not-written"}
    where = types.Range(types.Position(3, 0), types.Position(3, 0))
    only = types.CodeActionContext(diagnostics, only=[types.CodeActionKind.QuickFix])
    request = types.CodeActionParams(types.TextDocumentIdentifier(editor.uri), where, only)
    (action,) = await editor.client.text_document_code_action_async(request)
    assert action.title == "Write add $32, %rax"
    assert [each.code for each in action.diagnostics] == ["number-as-address"]


@pytest.mark.asyncio
async def test_likely_mistakes_can_be_switched_off(editor: Editor) -> None:
    await editor.start(options={"diagnostics": {"mistakes": False}})
    await editor.open(".globl f\nf:\n# cyclelens-begin\nadd 32, %rax\n# cyclelens-end\nret\n")
    codes = {each.code for each in (await editor.analysed()).diagnostics}
    assert "number-as-address" in codes and "register-not-written" not in codes
