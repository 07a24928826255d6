"""One instruction to bytes, in both dialects; the expected bytes are GNU as's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.model.source import AssembledFile

SAME = [
    ("addq $100, %rsi", "add rsi, 100", "4883c664"),
    ("addw $0x1234, %ax", "add ax, 0x1234", "66053412"),
    ("movl 32(%rsi), %eax", "mov eax, dword ptr [rsi + 32]", "8b4620"),
    ("movl -8(%rsi,%rcx,4), %eax", "mov eax, [rsi + rcx*4 - 8]", "8b448ef8"),
    ("movl -8(%rsi,%rcx,4), %eax", "mov eax, -8[rsi][rcx*4]", "8b448ef8"),
    ("lea (,%rax,8), %rbx", "lea rbx, [8*rax]", "488d1cc500000000"),
    ("lea (%rsp,%rax), %rbx", "lea rbx, [rax + rsp]", "488d1c04"),
    ("movb $5, (%rdi)", "mov byte ptr [rdi], 5", "c60705"),
    ("movb $'a', (%rdi)", "mov byte [rdi], 'a'", "c60761"),
    ("mov $-1, %rax", "mov rax, -1", "48c7c0ffffffff"),
    ("mov $0xffffffffffffffff, %rax", "mov rax, 0xffffffffffffffff", "48c7c0ffffffff"),
    ("mov $0x123456789a, %rax", "mov rax, 0x123456789a", "48b89a78563412000000"),
    ("movzx %al, %ecx", "movzx ecx, al", "0fb6c8"),
    ("movslq %eax, %rcx", "movsxd rcx, eax", "4863c8"),
    ("movslq (%rsi), %rax", "movsx rax, dword ptr [rsi]", "486306"),
    ("mov %fs, %rdx", "mov rdx, fs", "8ce2"),
    ("pmovmskb %xmm1, %rdx", "pmovmskb rdx, xmm1", "660fd7d1"),
    ("mov %r9, %gs", "mov gs, r9", "418ee9"),
    ("movsd 8(%rsp), %xmm0", "movsd xmm0, qword ptr [rsp + 8]", "f20f10442408"),
    ("cmpsd $1, (%rax), %xmm0", "cmpsd xmm0, qword ptr [rax], 1", "f20fc20001"),
    ("xlat %ds:(%rbx)", "xlat byte ptr ds:[rbx]", "d7"),
    ("cltq", "cdqe", "4898"),
    ("vfmadd231ps 32(%rdi), %ymm1, %ymm0", "vfmadd231ps ymm0, ymm1, [rdi + 32]", "c4e275b84720"),
    ("vmulsd 8(%rdx), %xmm3, %xmm2", "vmulsd xmm2, xmm3, qword ptr [rdx + 8]", "c5e3595208"),
    ("vcvtsd2si (%rsi), %ecx", "vcvtsd2si ecx, qword ptr [rsi]", "c5fb2d0e"),
    ("vpclmullqhqdq %xmm1, %xmm2, %xmm3", "vpclmullqhqdq xmm3, xmm2, xmm1", "c4e36944d910"),
    ("blendvps %xmm0, %xmm2, %xmm1", "blendvps xmm1, xmm2, xmm0", "660f3814ca"),
    ("lock xaddq %rax, (%rdi)", "lock xadd [rdi], rax", "f0480fc107"),
    ("lock cmpxchgq %rdx, (%rdi)", "lock cmpxchg [rdi], rdx", "f0480fb117"),
    ("cmpxchgw %ax, %cx", "cmpxchg cx, ax", "660fb1c1"),
    ("cmpxchgb %al, (%rcx)", "cmpxchg [rcx], al", "0fb001"),
    ("rep movsb", "rep movsb", "f3a4"),
    ("rep movsb (%rsi), (%rdi)", "rep movs byte ptr [rdi], byte ptr [rsi]", "f3a4"),
    ("rep stosw", "rep stosw", "66f3ab"),
    ("call *%rax", "call rax", "ffd0"),
    ("call *8(%rdx,%rax)", "call [QWORD PTR 8[rdx+rax]]", "ff540208"),
    ("jmp *%fs:16", "jmp [QWORD PTR fs:16]", "64ff242510000000"),
    ("jmp *8(%rax)", "jmp qword ptr [rax + 8]", "ff6008"),
    ("fsub %st, %st(1)", "fsub st(1), st", None),
    ("endbr64", "endbr64", "f30f1efa"),
    ("pushf", "pushf", "9c"),
    # Keystone gets these wrong.
    ("nop", "nop", "90"),
    ("nopw 0x0(%rax,%rax,1)", "nop word ptr [rax + rax*1 + 0x0]", "660f1f0400"),
    ("nopw %cs:64(%rax,%rax,1)", "nop word ptr cs:[rax + rax*1 + 64]", "2e660f1f440040"),
    ("nopl 8(%r9)", "nop dword ptr [r9 + 8]", "410f1f4108"),
    ("mov %fs:0x28, %rax", "mov rax, qword ptr fs:[0x28]", "64488b042528000000"),
    ("mov %gs:(%rax), %cx", "mov cx, gs:[rax]", "65668b08"),
    ("mov 0x1000, %eax", "mov eax, dword ptr ds:0x1000", "8b042500100000"),
    ("sub $-128, %rax", "sub rax, -128", "4883e880"),
]


@pytest.mark.parametrize(("att", "intel", "expected"), SAME, ids=[case[0] for case in SAME])
def test_both_dialects_give_the_same_bytes(
    code: Callable[..., str], att: str, intel: str, expected: str | None
) -> None:
    if expected is None:
        # The one place where the dialects name different instructions: fsub and fsubr to st(i).
        assert code(att) == "dce1"
        assert code(intel, "intel") == "dce9"
        return
    assert code(att) == expected
    assert code(intel, "intel") == expected


def test_symbols_of_the_file_are_constants(code: Callable[..., str]) -> None:
    constants = ".set STEP, 4 * 8\n.equ LAST, STEP - 1\nWIDE = 1 << 6\n"
    assert (
        code(constants + "add $STEP, %rsi\nmov LAST+1(%rdi), %eax\nadd $WIDE, %rax")
        == "4883c620" + "8b4720" + "4883c040"
    )


def test_a_symbol_has_the_value_of_the_last_assignment(code: Callable[..., str]) -> None:
    assert code(".set N, 1\nadd $N, %rsi\n.set N, 2\nadd $N, %rsi") == "4883c601" + "4883c602"


def test_the_same_external_symbol_is_the_same_address_and_others_are_not(
    region: Callable[..., AssembledFile],
) -> None:
    result = region("mov a(%rip), %eax\nmov %eax, b(%rip)\nmov a(%rip), %ecx\nmov a+4(%rip), %edx")
    first, store, again, behind = (line.code[2:] for line in result.regions[0].lines)
    assert len(first) == 4
    assert first == again != store
    assert int.from_bytes(behind, "little") == int.from_bytes(first, "little") + 4


def test_numbers_of_all_bases(code: Callable[..., str]) -> None:
    assert code("mov $0x1f, %al; mov $017, %al; mov $0b101, %al; mov $~0, %al; mov $(1+2)*3, %al") == (
        "b01f" + "b00f" + "b005" + "b0ff" + "b009"
    )


@pytest.mark.parametrize(
    "text",
    [
        "vaddps %zmm1, %ymm2, %zmm3",
        "frobnicate %rax",
        "mov %rax",
        "movsl (%esi), (%rdi)",
        "cmpsl %es:(%edi), %ds:(%rcx)",
        "xlat (%rcx)",
    ],
)
def test_statements_that_cannot_be_encoded_get_a_message(
    region: Callable[..., AssembledFile], text: str
) -> None:
    result = region(f"nop\n{text}\nnop")
    assert [(problem.line, problem.code) for problem in result.problems] == [(2, "unsupported-instruction")]
    assert result.regions[0].incomplete
    assert result.regions[0].code == b"\x90\x90"


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("add %rax,", "att"),
        ("add $1, rax", "att"),
        ("add %rax %rbx", "att"),
        ("mov (%rax, %rbx", "att"),
        ("mov (%rax,%rbx,3), %eax", "att"),
        ("mov $08, %eax", "att"),
        ("lea (%rax,%rsp,2), %rbx", "att"),
        ("movs", "intel"),
        ("mov eax, [rax + rbx + rcx]", "intel"),
        ("mov eax, dword ptr", "intel"),
        ("mov eax, ![rax]", "intel"),
        ("mov eax, [rax", "intel"),
        ("mov eax, rbx - 1", "intel"),
        ("[cmp $0x1, %esi", "att"),
    ],
)
def test_what_is_not_understood_is_a_syntax_error(
    region: Callable[..., AssembledFile], text: str, syntax: str
) -> None:
    result = region(f"nop\n{text}", syntax)
    assert [(problem.line, problem.code) for problem in result.problems] == [(2, "syntax-error")]


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("add 32, %rsi", "32"),
        ("cmp\t0x40, %rsi", "0x40"),
        ("mov %eax, 8", "8"),
        ("vaddps 16, %ymm0, %ymm1", "16"),
    ],
)
def test_a_number_without_its_dollar_is_probably_not_an_address(
    region: Callable[..., AssembledFile], statement: str, number: str
) -> None:
    (problem,) = region(statement).problems
    assert problem.code == "number-as-address"
    assert problem.message == f"This accesses memory at address {number}; did you mean ${number}?"


@pytest.mark.parametrize(
    "statement",
    [
        *("add $32, %rsi", "mov %fs:40, %rax", "mov 8(%rax), %rax", "mov (,%rax,8), %rax", "lea 8, %rax"),
        *("mov 4096, %rax", "shl %rax", "nopl 0(%rax)", "mov 3*8(%rsp), %rax"),
    ],
)
def test_other_addresses_are_left_alone(region: Callable[..., AssembledFile], statement: str) -> None:
    assert region(statement).problems == ()


def test_a_number_that_does_not_fit_is_cut_only_as_gnu_as_does(region: Callable[..., AssembledFile]) -> None:
    for text, number in (("movb $300, %al", 44), ("cmpw $0x12345, (%rdi)", 0x2345)):
        (problem,) = region(text).problems
        assert problem.code == "number-shortened"
        assert problem.message.endswith(f"truncated to {number}.")
    for text in ("add $0x123456789, %rax", "shl $300, %eax", "vpslld $300, %xmm0, %xmm1", "cmp $300000, $1"):
        assert region(text).regions[0].incomplete, text
