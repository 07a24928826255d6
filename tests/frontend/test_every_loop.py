"""Loops are found whatever their jump's spelling: suffixes, hints, prefixes, labels of every assembler. The
bytes are those of GNU as 2.40 where it accepts the text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle, style
from cyclelens.analyzer.model.source import AssembledFile, Severity

ATT = [
    *(f"loop{kind}{suffix}" for kind in ("", "e", "z", "ne", "nz") for suffix in ("", "q", "l")),
    "jrcxz", "jecxz", "jne,pt", "jne,pn", "loop,pt", "loopq,pn", "jmp,pt", "bnd jne", "ds jne",
    "cs loopq", "fs jne",
    "addr32 loop", "addr32 loopnzq", "data16 loopq", "rex.w loopq", "rex64 jne", "jne.d32", "jne.s", "jmp.d8",
    "loop.d8", "{disp32} jne", "{disp8} jmp", "{nooptimize} loopzq", "jnae", "jpe",
]  # fmt: skip
INTEL = [each for each in ATT if "," not in each and not (each[:4] == "loop" and each[-1] == "l")]


def _errors(assembled: AssembledFile) -> list[str]:
    return [each.message for each in assembled.problems if each.severity is not Severity.INFORMATION]


@pytest.mark.parametrize("jump", ATT)
def test_jumps_of_att_syntax_make_loops_with_the_bytes_of_gnu_as(
    gnu_code: Callable[[str], bytes], jump: str
) -> None:
    text = f"1: add %rax, %rbx\n {jump} 1b\n"
    assembled = assemble(text)
    assert _errors(assembled) == []
    assert [region.ends_in_jump_to_start for region in assembled.regions] == [True]
    assert assembled.regions[0].code == gnu_code(text)


@pytest.mark.parametrize("jump", INTEL)
def test_jumps_of_intel_syntax_make_loops_with_the_bytes_of_gnu_as(
    gnu_code: Callable[[str], bytes], jump: str
) -> None:
    text = f".intel_syntax noprefix\n1: add rbx, rax\n {jump} 1b\n"
    assembled = assemble(text)
    assert _errors(assembled) == []
    assert [region.ends_in_jump_to_start for region in assembled.regions] == [True]
    assert assembled.regions[0].code == gnu_code(text)


def test_loops_that_count_ecx_are_refused_in_intel_syntax_as_by_gnu_as() -> None:
    assembled = assemble(".intel_syntax noprefix\n1: add rbx, rax\n loopl 1b\n")
    assert "addr32 loop" in assembled.problems[0].message
    assert assembled.regions[0].incomplete


MASM = {
    "anonymous": ("f PROC\n@@:\n add eax, DWORD PTR [rcx]\n add rcx, 4\n dec rdx\n jnz @B\n ret\nf ENDP", 1),
    "lower case": ("f PROC\n@@: add eax, [rcx]\n dec rdx\n jnz @b\n ret\nf ENDP", 1),
    "forward": (
        "f PROC\n jmp @F\n@@: add eax, [rcx]\n@@: add rcx, 4\n dec rdx\n jnz @B\n jmp @F\n@@: ret\nf ENDP",
        1,
    ),
    "two loops": ("f PROC\n@@: dec rdx\n jnz @B\n@@: dec rcx\n jnz SHORT @B\n ret\nf ENDP", 2),
    "at sign": ("f PROC\n$LL4@f:\n add rcx, 4\n sub r8, 1\n jne $LL4@f\n ret\nf ENDP", 1),
    "short": ("f PROC\n$LL4@f:\n add rcx, 4\n sub r8, 1\n jne SHORT $LL4@f\n ret\nf ENDP", 1),
    "near": ("f PROC\n$LL4@f:\n add rcx, 4\n sub r8, 1\n jne NEAR PTR $LL4@f\n ret\nf ENDP", 1),
    "decorated": (
        "?f@@YAXPEAM_K@Z PROC\n$LL4@f:\n add rcx, 4\n sub r8, 1\n jne $LL4@f\n ret\n?f@@YAXPEAM_K@Z ENDP",
        1,
    ),
    "question mark": ("f PROC\n?L1:\n add rcx, 4\n sub r8, 1\n jne ?L1\n ret\nf ENDP", 1),
    "without a procedure": ("@@:\n add eax, DWORD PTR [rcx]\n dec rdx\n jnz @B\n", 1),
    "a piece of a listing": ("$LL4@dot:\n add rcx, 4\n sub r8, 1\n jne SHORT $LL4@dot\n", 1),
    "public label": ("f PROC\nagain::\n dec rdx\n jnz again\n ret\nf ENDP", 1),
    "label directive": ("f PROC\nagain LABEL NEAR\n dec rdx\n jnz again\n ret\nf ENDP", 1),
    "loop": ("f PROC\n@@: add eax, [rcx]\n loop @B\n ret\nf ENDP", 1),
}


@pytest.mark.parametrize(("text", "count"), MASM.values(), ids=MASM)
def test_loops_of_masm_are_found(text: str, count: int) -> None:
    assert style(SourceText(text)) is AssemblerStyle.MASM
    assembled = assemble(text)
    assert _errors(assembled) == []
    assert [region.ends_in_jump_to_start for region in assembled.regions] == [True] * count


CHOICES = """AVX EQU 1
SSE = 0
f PROC
@@:
IFDEF AVX
 {}
