"""The loops of a program: the same in its text, its listing and its object."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from testkit.loop_shapes import FUNCTION, in_object, loops, loops_of_object

PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "a block out of line that jumps back": (
        """\
        test %rdi, %rdi
        js .Lnegative
    .Lback:
        mov %rdi, %rax
        ret
    .Lnegative:
        neg %rdi
        jmp .Lback
        """,
        [],
    ),
    "a loop with its test at the end, entered there": (
        """\
        jmp .Ltest
        .p2align 4
    .Lbody:
        add (%rdi), %rax
        add $8, %rdi
    .Ltest:
        cmp %rsi, %rdi
        jne .Lbody
        ret
        """,
        ["add add cmp jnz"],
    ),
    "a loop in two pieces": (
        """\
    .Ltop:
        add (%rdi), %rax
        jmp .Lrest
    .Lout:
        ret
    .Lrest:
        add $8, %rdi
        cmp %rsi, %rdi
        jne .Ltop
        jmp .Lout
        """,
        ["add jmp add cmp jnz"],
    ),
    "a loop entered in its middle and at its top": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
    .Lmiddle:
        add $2, %rax
        dec %rsi
        jne .Ltop
        ret
        """,
        ["add add dec jnz"],
    ),
    "a cycle entered in two places that has two ways around": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
        jc .Lmiddle
        add $2, %rax
    .Lmiddle:
        dec %rsi
        jne .Ltop
        ret
        """,
        [],
    ),
    "a loop in a cycle that is entered twice": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
    .Lmiddle:
        dec %rdx
        jne .Lmiddle
        dec %rsi
        jne .Ltop
        ret
        """,
        ["dec jnz"],
    ),
    "nested loops": (
        """\
    .Louter:
        mov %rdx, %rcx
    .Linner:
        dec %rcx
        jne .Linner
    .Lsecond:
        inc %rcx
        cmp %rdx, %rcx
        jb .Lsecond
        dec %rdi
        jne .Louter
        ret
        """,
        ["mov | dec jnz", "dec jnz", "inc cmp jb"],
    ),
    "numeric labels": (
        """\
    1:  dec %rdi
        jne 1b
    1:  dec %rsi
        jne 1b
        jmp 1f
    1:  ret
        """,
        ["dec jnz", "dec jnz"],
    ),
    "a counting loop instruction": (
        "mov $7, %ecx\n.Ltop: add %rdi, %rax\nloop .Ltop\n1: sub $1, %rcx\njrcxz 2f\njmp 1b\n2: ret\n",
        ["add loop", "sub jrcxz jmp"],
    ),
    "a function that jumps to its own beginning": ("dec %rdi\njne f\nret\n", ["dec jnz"]),
    "two functions that jump to each other": (
        "dec %rdi\njne g\nret\n.globl g\ng: sub $2, %rdi\njne f\nret\n",
        [],
    ),
    "two ways around": (
        """\
    .Ltop:
        add $8, %rdi
        cmp $5, (%rdi)
        je .Ltop
        inc %rax
        cmp %rsi, %rdi
        jne .Ltop
        ret
        """,
        ["add cmp jz | inc cmp jnz"],
    ),
    "a jump table within a loop": (
        """\
        lea .Ltable(%rip), %r8
    .Ltop:
        movslq (%r8,%rdi,4), %rax
        add %r8, %rax
        jmp *%rax
    .Lone:
        inc %rsi
        jmp .Lnext
    .Ltwo:
        dec %rsi
    .Lnext:
        dec %rdx
        jne .Ltop
        ret
        .section .rodata
        .p2align 2
    .Ltable:
        .long .Lone-.Ltable
        .long .Ltwo-.Ltable
        .text
        """,
        ["movsxd add jmp | inc jmp | dec | dec jnz"],
    ),
    "a table that leads into the middle of a loop": (
        """\
        jmp *.Ltable(,%rdi,8)
    .Ltop:
        inc %rax
    .Lmiddle:
        inc %rax
        dec %rsi
        jne .Ltop
        ret
        .section .rodata
    .Ltable:
        .quad .Ltop
        .quad .Lmiddle
        .text
        """,
        ["inc inc dec jnz"],
    ),
    "a table of addresses that a load reads for the jump": (
        """\
    .Ltop:
        mov .Ltable(,%rdi,8), %rax
        jmp *%rax
    .Lone:
        inc %rsi
        jmp .Lnext
    .Ltwo:
        dec %rsi
    .Lnext:
        dec %rdx
        jne .Ltop
        ret
        .section .rodata
    .Ltable:
        .quad .Lone
        .quad .Ltwo
        .text
        """,
        ["mov jmp | inc jmp | dec | dec jnz"],
    ),
    "small numbers in the data of a function with a tail call": (
        """\
        push %rbx
        lea counts(%rip), %rdi
        mov 8(%rdi), %rax
        test %rsi, %rsi
        je .Lnext
        inc %rdi
    .Lnext:
        pop %rbx
        jmp *%rax
        .data
    counts:
        .quad 1, 2, 3
        .text
        """,
        [],
    ),
    "a tail call in a function whose address is taken": (
        """\
        mov (%rdi), %rax
        test %rsi, %rsi
        je .Lnext
        inc %rdi
    .Lnext:
        jmp *%rax
        .data
        .quad f
        .text
        """,
        [],
    ),
    "a call that does not return, in front of a loop": (
        """\
        mov %rsi, %rcx
        test %rdi, %rdi
        jne .Lmiddle
        call abort
        .p2align 4
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        ret
        """,
        ["inc dec jnz"],
    ),
    "a function of the file that does not return": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        call give_up
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        ret
        .type give_up, @function
    give_up:
        push %rdi
        call *exit@GOTPCREL(%rip)
        """,
        ["inc dec jnz"],
    ),
    "a function that does return": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        call helper
    .Ltop:
        inc %rax
    .Lmiddle:
        js .Lnext
        inc %rax
    .Lnext:
        dec %rcx
        jne .Ltop
        ret
        .type helper, @function
    helper:
        mov %rdi, %rax
        ret
        """,
        [],
    ),
    "a return that is written as bytes": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        .byte 0xf3,0xc3
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        .byte 0xf3,0xc3
        """,
        ["inc dec jnz"],
    ),
    "the next instruction as a target": (
        "call .Lnext\n.Lnext: pop %rax\n1: dec %rdi\njne 1b\nret\n",
        ["dec jnz"],
    ),
    "stubs of a linker": (
        """\
        ret
        .section .plt, "ax"
    .Lfirst:
        push 8(%rip)
        jmp *16(%rip)
        nopl 0(%rax)
        jmp *24(%rip)
        push $0
        jmp .Lfirst
        jmp *32(%rip)
        push $1
        jmp .Lfirst
        .text
        """,
        [],
    ),
    "two labels at one address, and an alignment that fills nothing": (
        """\
    .Ltop:
    .Lagain:
        .p2align 4
    .Lhere:
        dec %rdi
        jne .Ltop
        dec %rsi
        jne .Lagain
        dec %rdx
        jne .Lhere
        ret
        """,
        ["dec jnz | dec jnz | dec jnz"],
    ),
    "a jump to the next instruction": (
        """\
    .Ltop:
        inc %rax
        je .Lnext
    .Lnothing:
    .Lnext:
        dec %rdi
        jne .Ltop
        ret
        """,
        ["inc jz dec jnz"],
    ),
    "a loop that begins with what fills an alignment": (
        """\
        nop
    .Ltop:
        .p2align 3
        dec %rdi
        jne .Ltop
        ret
        """,
        ["nop dec jnz"],
    ),
    "jumps with GNU as's endings": (
        """\
    .Ltop:
        dec %rdi
        jne.d32 .Ltop
        jmp.d32 g
        nop
        .globl g
    g:
        dec %rdi
        jne.s g
        ret
        """,
        ["dec jnz", "dec jnz"],
    ),
    "constants between functions": (
        """\
    .Ltop:
        dec %rdi
        jne .Ltop
        ret
        .quad 0x3ff0000000000000, 0x243f6a8885a308d3, 0x9e3779b97f4a7c15
        .globl g
    g:
        dec %rdi
        jne g
        ret
        """,
        ["dec jnz", "dec jnz"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loops_of_a_program_are_known(name: str, tmp_path: Path) -> None:
    body, expected = PROGRAMS[name]
    text = FUNCTION + body
    assert loops(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions) == expected
    assert (
        loops(assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=Assembler.GAS)).regions)
        == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


@pytest.mark.parametrize("first", [".byte 0x0f, 0xca", ".nops 13", ".skip 3, 0x90"])
@pytest.mark.parametrize("before", ["", ".section .rodata\n.long 1\n.text\n", FUNCTION])
def test_a_loop_may_begin_with_instructions_that_a_directive_makes(
    first: str, before: str, tmp_path: Path
) -> None:
    text = f"{before}.L1:\n{first}\ndec %ecx\njnz .L1\nret\n"
    found = assemble(text, SourceOptions(regions=Regions.LOOPS)).regions
    assert loops(found) == loops_of_object(in_object(text, tmp_path)) != []


@pytest.mark.parametrize("name", [".L1", "around and around", "-[Loop again:]"])
def test_a_jump_to_a_name_in_quotes_makes_a_loop(name: str) -> None:
    text = f'"{name}": dec %ecx\n jz "out there"\n nop\n jmp "{name}"\n"out there": ret\n'
    found = assemble(text, SourceOptions(regions=Regions.LOOPS))
    assert [(region.name, region.incomplete) for region in found.regions] == [(name, False)]
    assert found.problems == ()


def test_messages_quote_a_quoted_name_as_written() -> None:
    found = assemble('# cyclelens-begin\n.L1: jmp ".L no where"\n jne .L1\n# cyclelens-end\n')
    assert [problem.message for problem in found.problems] == ["The label '.L no where' is not defined."]
