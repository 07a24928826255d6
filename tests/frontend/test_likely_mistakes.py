"""Likely mistakes of functions: each is reported at its statement, and right functions are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.problems import LIKELY_MISTAKES
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import Problem

ROOT = Path(__file__).parents[2]


def mistakes(body: str, head: str = ".globl f\n") -> list[Problem]:
    """Likely mistakes of a function whose statements are separated by semicolons and begin in line 2."""
    text = f"{head}f: " + "\n".join(part.strip() for part in body.split(";")) + "\n"
    found = assemble(text, SourceOptions(regions=Regions.AUTO))
    return [problem for problem in found.problems if problem.code in LIKELY_MISTAKES]


def said(body: str) -> list[tuple[int, str]]:
    """One-based lines of the function's text and codes."""
    return [(problem.line, problem.code) for problem in mistakes(body)]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("add (%rdi), %rax; ret", 1),
        ("lea 1(%rdi), %rdi; vaddps (%rdi), %ymm9, %ymm1; vzeroupper; ret", 2),
        ("1: vfmadd231ps (%rdi), %ymm1, %ymm9; sub $8, %rsi; jnz 1b; vzeroupper; ret", 1),
        ("vaddps %zmm0, %zmm1, %zmm0{%k1}{z}; ret", 1),
        ("mov (%rdi,%r12), %eax; ret", 1),
        ("test %rdi, %rdi; je 1f; mov %rax, (%rsi); add $1, %rax; 1: ret", 4),
    ],
)
def test_a_register_that_nothing_has_written_is_reported_where_it_is_read(body: str, line: int) -> None:
    assert said(body) == [(line, "register-not-written")]


@pytest.mark.parametrize(
    "body",
    [
        "xor %eax, %eax; add (%rdi), %rax; ret",
        "lea (%rdi,%rsi), %rax; add %rdx, %rax; add %rcx, %rax; add %r8, %rax; add %r9, %rax; ret",
        "vaddps %ymm7, %ymm0, %ymm0; vzeroupper; ret",
        "vpcmpeqd %ymm9, %ymm9, %ymm9; vmovups %ymm9, (%rdi); vzeroupper; ret",
        "vcvtsi2sd %rdi, %xmm9, %xmm0; ret",
        "push %rbx; mov %rdi, %rbx; pop %rbx; ret",
        "test %al, %al; je 1f; movaps %xmm0, (%rdi); 1: ret",
        "sub $40, %rsp; movaps %xmm8, (%rsp); movaps (%rsp), %xmm8; add $40, %rsp; ret",
        "test %rdi, %rdi; je 1f; mov $1, %eax; 1: test %rdi, %rdi; je 2f; add $1, %rax; 2: ret",
        "push %rbx; call g; mov %rax, %rbx; pop %rbx; ret",
        "jmp *(%rdi,%rax,8); add %rbx, %rbx; ret",
    ],
)
def test_arguments_idioms_and_saved_registers_are_left_alone(body: str) -> None:
    assert mistakes(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "1: cmp %rdx, %rsi; add $32, %rsi; jne 1b; ret",
        "test %rsi, %rsi; xor %eax, %eax; cmovne %rdi, %rsi; ret",
        "ucomiss %xmm1, %xmm0; and $7, %rdi; seta (%rsi); ret",
    ],
)
def test_flags_that_are_overwritten_before_the_jump_are_reported_at_the_overwriter(body: str) -> None:
    (problem,) = mistakes(body)
    assert (problem.line, problem.code) == (2, "flags-overwritten")
    assert "in line 2 before" in problem.message and problem.message.endswith("in line 4 reads them.")


@pytest.mark.parametrize(
    "body",
    [
        "1: add $32, %rsi; cmp %rdx, %rsi; jne 1b; ret",
        "1: cmp %rdx, %rsi; lea 32(%rsi), %rsi; jne 1b; ret",
        "1: cmp %rdx, %rsi; inc %rsi; jb 1b; ret",
        "1: cmp %rdx, %rsi; dec %rsi; jne 1b; ret",
        "cmp %rdx, %rsi; setb (%rdi); add %rsi, %rdx; je 1f; nop; 1: ret",
        "cmp %rdx, %rsi; je 1f; add %rsi, %rdx; je 1f; nop; 1: ret",
        "addq $1, (%rdi); cmp %rdx, %rsi; je 1f; nop; 1: ret",
    ],
)
def test_comparisons_that_are_read_are_left_alone(body: str) -> None:
    assert mistakes(body) == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("mov %rdi, %rbx; ret", 1),
        ("push %rbx; xor %ebx, %ebx; pop %rcx; ret", 2),
        ("push %r12; test %rdi, %rdi; je 1f; mov $1, %r12d; pop %r13; ret; 1: pop %r12; ret", 5),
        ("mov $5, %bpl; ret", 1),
    ],
)
def test_a_register_of_the_caller_that_is_not_restored_is_reported(body: str, line: int) -> None:
    assert (line, "register-not-restored") in said(body)