ELSE
 addps xmm0, xmm1
ENDIF
IF SSE
 nop
ELSEIF AVX
 add rsi, 8
ENDIF
IFE SSE
 dec rcx
ENDIF
ifndef SSE
 nop
endif
 jnz @B
 ret
f ENDP
END
"""


def test_conditions_of_masm_choose_what_is_assembled(gnu_code: Callable[[str], bytes]) -> None:
    (region,) = assemble(CHOICES.format("paddd xmm0, xmm1")).regions
    assert region.code == gnu_code("1: paddd %xmm1, %xmm0\n add $8, %rsi\n dec %rcx\n jnz 1b\n")
    without = assemble("f PROC\nIF 0\n@@: dec rcx\n jnz @B\nENDIF\n@@: dec rdx\n jnz @B\nf ENDP\n")
    assert [each.first_line for each in without.regions] == [5]


@pytest.mark.parametrize(
    "block",
    [
        ".WHILE rcx > 0\n dec rcx\n.ENDW",
        ".REPEAT\n dec rcx\n.UNTIL ZERO?",
        ".IF eax == 1\n dec rcx\n.ENDIF",
        "nop\nREPEAT count\n dec rcx\nENDM",
        "IF A EQ B\n dec rcx\nENDIF",
        "needs MACRO a:REQ\n mov rax, a\nENDM\n needs",
        "EXITM <3>\n dec rcx",
        "step 4",
    ],
)
def test_what_masm_makes_of_other_statements_is_no_figure(block: str) -> None:
    found = assemble(f"f PROC\n@@: add rax, rdx\n {block}\n dec rdx\n jnz @B\n ret\nf ENDP\n")
    assert all(region.incomplete for region in found.regions)
    lines = [each.line for each in found.problems if each.severity is Severity.ERROR]
    assert lines and min(lines) >= 2 and len(set(lines)) == len(lines)


def test_anonymous_labels_mean_the_nearest_ones() -> None:
    text = "f PROC\n@@: inc rax\n jz @F\n jnz @B\n inc rbx\n@@: inc rcx\n jnz @B\n jmp @F\n@@: ret\nf ENDP\n"
    assembled = assemble(text)
    assert [(each.first_line, each.last_line) for each in assembled.regions] == [(1, 3), (5, 6)]
    assert assembled.regions[1].code.hex() == "48ffc1" + "75fb"


LISTING = """\
; Listing generated by Microsoft (R) Optimizing Compiler Version 19.38.33134.0

include listing.inc
INCLUDELIB OLDNAMES
PUBLIC	dot
CONST	SEGMENT
__real@3f800000 DD 03f800000r	; 1
CONST	ENDS
pdata	SEGMENT
$pdata$dot DD	imagerel $LN8
	DD	imagerel $LN8+60
pdata	ENDS
_TEXT	SEGMENT
x$ = 8
tv64 = 16
dot	PROC
; Line 3
$LN8:
	mov	DWORD PTR tv64[rsp], ecx
	movss	xmm0, DWORD PTR __real@3f800000
	lea	r9, OFFSET FLAT:__real@3f800000
	test	r8, r8
	jle	SHORT $LN3@dot
	npad	9
