"""What MASM knows of data and functions, in the style of hand-written files: structures, sizes of variables,
registers that a function saves, and what is refused because its code is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.masm_frames import with_frames
from cyclelens.analyzer.frontend.source.masm_macros import MasmExpansion
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import Origin, Region, Severity

LOOP = """\
.code
work PROC
main_loop:
{}
        dec     rcx
        jnz     main_loop
        ret
work ENDP
end
"""
PLAIN = """\
.intel_syntax noprefix
main_loop:
{}
        dec     rcx
        jnz     main_loop
"""


def the_loop(text: str) -> Region:
    (region,) = assemble(text).regions
    return region


def same_code(definitions: str, body: str, plain: str) -> None:
    regions = assemble(definitions + LOOP.format(body)).regions
    expected = assemble(PLAIN.format(plain)).regions
    assert regions and not any(region.incomplete for region in regions)
    assert [region.code for region in regions] == [region.code for region in expected]


STRUCTURES = """\
FIELD   equ dq ?
STATE struct
        low     db ?
        high    db ?
                dw ?
        size_   dd ?
        next    FIELD
        table   dd 4 dup (?)
        mask    xmmword ?
STATE ends
PAIR struct 8
        first   db ?
        second  dq ?
        third   db ?
PAIR ends
WORD_OR_BYTES union
        whole   dw ?
        parts   db 2 dup (?)
WORD_OR_BYTES ends
OUTER struct
        head    PAIR <>
        struct inner
          one   dd ?
          two   dd ?
        ends
OUTER ends
VAR     equ [rsp].STATE.
"""


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("mov rax, VAR next", "mov rax, [rsp + 8]"),
        ("mov VAR size_, 0", "mov dword ptr [rsp + 4], 0"),
        ("inc VAR (high)", "inc byte ptr [rsp + 1]"),
        ("movzx eax, [rdx].STATE.low", "movzx eax, byte ptr [rdx]"),
        ("add [rdx + rsi].STATE.table, 1", "add dword ptr [rdx + rsi + 16], 1"),
        ("add (STATE ptr [rdx]).next, 1", "add qword ptr [rdx + 8], 1"),
        ("mov al, byte ptr [rdx].STATE.size_", "mov al, [rdx + 4]"),
        ("movaps xmm0, [rdx].STATE.mask", "movaps xmm0, [rdx + 32]"),
        ("mov rax, [rdx + STATE.next]", "mov rax, [rdx + 8]"),
        ("mov rax, [rdx.STATE.next]", "mov rax, [rdx + 8]"),
        ("add rax, SIZEOF STATE", "add rax, 48"),
        ("add rax, SIZEOF STATE.table", "add rax, 16"),
        ("add rax, LENGTHOF STATE.table", "add rax, 4"),
        ("inc [rdx].PAIR.second", "inc qword ptr [rdx + 8]"),
        ("add rax, SIZEOF PAIR", "add rax, 24"),
        ("mov ax, [rdx].WORD_OR_BYTES.whole", "mov ax, [rdx]"),
        ("add rax, SIZEOF WORD_OR_BYTES", "add rax, 2"),
        ("inc [rdx].OUTER.head.third", "inc byte ptr [rdx + 16]"),
        ("inc [rdx].OUTER.inner.two", "inc dword ptr [rdx + 28]"),
        ("assume rdx:ptr STATE\n inc [rdx].size_\n assume rdx:nothing", "inc dword ptr [rdx + 4]"),
        ("mov eax, TYPE dword", "mov eax, 4"),
    ],
)
def test_fields_of_structures_have_places_and_sizes(body: str, plain: str) -> None:
    same_code(STRUCTURES, body, plain)


@pytest.mark.parametrize(
    "body",
    ["mov eax, [rdx].STATE.nothing", "inc [rdx].size_", "mov eax, [rdx].UNKNOWN.low", "add rax, SIZEOF x"],
)
def test_unknown_fields_are_refused(body: str) -> None:
    assert the_loop(STRUCTURES + LOOP.format(body)).incomplete


VARIABLES = """\
EXTERN  handler:QWORD
EXTERN  helper:PROC
COUNT_T typedef dword
.data
total   dq 0
items   dd 3, 4, 5
        dd 6
