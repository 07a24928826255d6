"""Directives from which MASM makes jumps get one message; names have no case, as in MASM."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.source import Severity

FLOW = [
    ".WHILE rcx < rdx\n inc rcx\n .ENDW\n",
    ".REPEAT\n dec rcx\n .UNTIL rcx == 0\n",
    ".REPEAT\n add rax, rbx\n .UNTILCXZ\n",
    ".IF rax > 5\n inc rbx\n .ELSE\n dec rbx\n .ENDIF\n",
]


@pytest.mark.parametrize("body", FLOW)
def test_flow_that_masm_makes_is_one_message_with_the_way_out(body: str) -> None:
    found = assemble(f".code\nf PROC\n {body} ret\nf ENDP\nEND\n")
    (problem,) = [each for each in found.problems if each.severity is not Severity.INFORMATION]
    assert (problem.line, problem.severity) == (2, Severity.ERROR)
    assert "ml64 /c FILE.asm" in problem.message
    assert body.split(None, 1)[0] in problem.message
    assert all(region.incomplete for region in found.regions)


def test_flow_that_masm_makes_is_named_beside_a_loop_that_is_found() -> None:
    found = assemble(f".code\nf PROC\nl: dec rcx\n jnz l\n {FLOW[0]} ret\nf ENDP\nEND\n")
    assert [region.name for region in found.regions] == ["l"]
    assert [each.line for each in found.problems if each.severity is Severity.ERROR] == [4]


def test_names_have_no_case_unless_the_text_says_otherwise() -> None:
    text = "{}.code\nf PROC\nLoopTop: add rax, [rsi]\n dec rcx\n jnz looptop\n RETN\nf ENDP\nEND\n"
    (region,) = assemble(text.format("")).regions
    assert (region.name, region.code.hex()[-4:]) == ("LoopTop", "75f8")
    assert {each.severity for each in assemble(text.format("")).problems} == {Severity.INFORMATION}
    (whole,) = assemble(text.format("option casemap:none\n")).regions
    assert (whole.name, whole.code.hex()[-2:]) == ("f", "c3")


def test_unwind_directives_of_frames_are_known() -> None:
    body = "push rbx\n .pushreg rbx\n .endprolog\nl: dec rcx\n jnz l\n pop rbx\n ret\n"
    text = f".code\nf PROC FRAME\n {body}f ENDP\n"
    assert {each.severity for each in assemble(text).problems} == {Severity.INFORMATION}


def test_public_labels_of_intels_compiler_are_labels() -> None:
    (region,) = assemble(
        ".B1.3::      ; Preds .B1.3\n add rax, QWORD PTR [rcx]\n dec rdx\n jne .B1.3 ;4.3\n"
    ).regions
    assert (region.name, region.code.hex()) == (".B1.3", "48030148ffca75f8")


@pytest.mark.parametrize("size", ["", "qword ptr "])
def test_numbers_with_h_are_those_of_nasm_and_masm(size: str) -> None:
    found = assemble(
        f"f:\n add rax, 0FFh\n and rbx, {size}10h\n dec rcx\n jnz f\n".replace("ptr 10h", "ptr [rsi+10h]")
    )
    assert not [each for each in found.problems if each.severity is not Severity.INFORMATION]
    assert found.regions[0].code.hex().startswith("4805ff000000")
