"""Messages for statements that no encoder accepts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.statements.refusals import APX, AVX10, no_such
from cyclelens.analyzer.model.source import AssembledFile

Region = Callable[..., AssembledFile]


@pytest.mark.parametrize(
    ("mnemonic", "said"),
    [
        ("vmovupps", "X does not know the instruction 'vmovupps'; did you mean 'vmovups'?"),
        ("movv", "X does not know the instruction 'movv'; did you mean 'mov'?"),
        (
            "movz",
            "X does not know the instruction 'movz'; did you mean 'movzx', in AT&T syntax also 'movzbl' or "
            "'movzwl'?",
        ),
        ("frobnicate", "X does not know the instruction 'frobnicate'."),
        ("vaddps", "X does not accept 'vaddps' with such operands."),
        ("addl", "X does not accept 'addl' with such operands."),
    ],
)
def test_unknown_instructions_and_wrong_operands_get_different_messages(mnemonic: str, said: str) -> None:
    assert no_such(mnemonic, "X") == said


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("mov %eax, %rbx", "%eax has 32 bits, %rbx has 64"),
        ("movl %rax, (%rbx)", "it takes registers of 32 bits here"),
        ("vpaddd %xmm1, %ymm2, %ymm3", "%xmm1 has 128 bits, %ymm2 has 256"),
        ("vpaddd %xmm1, %xmm2", "it takes 3 operands, not 2"),
        ("pshufb %ymm0, %ymm1", "it takes registers of 128 bits here"),
        ("mov (%rax), (%rbx)", "only one of them may be in memory"),
        (".intel_syntax noprefix; mov rbx, eax", "rbx has 64 bits, eax has 32"),
        ("lea %rax, %rbx", "in place of %rax it takes memory"),
        ("cmp %rax, $5", "in place of the number it takes a register of 8, 16, 32 or 64 bits or memory"),
        ("shl %rax, %rbx", "in place of %rax it takes %cl or a number"),
        ("movzx %rax, %rbx", "in place of %rax it takes a register of 8 or 16 bits or memory"),
        (
            "vpaddd $3, %ymm1, %ymm2",
            "in place of the number it takes a register of 128, 256 or 512 bits or memory",
        ),
        (
            "vpaddd %ymm1, %ymm2, (%rdi)",
            "in place of the memory operand it takes a register of 128, 256 or 512 bits",
        ),
        ("ret %rax", "in place of %rax it takes a number"),
        (
            ".intel_syntax noprefix; mov [rdi], 5",
            "the memory operand needs a size: byte, word, dword or qword",
        ),
        (".intel_syntax noprefix; movzx rax, [rdi]", "the memory operand needs a size: byte or word"),
        (".intel_syntax noprefix; shl rax, rcx", "in place of rcx it takes cl or a number"),
    ],
)
def test_the_message_says_what_is_wrong_with_the_operands(
    region: Region, statement: str, reason: str
) -> None:
    (problem,) = region(statement).problems
    assert f" with such operands: {reason}." in problem.message


@pytest.mark.parametrize(
    ("statement", "register"),
    [("add $32 %rdi", "rdi"), ("vaddps %ymm0 %ymm1, %ymm2", "ymm1"), ("mov (%rax)  %RBX", "RBX")],
)
def test_a_missing_comma_is_named(statement: str, register: str, region: Region) -> None:
    (problem,) = region(statement).problems
    assert problem.message == f"A comma is missing before '%{register}'."


def test_spaces_before_registers_are_no_missing_commas(region: Region) -> None:
    assert not region("mov ( %rax , %rbx , 4 ) , %rcx; add %fs:( %rax ), %rcx; add $7 % 4, %rax").problems


@pytest.mark.parametrize(
    "statement", ["lea (%rax), (%rbx)", "bndmov %rax, %rbx", "fadd %rax, %st", "mov %cr0, %fs"]
)
def test_a_reason_that_is_not_simple_is_not_guessed(region: Region, statement: str) -> None:
    (problem,) = region(statement).problems
    assert "it takes" not in problem.message and " has " not in problem.message


@pytest.mark.parametrize(
    "mnemonic",
    [
        *(
            "movzbl",
            "movsbq",
            "movslq",
            "movabs",
            "movabsq",
            "cltq",
            "cqto",
            "retq",
            "callq",
            "pushq",
            "popfq",
        ),
        *("jz", "jnae", "jpo", "setnz", "setnzb", "cmovnbe", "cmovzq", "jecxz", "loopne", "xlatb"),
        *(
            "cmpeqps",
            "vcmpneq_oqpd",
            "vcmpltss",
            "vpcmpleub",
            "vpcomltud",
            "cvtsi2sdl",
            "vcvtpd2psy",
            "fildll",
        ),
        *("nopw", "sarl", "sal", "shldq", "lret", "stosq", "crc32q", "movnti", "fadds", "fwait", "wait"),
    ],
)
def test_every_spelling_of_an_instruction_is_known(mnemonic: str) -> None:
    assert "such operands" in no_such(mnemonic, "X")


@pytest.mark.parametrize(
    "statement",
    [
        "{nf} add %rax, %rbx",
        "{rex2} add %rax, %rbx",
        "add %r16, %rax",
        "addl $1, 8(%rsi,%r31)",
        "mov %r17b, %al",
        "push2 %rax, %rbx",
        "pop2p %rax, %rbx",
        "ccmpe {dfv=cf} %rax, %rbx",
        "cfcmovne %rax, %rbx",
        "setzune %al",
        "add %rax, %rbx, %rcx",
        "subl $3, (%rax), %ecx",
        "shl $3, %rax, %rbx",
        "imul %rax, %rbx, %rcx",
        "cmovz %rax, %rbx, %rcx",
        "not %rax, %rbx",
    ],
)
def test_apx_is_named(statement: str, region: Region) -> None:
    (problem,) = region(statement).problems
    assert (problem.code, problem.message) == ("unsupported-instruction", APX)


@pytest.mark.parametrize(
    "statement",
    [
        "vaddbf16 %zmm0, %zmm1, %zmm2",
        "vminmaxps $1, %ymm0, %ymm1, %ymm2",
        "vcvtps2ibs %zmm0, %zmm1",
        "vcvttps2dqs %zmm0, %zmm1",
        "vcomxsd %xmm0, %xmm1",
        "vaddps {rn-sae}, %ymm1, %ymm2, %ymm3",
        "vmpsadbw $1, %zmm1, %zmm2, %zmm3",
        "vpdpbssd %zmm1, %zmm2, %zmm3",
    ],
)
def test_avx10_is_named(statement: str, region: Region) -> None:
    (problem,) = region(statement).problems
    assert (problem.code, problem.message) == ("unsupported-instruction", AVX10)


@pytest.mark.parametrize(
    "statement", ["shl %rax, %rbx", "add %eax, %rbx, %rcx", "mov %rax, %rbx, %rcx", "add $32, %edi, %rdi"]
)
def test_operands_that_apx_lacks_too_are_a_mistake(statement: str, region: Region) -> None:
    (problem,) = region(statement).problems
    assert problem.message != APX


def test_a_refused_statement_is_the_only_cause_that_is_named(region: Region) -> None:
    within = region("back: frobnicate\nfrobnicate\n.zero 100\njnz back")
    assert [problem.code for problem in within.problems] == ["unsupported-instruction"] * 2


def test_apx_in_intel_syntax(region: Region) -> None:
    (problem,) = region("add rax, qword ptr [r16 + 8]", syntax="intel").problems
    assert problem.message == APX


def test_a_symbol_may_be_called_like_a_register_of_apx(region: Region) -> None:
    found = region(".equ r16, 3\nadd rax, r16", syntax="intel")
    assert found.problems == ()
    assert found.regions[0].code.hex() == "4883c003"
    assert region("mov r16(%rip), %rax").regions[0].code.hex().startswith("488b05")


def test_a_label_that_is_not_there(region: Region) -> None:
    (problem,) = region(".Lloop:\nnop\njnz .Llop").problems
    assert problem.message == "The label '.Llop' is not defined; did you mean '.Lloop'?"
    (problem,) = region(".Lloop:\nnop\njnz .Lxyz9").problems
    assert problem.message == "The label '.Lxyz9' is not defined."