factor  real8 2.5
name_   db 'four', 0
LENGTH_ equ $ - name_
calls   dq ?
n       COUNT_T ?
"""


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("inc total", "inc qword ptr [rip + total]"),
        ("add items, 1", "add dword ptr [rip + items], 1"),
        ("add items[4], 1", "add dword ptr [rip + items + 4], 1"),
        ("shl total, cl", "shl qword ptr [rip + total], cl"),
        ("cvtsi2sd xmm0, total", "cvtsi2sd xmm0, qword ptr [rip + total]"),
        ("movzx eax, name_", "movzx eax, byte ptr [rip + name_]"),
        ("push total", "push qword ptr [rip + total]"),
        ("call calls", "call qword ptr [rip + calls]"),
        ("call handler", "call qword ptr [rip + handler]"),
        ("call helper", "call helper"),
        ("inc n", "inc dword ptr [rip + n]"),
        ("mov eax, dword ptr total", "mov eax, dword ptr [rip + total]"),
        ("mulsd xmm0, factor", "mulsd xmm0, [rip + factor]"),
        ("add rax, LENGTHOF items", "add rax, 3"),
        ("add rax, SIZEOF items", "add rax, 12"),
        ("add rax, TYPE total", "add rax, 8"),
        ("add rax, LENGTH_", "add rax, 5"),
    ],
)
def test_operands_have_the_sizes_of_their_variables(body: str, plain: str) -> None:
    same_code(VARIABLES, body, plain)


def framed(text: str) -> list[str]:
    raw = [RawStatement(number, line) for number, line in enumerate(text.splitlines())]
    return [f"refused: {each.refusal}" if each.refusal else each.text.strip() for each in with_frames(raw)]


def test_the_registers_of_uses_are_pushed_and_popped() -> None:
    """As the reference of PROC says: saved in order at the beginning, restored in reverse before RET."""
    text = "f PROC PRIVATE FRAME USES rbx rsi\nnop\njz done\nret\ndone: ret\nf ENDP\nret"
    assert framed(text) == [
        "f PROC PRIVATE FRAME USES rbx rsi",
        "push rbx",
        "push rsi",
        "nop",
        "jz done",
        "pop rsi",
        "pop rbx",
        "ret",
        "done:",
        "pop rsi",
        "pop rbx",
        "ret",
        "f ENDP",
        "ret",
    ]


def test_options_turn_the_code_of_frames_off() -> None:
    text = "option prologue:none\noption epilogue:none\nf PROC USES rbx\nnop\nret\nf ENDP"
    assert framed(text) == text.split("\n")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("f PROC a:QWORD, b:PTR BYTE\nnop\nmov rax, b\nret\nf ENDP", 3),
        ("f PROC USES rbx a:QWORD\nnop\nret\nf ENDP", 2),
        ("f PROC\nLOCAL t:QWORD, u[4]:DWORD\nnop\nmov u[rax], 1\nret\nf ENDP", 3),
        ("f PROC USES xmm6\nnop\nf ENDP", 1),
        ("option prologue:mine\noption epilogue:mine\nf PROC\nnop\nret\nf ENDP", 2),
        ("option prologue:none\noption prologue:prologuedef\nf PROC\nnop\nret\nf ENDP", 0),
        ("f PROC USES rbx\nret 16\nf ENDP", 1),
        ("f PROC FRAME:handler\nnop\nret\nf ENDP", 0),
        ("f PROC\nnop\nmov rax, b\nret\nf ENDP", 0),
    ],
)
def test_code_of_frames_that_is_not_known_is_refused(text: str, refused: int) -> None:
    assert sum(line.startswith("refused") for line in framed(text)) == refused


def test_a_loop_that_names_a_parameter_has_no_figure_and_the_reason() -> None:
    text = LOOP.replace("PROC", "PROC n:QWORD").format("mov eax, DWORD PTR n")
    found = assemble(text)
    (region,) = found.regions
    assert region.incomplete
    (problem,) = (each for each in found.problems if each.severity is Severity.ERROR)
    assert problem.line == 3 and "'n' is a parameter" in problem.message


def test_a_function_has_the_code_that_uses_makes() -> None:
    text = ".code\nf PROC USES rbx\n add rax, rbx\n ret\nf ENDP\nend"
    (region,) = assemble(text, SourceOptions(regions=Regions.AUTO)).regions
    plain = ".intel_syntax noprefix\nf:\n push rbx\n add rax, rbx\n pop rbx\n ret\n"
    (expected,) = assemble(plain).regions
    assert region.code == expected.code and not region.incomplete


@pytest.mark.parametrize(
    "body",
    [
        "if unknown_name eq 1\n nop\n endif",
        "invoke helper, 1",
        ".if rax == 1\n nop\n .endif",
        ".repeat\n inc rax\n .until rax == 1",
        "m macro\n goto behind\n nop\n:behind\n endm\n m",
        ".radix 16\n add rax, 10\n .radix 10",
    ],
)
def test_code_that_is_not_known_leaves_the_loop_without_a_figure(body: str) -> None:
    """Also where it comes first in the loop."""
    for text in (body, f"nop\n{body}\nnop"):
        assert all(region.incomplete for region in assemble(LOOP.format(text)).regions)


def test_unwind_directives_make_no_code() -> None:
    text = """\
