"""Disassembler output pasted into an editor, and functions without a loop."""

from __future__ import annotations

import pytest
from lsprotocol import types
from testkit.server.editor import Editor

DUMP = """\
0000000000000000 <dot>:
   0:\t48 85 d2             \ttest   %rdx,%rdx
   3:\t7e 24                \tjle    29 <dot+0x29>
   5:\tb8 00 00 00 00       \tmov    $0x0,%eax
   a:\t66 0f ef c9          \tpxor   %xmm1,%xmm1
   e:\tf3 0f 10 04 87       \tmovss  (%rdi,%rax,4),%xmm0
  13:\tf3 0f 59 04 86       \tmulss  (%rsi,%rax,4),%xmm0
  18:\tf3 0f 58 c8          \taddss  %xmm0,%xmm1
  1c:\t48 83 c0 01          \tadd    $0x1,%rax
  20:\t48 39 c2             \tcmp    %rax,%rdx
  23:\t75 e9                \tjne    e <dot+0xe>
  25:\t0f 28 c1             \tmovaps %xmm1,%xmm0
  28:\tc3                   \tret
  29:\t66 0f ef c9          \tpxor   %xmm1,%xmm1
  2d:\teb f6                \tjmp    25 <dot+0x25>
"""
FUNCTION = "    .globl mul\nmul:\n    imul %rdi, %rax\n    imul %rax, %rcx\n    ret\n"


@pytest.mark.asyncio
@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file:///tmp/pasted.txt", "file:///tmp/k.dis"])
async def test_pasted_machine_code_has_hints_at_its_lines(editor: Editor, uri: str) -> None:
    editor.uri = uri
    await editor.start()
    await editor.open(DUMP)
    labels = await editor.labels()
    assert "4.00 cycles/iter · SKL · latency-bound" in labels[5]
    assert "chain +4" in labels[7]
    assert "fused with cmp" in labels[10]
    assert await editor.codes() == []
    assert "addss" in await editor.hover(7, 35)


@pytest.mark.asyncio
async def test_a_function_without_a_loop_has_its_figures_in_the_editor(editor: Editor) -> None:
    await editor.start()
    await editor.open(FUNCTION)
    labels = await editor.labels()
    assert "cycles/call (" in labels[1]
    assert " once) · SKL" in labels[1]
    assert await editor.codes() == []


@pytest.mark.asyncio
async def test_one_pass_is_a_setting(editor: Editor) -> None:
    editor.client.set_configuration({"mode": "once"}, section="cyclelens")
    await editor.start()
    await editor.open(f"# cyclelens-begin x\n{FUNCTION}# cyclelens-end\n")
    labels = await editor.labels()
    assert " cycles · SKL · latency-bound" in labels[0]


@pytest.mark.asyncio
async def test_a_text_in_another_language_has_one_diagnostic(editor: Editor) -> None:
    await editor.start()
    await editor.open("TEXT ·f(SB), NOSPLIT, $0\n\tMOVQ x+0(FP), SI\n\tADDQ SI, AX\n\tRET\n")
    assert await editor.codes() == [(0, "other-language")]
    published = await editor.analysed()
    assert published.diagnostics[0].severity == types.DiagnosticSeverity.Warning