$LL4@dot:
	movss	xmm1, DWORD PTR [rcx]
	lea	rcx, QWORD PTR [rcx+4]
	mulss	xmm1, DWORD PTR __real@3f800000
	addss	xmm0, xmm1
	sub	r8, 1
	jne	SHORT $LL4@dot
$LN3@dot:
	ret	0
dot	ENDP
_TEXT	ENDS
END
"""
GNU_LISTING = """\
.intel_syntax noprefix
	mov	DWORD PTR 16[rsp], ecx
	movss	xmm0, DWORD PTR [rip+real]
	lea	r9, [rip+real]
	test	r8, r8
	jle	1f
	.byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
2:	movss	xmm1, DWORD PTR [rcx]
	lea	rcx, QWORD PTR [rcx+4]
	mulss	xmm1, DWORD PTR [rip+real]
	addss	xmm0, xmm1
	sub	r8, 1
	jne	2b
1:	ret
.data
real: .long 1
"""


def test_listings_of_msvc_are_read(gnu_code: Callable[[str], bytes]) -> None:
    """The same statements as GNU as has them, and the loop where it stands among them."""
    assembled = assemble(LISTING)
    assert _errors(assembled) == []
    (region,) = assembled.regions
    whole = gnu_code(GNU_LISTING)
    at = 4 + 8 + 7 + 3 + 2 + 9
    expected = bytearray(whole[at : at + len(region.code)])
    # What is read relative to RIP has another stand-in here.
    place = region.code.index(bytes.fromhex("f30f590d")) + 4
    expected[place : place + 4] = region.code[place : place + 4]
    assert region.code == bytes(expected)
    assert (region.name, region.placement.offset, region.placement.known) == ("$LL4@dot", at % 16, 16)
    assert region.lines[-1].text == "jne\tSHORT $LL4@dot"


def test_all_of_a_listing_is_encoded() -> None:
    assembled = assemble(
        LISTING.replace("; Line 3", "; cyclelens-begin").replace("dot	ENDP", "; cyclelens-end")
    )
    assert _errors(assembled) == []
    assert sum(len(region.code) for region in assembled.regions) == 4 + 8 + 7 + 3 + 2 + 9 + 26 + 1


OFFSETS = [
    "mov ecx, DWORD PTR [rax+OFFSET tab]",
    "mov ecx, DWORD PTR [OFFSET FLAT:tab+rax*4]",
    "mov ecx, DWORD PTR OFFSET FLAT:tab[rax*4]",
    "mov ecx, DWORD PTR OFFSET tab",
    "mov ecx, [OFFSET tab]",
    "mov ecx, [OFFSET tab+4]",
    "mov ecx, [offset tab + rip]",
    "mov ecx, [rax + rcx*4 + offset flat:tab+8]",
    "mov edx, 4 + offset tab",
    "mov edx, offset (tab+4)",
    "mov ecx, [rax + offset 4]",
    "call [rax+offset tab]",
    "cmp DWORD PTR [rax+OFFSET tab], offset tab",
    "mov ecx, [rax+flat:tab]",
    "mov ecx, flat:tab",
    "mov eax, fs:[offset tab]",
    "movabs rdx, offset tab",
    "mov rax, qword ptr offset tab",
]


@pytest.mark.parametrize("statement", OFFSETS)
def test_offset_is_taken_wherever_gnu_as_takes_it(
    gnu_code: Callable[[str], bytes], region: Callable[..., AssembledFile], statement: str
) -> None:
    text = f".intel_syntax noprefix\n.globl tab\n{statement}\n"
    assembled = region(text, "intel")
    assert _errors(assembled) == []
    expected = gnu_code(f"{text}.data\ntab: .long 1, 2\n")
    ours = assembled.regions[0].code
    differing = [at for at, (one, other) in enumerate(zip(ours, expected, strict=True)) if one != other]
    # Stand-ins of addresses alone: fields of four bytes that GNU as leaves at 0.
    assert all(expected[at] == 0 for at in differing)


def test_an_address_is_no_operand_of_lea() -> None:
    marked = "# cyclelens-begin\nlea rdx, [offset tab]\n# cyclelens-end\n"
    assert assemble(f".intel_syntax noprefix\n{marked}").regions[0].incomplete