.code
work PROC FRAME
        push    rbx
        .pushreg rbx
        sub     rsp, 32
        .allocstack 32
        movaps  [rsp], xmm6
        .savexmm128 xmm6, 0
        .endprolog
main_loop:
        dec     rcx
        jnz     main_loop
        ret
work ENDP
end
"""
    assert the_loop(text).code == the_loop(PLAIN.format("")).code


COMMENTED = """\
include part.inc
comment ~ not read
        if
        mov     eax, 'unclosed
        ~ neither is this: ret
.code
main_loop:
        add     rax, STEP
        COMMENT @
        inc     rax
        @
        dec     rcx
        jnz     main_loop
end
"""


def test_comment_blocks_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "part.inc").write_text("COMMENT !\nSTEP equ 9\n!\nSTEP equ 5\n")
    origin = Origin(str(tmp_path / "text.asm"), (str(tmp_path),))
    found = assemble(COMMENTED, SourceOptions(origin=origin))
    assert [each.code for each in found.problems if each.severity is not Severity.INFORMATION] == []
    (region,) = found.regions
    assert region.code == the_loop(PLAIN.format("add rax, 5")).code


ALIASES = """\
r1      equ rcx
x3      equ ebx
x6      equ esi
x6_R    equ rsi
x3_L    equ bl
rN      equ r7
r7      equ rdi
rD      equ rdx
NUM     equ 3
LAST    equ (4 * (NUM - 1))
DATA_AT equ rN + rD * 1 + 4 *
IV      equ @CatStr(xmm, %(1 + NUM))
NOTHING equ
e1_N    equ 1
e1      equ @CatStr(xmm, %e1_N)
LOOKUP macro op:req, dest:req, src:req, t:req
        op      dest, dword ptr [rbp + @CatStr(src, _R) * 4 + 0400h * (t)]
endm
LOW_BYTE macro dest:req, src:req
        movzx   dest, @CatStr(src, _L)
endm
EACH macro op, second
    i = 0
    rept 2
        op      @CatStr(xmm, %(NUM + i)), second
        i = i + 1
    endm
endm
KEEP macro reg, _unused_
        movdqa  [rdx + i * 16], reg
endm
STEP macro label_, then_do
        jae     label_
        then_do
endm
FETCH macro
        prefetcht0 byte ptr [rdx + rax + 28]
endm
ROUND macro
        LOCAL leave_, inner
        for_step equ FETCH
        STEP    leave_, for_step
        for_step equ
        STEP    leave_, for_step
leave_:
endm
RESTORE macro name
        mov     rax, [rsp + name]
endm
BYTES macro cmd, a1, a2
        db 0fH, 038H, cmd, (0c0H + a1 * 8 + a2)
