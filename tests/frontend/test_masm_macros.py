"""What MASM does before it assembles: constants, conditions, macros, repetitions and included files, in texts
in the style of hand-written libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source import masm_macros
from cyclelens.analyzer.frontend.source.masm_macros import MasmExpansion
from cyclelens.analyzer.frontend.source.masm_values import NotConstant, arguments, value
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.source import Origin, Severity


def expanded(text: str) -> tuple[list[str], list[str]]:
    """The statements that are left, and the messages."""
    expansion = MasmExpansion(lambda _: None)
    raw = [RawStatement(number, line) for number, line in enumerate(text.splitlines())]
    return [" ".join(each.text.split()) for each in expansion.statements(raw)], [
        each.message for each in expansion.troubles
    ]


def made(text: str) -> list[str]:
    found, troubles = expanded(text)
    assert not troubles
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0FFh", 255),
        ("1010b + 17o", 25),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("7 mod 4 shl 2", 12),
        ("-7 / 2", -3),
        ("1 eq 1", -1),
        ("3 lt 2", 0),
        ("not 0", -1),
        ("not 1 eq 2 and 6", 6),
        ("(n gt 2) or (n eq 1)", -1),
        ("'A'", 65),
        ("high 1234h", 0x12),
    ],
)
def test_expressions_have_the_values_of_masm(text: str, expected: int) -> None:
    assert value(text, {"n": 3}) == expected


@pytest.mark.parametrize(
    "text", ["", "1 +", "(1", "rax", "1 2", "1 / 0", "9z", "(" * 100, "1 shl 64 shl 64 * 9"]
)
def test_other_texts_have_no_value(text: str) -> None:
    with pytest.raises(NotConstant):
        value(text, {})


def test_arguments_end_at_commas_outside_of_brackets() -> None:
    assert arguments("a, <b, c>, [rdx + 4], 'x,y', f(1, 2)") == [
        "a",
        "<b, c>",
        "[rdx + 4]",
        "'x,y'",
        "f(1, 2)",
    ]


def test_constants_and_texts_stand_for_their_values() -> None:
    text = """
    SIZE_ equ 4
    i = 0
    i = i + SIZE_ * 2
    rD equ <rdi>
    ptr_ textequ <QWORD PTR [rD + >, %i, <]>
    mov rax, ptr_
    add rD, SIZE_
    mov al, 'i'
    """
    assert made(text) == ["mov rax, QWORD PTR [rdi + 8]", "add rdi, 4", "mov al, 'i'"]


def test_macros_have_parameters_defaults_and_local_labels() -> None:
    text = """
    step macro reg:req, by:=<8>, rest:vararg
        local skip
        add reg, by
        jc skip
        inc reg&d
    skip:
    endm
    step r8
    step r9, 16
    """
    assert made(text) == [
        "add r8, 8",
        "jc skip??0000",
        "inc r8d",
        "skip??0000:",
        "add r9, 16",
        "jc skip??0001",
        "inc r9d",
        "skip??0001:",
    ]


def test_macro_functions_and_built_in_functions_give_texts() -> None:
    text = """
    OFS macro t:req, x:req
        exitm <[rsi + x * 4 + 0400h * t]>
    endm
    i = 2
    op macro name:req, n:req
        name @CatStr(xmm, %n), xmm0
    endm
    mov eax, DWORD PTR OFS(1, rcx)
    op paddd, i + 1
    """
    assert made(text) == ["mov eax, DWORD PTR [rsi + rcx * 4 + 0400h * 1]", "paddd xmm3, xmm0"]


def test_repetitions_run_with_their_values() -> None:
    text = """
    i = 0
    rept 2
        aesenc @CatStr(xmm, %i), xmm7
        i = i + 1
    endm
    for reg, <rbx, rsi>
        push reg
    endm
    forc c, <abd>
        inc r&c&x
    endm
    while i lt 4
        nop
        i = i + 1
    endm
    """
    assert made(text) == [
        "aesenc xmm0, xmm7",
        "aesenc xmm1, xmm7",
        "push rbx",
        "push rsi",
        "inc rax",
        "inc rbx",
        "inc rdx",
        "nop",
        "nop",
    ]


def test_conditions_choose_one_branch_and_leave_macros_alone() -> None:
    text = """
    NUM equ 3
    if (NUM lt 1) or (NUM gt 64)
        .err <bad>
    elseif NUM eq 3
        three
        ifdef NOTHING
            nothing
        elseifdef NUM
            inner
        else
            other
        endif
    else
        m macro
            if 1
            hidden
            endif
        endm
    endif
    ifndef rax
        narrow
    endif
    ifb <>
        blank
    endif
    ifidni <RAX>, <rax>
        same
    endif
    """
    assert made(text) == ["three", "inner", "blank", "same"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m macro\n nop", "never closed by ENDM"),
        ("m macro a:req\n endm\n m", "needs a value for 'a'"),
        ("m macro\n m\n endm\n m", "nested more than 20 deep"),
        ("if rax eq 1\n nop\n endif", "The condition has no value"),
        ("rept x\n nop\n endm", "has no count"),
        (".err <wrong number>", "wrong number"),
        ("n = 3\n.errnz n - 4, <not four>", "not four"),
        (".erre 1 eq 2", ".erre"),
        (".errndef n, <no n>", "no n"),
        (".erridn <a>, <a>, <equal>", "equal"),
        ("x = y", "'x' has no value"),
    ],
)
def test_what_cannot_be_expanded_has_one_message(text: str, said: str) -> None:
    _, troubles = expanded(text)
    assert len(troubles) == 1 and said in troubles[0]


def test_errors_with_a_condition_that_does_not_hold_say_nothing() -> None:
    assert made("n = 3\n.errnz n - 3\n.erre n\n.errdef m\n.errb <a>\n.errdif <a>, <a>\nret") == ["ret"]


def test_expansions_end() -> None:
    endless = "i = 1\nwhile i\n nop\n endm"
    found, troubles = expanded(endless)
    assert len(found) <= 50_000
    assert troubles == ["The text that macros produce is too long; the rest is not read."]
    assert len(expanded("a equ a b\n mov a, a")[0][0]) < 100, "a text that names itself"


def test_only_what_expansions_make_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masm_macros, "MAXIMUM_STATEMENTS", 20)
    assert made("nop\n" * 30) == ["nop"] * 30
    found, troubles = expanded("rept 30\nnop\nendm\nret")
    assert (len(found), len(troubles)) == (20, 1)


CRC = """\
include 7zAsm.asm