@pytest.mark.parametrize(
    "body",
    [
        "push %rbx; xor %ebx, %ebx; pop %rbx; ret",
        "mov %rbx, -8(%rsp); xor %ebx, %ebx; mov -8(%rsp), %rbx; ret",
        "movq %rbx, %xmm5; xor %ebx, %ebx; movq %xmm5, %rbx; ret",
        "push %rbp; mov %rsp, %rbp; sub $64, %rsp; leave; ret",
        "mov %rdi, %rbx; jmp g",
        "mov %rdi, %r10; mov %r10, %r11; ret",
    ],
)
def test_registers_that_are_restored_are_left_alone(body: str) -> None:
    assert mistakes(body) == []


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("push %rdi; ret", 2, None),
        ("push %rdi; nop; ret", 3, "8 bytes below"),
        ("sub $24, %rsp; add $16, %rsp; ret", 3, "8 bytes below"),
        ("pop %rdi; nop; ret", 3, "8 bytes above"),
        ("push %rdi; test %rsi, %rsi; je 1f; pop %rdi; ret; 1: ret", 6, "8 bytes below"),
        ("push %rbp; mov %rsp, %rbp; push %rdi; mov %rbp, %rsp; nop; ret", 6, "8 bytes below"),
        ("lea -16(%rsp), %rsp; nop; ret", 3, "16 bytes below"),
    ],
)
def test_a_stack_that_does_not_return_to_where_it_was_is_reported_at_the_return(
    body: str, line: int, words: str | None
) -> None:
    found = [problem for problem in mistakes(body) if problem.code == "stack-not-restored"]
    assert [problem.line for problem in found] == ([line] if words else [])
    assert all(words is not None and words in problem.message for problem in found)


@pytest.mark.parametrize(
    "body",
    [
        "push %rdi; call g; pop %rdi; ret",
        "push %rbp; mov %rsp, %rbp; and $-32, %rsp; sub $64, %rsp; leave; ret",
        "mov %rsp, %r11; and $-64, %rsp; mov %r11, %rsp; ret",
        "lea -8(%rsp), %rsp; mov 8(%rsp), %rax; mov %rax, (%rsp); ret",
        "push %rbp; mov %rsp, %rbp; push %rbx; lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret",
        "pushfq; popfq; ret",
    ],
)
def test_stacks_that_return_or_are_not_constant_are_left_alone(body: str) -> None:
    assert mistakes(body) == []


def test_a_piece_of_code_that_is_not_declared_may_take_any_register() -> None:
    assert mistakes("add %rax, %rbx; ret", head="") == []


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("examples/*.s"), *ROOT.glob("benchmarks/*.s")]), ids=lambda path: path.name
)
def test_the_examples_have_no_likely_mistake(path: Path) -> None:
    found = assemble(path.read_text("utf-8"), SourceOptions(regions=Regions.AUTO))
    assert [problem for problem in found.problems if problem.code in LIKELY_MISTAKES] == []


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("mov $1, (%rax)", "movl $1, (%rax)"),
        ("SHL %cl, 8(%rdi,%rsi)", "SHLL %cl, 8(%rdi,%rsi)"),
        ("inc x(%rip)", "incl x(%rip)"),
        ("add 32, %rsi", "add $32, %rsi"),
        ("mov %eax, 8", ""),
    ],
)
def test_what_was_certainly_meant_is_offered(statement: str, meant: str) -> None:
    found = assemble(f".globl x\n# cyclelens-begin\n{statement}\n# cyclelens-end\n").problems
    (problem,) = (each for each in found if each.code in ("missing-suffix", "number-as-address"))
    assert problem.replacement == meant


@pytest.mark.parametrize("statement", ["mov $1, %rax", "movw $1, (%rax)", "mov %al, (%rax)", "push (%rax)"])
def test_a_size_that_is_told_needs_no_suffix(statement: str) -> None:
    assert assemble(f"# cyclelens-begin\n{statement}\n# cyclelens-end\n").problems == ()