endm
"""


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        # @CatStr takes its arguments as they are written, although x6 and x3 are texts.
        ("LOOKUP xor, eax, x6, NUM * 4 + 3", "xor eax, [rbp + rsi * 4 + 0x400 * 15]"),
        ("LOW_BYTE x6, x3", "movzx esi, bl"),
        ("mov eax, [DATA_AT (NUM * (1 + 1))]", "mov eax, [rdi + rdx + 24]"),
        ("mov eax, [DATA_AT 0]", "mov eax, [rdi + rdx]"),
        ("EACH pxor, xmm7", "pxor xmm3, xmm7\n pxor xmm4, xmm7"),
        ("EACH movdqa, [rdx + i * 16]", "movdqa xmm3, [rdx]\n movdqa xmm4, [rdx + 16]"),
        ("EACH KEEP", "movdqa [rdx], xmm3\n movdqa [rdx + 16], xmm4"),
        ("pxor IV, e1", "pxor xmm4, xmm1"),
        ("ROUND", "jae 1f\n prefetcht0 [rdx + rax + 28]\n jae 1f\n1:"),
        ("RESTORE(LAST)", "mov rax, [rsp + 8]"),
        ("BYTES 0cbH, %(1 + 1), (1 + NUM)", "sha256rnds2 xmm2, xmm4"),
        ("and rax, NOT 3", "and rax, -4"),
        ("jae SHORT @F\n nop\n@@:\n nop", "jae 1f\n nop\n1:\n nop"),
        ("w = 0\nwhile w lt 2\n inc rax\n w = w + 1\nendm", "inc rax\n inc rax"),
        ("if ((NUM and 1) eq 1) and (NUM ne 4)\n inc rax\nelse\n dec rax\nendif", "inc rax"),
        ("NOTHING", ""),
        ("helper PROTO :QWORD, :PTR BYTE", ""),
    ],
)
def test_constructs_of_libraries_make_the_code_of_their_plain_form(body: str, plain: str) -> None:
    same_code(ALIASES, body, plain)


def test_a_label_that_a_macro_makes_its_own_keeps_its_name() -> None:
    """MASM's name is the part from the question marks on."""
    text = (
        "m macro\n local again\nagain:\n dec rcx\n jnz again\n endm\n.code\nf proc\n m\n m\n ret\nf endp\nend"
    )
    found = assemble(text)
    assert {region.name for region in found.regions} == {"again??0000", "again??0001"}


def test_texts_are_measured_and_searched() -> None:
    text = "n SIZESTR <four>\nat_ INSTR <abcb>, <b>\nlater INSTR 3, <abcb>, <b>\n"
    text += "f = @InStr(, <abc>, <c>)\n add rax, n + at_ * later + f"
    expansion = MasmExpansion(lambda _: None)
    raw = [RawStatement(number, line) for number, line in enumerate(text.splitlines())]
    (made,) = expansion.statements(raw)
    assert made.text.split() == ["add", "rax,", "4", "+", "2", "*", "4", "+", "3"]


@pytest.mark.parametrize(
    ("defines", "plain"), [((), "dec rax"), (("FAST",), "inc rax"), (("N=3",), "add rax, 3")]
)
def test_definitions_of_the_command_line_are_known(defines: tuple[str, ...], plain: str) -> None:
    body = "ifdef N\nadd rax, N\nelseifdef FAST\ninc rax\nelse\ndec rax\nendif"
    origin = Origin("text.asm", defines=defines)
    (region,) = assemble(LOOP.format(body), SourceOptions(origin=origin)).regions
    assert region.code == the_loop(PLAIN.format(plain)).code


@pytest.mark.parametrize("name", ["rax", "R10d", "bl", "sil", "gs", "xmm7", "YMM0", "zmm31", "k1"])
def test_registers_are_defined_names(name: str) -> None:
    same_code("", f"ifdef {name}\n inc rax\nendif\nifndef {name}\n dec rax\nendif", "inc rax")


def test_near_jumps_have_their_long_form() -> None:
    same_code("", "jae near ptr main_loop", "{disp32} jae main_loop")
