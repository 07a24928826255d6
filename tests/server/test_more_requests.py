"""Requests less frequent than those of every keystroke: rename, signature help, pulled diagnostics,
tooltips of hints."""

from __future__ import annotations

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from testkit.narrowing import some
from testkit.server.editor import Editor, small_capabilities

TEXT = """\
# cyclelens-begin sum
.Lsum:
    mov (%rdi), %eax   # rax
    add $0x1234, %ax
    add %rax, %rbx
    dec %rcx
    jnz .Lsum
# cyclelens-end
    mov %rax, %rdx
    jmp .Lsum
"""


async def renamed(editor: Editor, line: int, character: int, new: str) -> str:
    """The text after a rename."""
    document = types.TextDocumentIdentifier(editor.uri)
    place = types.Position(line, character)
    prepared = await editor.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(document, place)
    )
    assert prepared is not None
    edit = await editor.client.text_document_rename_async(
        types.RenameParams(text_document=document, position=place, new_name=new)
    )
    editor.apply(types.CodeAction("rename", edit=edit))
    return editor.text


@pytest.mark.asyncio
async def test_labels_are_renamed_in_the_file_and_registers_in_their_region(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    assert await renamed(editor, 6, 10, ".Lloop") == TEXT.replace(".Lsum", ".Lloop")
    await editor.analysed()
    text = await renamed(editor, 4, 10, "r9")
    assert text.split("\n")[2:5] == [
        "    mov (%rdi), %r9d   # rax",
        "    add $0x1234, %r9w",
        "    add %r9, %rbx",
    ]
    assert "mov %rax, %rdx" in text, "outside of the region"
    await editor.analysed()
    for new, reason in (
        ("rdi", "already uses rdi, in line 3"),
        ("ymm1", "cannot replace"),
        ("rsp", "stack pointer"),
    ):
        with pytest.raises(JsonRpcException, match=reason):
            await renamed(editor, 4, 10, new)
    with pytest.raises(JsonRpcException, match="is not a valid label"):
        await renamed(editor, 6, 10, "1 2")


@pytest.mark.asyncio
async def test_a_register_that_an_instruction_uses_by_itself_stays(editor: Editor) -> None:
    await editor.start()
    await editor.open("# cyclelens-begin x\n mov %rsi, %rax\n mul %rdi\n shl %cl, %rdi\n# cyclelens-end\n")
    with pytest.raises(JsonRpcException, match="mul in line 3 uses rax implicitly"):
        await renamed(editor, 1, 12, "r8")
    with pytest.raises(JsonRpcException, match="uses rdx"):
        await renamed(editor, 1, 6, "rdx")
    with pytest.raises(JsonRpcException, match="uses rcx"):
        await renamed(editor, 3, 6, "r8")
    assert "mov %r9, %rax" in await renamed(editor, 1, 6, "r9")


@pytest.mark.asyncio
async def test_signature_help_has_the_operands_in_the_order_of_the_file(editor: Editor) -> None:
    await editor.start()
    await editor.open("# cyclelens-begin x\n vfmadd231ps (%rdi,%rax), \n# cyclelens-end\n")
    document = types.TextDocumentIdentifier(editor.uri)

    async def help(character: int) -> types.SignatureHelp | None:
        request = types.SignatureHelpParams(document, types.Position(1, character))
        return await editor.client.text_document_signature_help_async(request)

    found = some(await help(26))
    assert found.active_parameter == 1
    labels = [each.label for each in found.signatures]
    assert "vfmadd231ps M256, YMM, YMM" in labels
    memory = found.signatures[labels.index("vfmadd231ps M256, YMM, YMM")]
    assert isinstance(memory.documentation, str)
    does, cost = memory.documentation.split("\n")
    assert does == "Multiplies the second and the third operand and adds the first, on packed floats."
    assert "SKL" in cost and "latency" in cost
    assert [memory.label[slice(*each.label)] for each in some(memory.parameters)] == ["M256", "YMM", "YMM"]
    assert await help(5) is None, "the instruction itself is completed"


def pulling() -> types.ClientCapabilities:
    able = small_capabilities()
    some(able.text_document).diagnostic = types.DiagnosticClientCapabilities()
    some(able.workspace).diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    return able


@pytest.mark.asyncio
async def test_diagnostics_are_pulled_by_clients_that_do(editor: Editor) -> None:
    editor.client.set_configuration({"advice": False}, section="cyclelens")
    await editor.start(pulling())
    editor.send_open(TEXT.replace("add %rax", "addd %rax"))
    document = types.TextDocumentIdentifier(editor.uri)
    first = await editor.client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document))
    assert [each.code for each in first.items] == ["unsupported-instruction"]
    request = types.DocumentDiagnosticParams(document, previous_result_id=first.result_id)
    again = await editor.client.text_document_diagnostic_async(request)
    assert again.kind == "unchanged"
    editor.replace_line(4, "    add %rax, %rbx")
    mended = await editor.client.text_document_diagnostic_async(request)
    assert "unsupported-instruction" not in [each.code for each in mended.items]
    assert editor.uri not in editor.client.published, "nothing is shown twice"


@pytest.mark.asyncio
async def test_tooltips_of_hints_are_resolved_on_request(editor: Editor) -> None:
    able = small_capabilities()
    some(able.text_document).inlay_hint = types.InlayHintClientCapabilities(
        resolve_support=types.ClientInlayHintResolveOptions(["tooltip"])
    )
    await editor.start(able)
    await editor.open(TEXT)
    hint = (await editor.hints())[0]
    assert hint.tooltip is None
    resolved = await editor.client.inlay_hint_resolve_async(hint)
    assert "cycles per iteration" in resolved.tooltip
    editor.type(0, 0, "# new\n")
    await editor.analysed()
    assert (await editor.client.inlay_hint_resolve_async(hint)).tooltip is None, "of another text"


@pytest.mark.asyncio
async def test_a_hover_on_a_label_says_where_it_is_used(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT + "alone:\n")
    said = "`.Lsum` is defined in line 2 and used in lines 7, 10."
    assert await editor.hover(1, 2) == said
    assert await editor.hover(9, len("    jmp .L")) == said
    assert await editor.hover(10, 1) == "`alone` is defined in line 11 and not used in this file."


@pytest.mark.asyncio
async def test_a_hover_says_what_a_register_or_a_directive_is(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT + "    .p2align 4\n    mov %r12d, %eax\n    .nothing\n")
    register = await editor.hover(8, len("    mov %ra"))
    assert register.startswith("**`%rax`**: A 64-bit general-purpose register")
    low = await editor.hover(11, len("    mov %r1"))
    assert low.startswith("**`%r12d`**: The low 32 bits of r12; a write clears the upper 32.")
    assert await editor.hover(10, len("    .p2al")) == (
        "**`.p2align`**: Pads to a multiple of a power of two, given as its exponent; code with NOPs."
    )
    assert await editor.hover(12, len("    .not")) == ""