MY_ASM_START

UNROLL equ 2
rD   equ r2
rN   equ r7
rT   equ r5

TABLE macro t:req, x:req
        exitm <[rT + x * 4 + 0400h * t]>
endm

STEP macro off:req
        movzx   x1, BYTE PTR [rD + off]
        xor     x0, DWORD PTR TABLE(off, r1)
endm

MY_PROC CrcUpdate, 4
        mov     rT, OFFSET CrcUpdate
@@:
        dec     rN
        jnz     @B
main_loop:
        i = 0
        rept UNROLL
        STEP    i
        i = i + 1
        endm
        add     rD, UNROLL
        cmp     rD, rN
        jne     main_loop
MY_ENDP

end
"""
REGISTERS = """\
; registers by number, and functions
ifdef RAX
  IS_X64 equ 1
else
  IS_X64 equ 0
endif
MY_ASM_START macro
  if (IS_X64 gt 0)
    .code
  else
    .386
    .model flat
  endif
endm
MY_PROC macro name:req, numParams:req
  align 16
  proc_numParams = numParams
  if (IS_X64 gt 0)
    proc_name equ name
  else
    proc_name equ @CatStr(@,name,@, %numParams * 4)
  endif
  proc_name PROC
endm
MY_ENDP macro
  if (IS_X64 gt 0)
    ret
  else
    ret (proc_numParams - 2) * 4
  endif
  proc_name ENDP
endm
x0 equ EAX
x1 equ ECX
r1 equ RCX
r2 equ RDX
r5 equ RBP
r7 equ RDI
"""
PLAIN = """\
.intel_syntax noprefix
main_loop:
        movzx   ecx, BYTE PTR [rdx + 0]
        xor     eax, DWORD PTR [rbp + rcx * 4 + 0x400 * 0]
        movzx   ecx, BYTE PTR [rdx + 1]
        xor     eax, DWORD PTR [rbp + rcx * 4 + 0x400 * 1]
        add     rdx, 2
        cmp     rdx, rdi
        jne     main_loop
"""


def test_a_file_with_an_included_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "7zAsm.asm").write_text(REGISTERS)
    origin = Origin(str(tmp_path / "crc.asm"), (str(tmp_path),))
    found = assemble(CRC, SourceOptions(origin=origin))
    assert [each.code for each in found.problems if each.severity is not Severity.INFORMATION] == []
    regions = {region.name: region for region in found.regions}
    (plain,) = assemble(PLAIN).regions
    assert regions["main_loop"].code == plain.code
    lines = {line.line for line in regions["main_loop"].lines}
    assert {
        CRC.split("\n").index(text) for text in ("        rept UNROLL", "        add     rD, UNROLL")
    } <= lines


def test_a_missing_included_file_is_named() -> None:
    found = assemble(CRC)
    (missing,) = (each for each in found.problems if each.code == "include-not-read")
    assert "7zAsm.asm" in missing.message
