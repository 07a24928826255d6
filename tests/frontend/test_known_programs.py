"""Twelve programs written to have known loops: text, object and linked program have exactly these loops,
at the same places."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions

pytestmark = pytest.mark.skipif(
    shutil.which("as") is None or shutil.which("ld") is None, reason="GNU as or ld is not on PATH"
)


def function(name: str, body: str) -> str:
    return f".globl {name}\n.type {name}, @function\n{name}:\n{body}\n.size {name}, .-{name}\n"


COPY = function(
    "copy",
    """\
        mov %rdx, %rcx
        shr $5, %rcx
        jz tail
        .p2align 5
blocks: vmovdqu (%rsi), %ymm0
        vmovdqu %ymm0, (%rdi)
        add $32, %rsi
        add $32, %rdi
        dec %rcx
        jnz blocks
        and $31, %edx
tail:   test %edx, %edx
        jz done
bytes:  movzbl (%rsi), %eax
        mov %al, (%rdi)
        inc %rsi
        inc %rdi
        dec %edx
        jnz bytes
done:   ret""",
)
LENGTH = ".intel_syntax noprefix\n" + function(
    "length",
    """\
        xor eax, eax
        jmp test
next:   inc rax
test:   cmp byte ptr [rdi + rax], 0
        jne next
        ret""",
)
PRODUCT = function(
    "product",
    """\
rows:   mov %rdx, %r8
columns: vxorpd %xmm0, %xmm0, %xmm0
        xor %ecx, %ecx
inner:  vmovsd (%rsi,%rcx,8), %xmm1
        vfmadd231sd (%r8,%rcx,8), %xmm1, %xmm0
        inc %rcx
        cmp %r9, %rcx
        jb inner
        vmovsd %xmm0, (%rdi)
        add $8, %rdi
        add $8, %r8
        cmp %r8, %r10
        jne columns
        add $64, %rsi
        dec %r11
        jnz rows
        ret""",
)
INTERPRETER = function(
    "run",
    """\
fetch:  movzbl (%rsi), %eax
        inc %rsi
        lea table(%rip), %rdx
        movslq (%rdx,%rax,4), %rax
        add %rdx, %rax
        jmp *%rax
op_add: add %rbx, %rcx
        jmp fetch
op_sub: sub %rbx, %rcx
        jmp fetch
op_end: ret
        .section .rodata
        .p2align 2
table:  .long op_add-table, op_sub-table, op_end-table
        .text""",
)
COLD = function(
    "sum",
    """\
        xor %eax, %eax
each:   mov (%rdi), %ecx
        test %ecx, %ecx
        js sum.cold
back:   add %ecx, %eax
        add $4, %rdi
        dec %rsi
        jnz each
        ret
        .section .text.later, "ax", @progbits
        .type sum.cold, @function
sum.cold: neg %ecx
        jmp back
        .size sum.cold, .-sum.cold
        .text""",
)
RECURSION = (
    function(
        "walk",
        """\
        push %rbx
        mov %rdi, %rbx
again:  test %rbx, %rbx
        jz up
        mov (%rbx), %rdi
        call walk
        mov 8(%rbx), %rbx
        jmp again
up:     pop %rbx
        ret""",
    )
    + function("tail_call", "dec %edi\njz 1f\njmp walk\n1: jmp copy_elsewhere")
    + function("copy_elsewhere", "mov %rdi, %rax\nret")
)
MACROS = """\
        .macro scale name, width
        .globl \\name
        .type \\name, @function
\\name:
.L\\@\\()turn:
        .rept \\width
        vmulps (%rdi), %ymm1, %ymm0
        vmovups %ymm0, (%rdi)
        add $32, %rdi
        .endr
        sub $\\width, %esi
        jg .L\\@\\()turn
        ret
        .size \\name, .-\\name
        .endm
        scale one, 1
        scale four, 4
"""
TABLE_IN_CODE = function(
    "mix",
    """\
        movdqa constants(%rip), %xmm3
rounds: pxor %xmm3, %xmm0
        paddd 16+constants(%rip), %xmm0
        sub $1, %edi
        jnz rounds
        ret
        .p2align 4
constants: .byte 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xeb, 0xf9, 0x90
        .fill 24, 1, 0x75""",
)
STRAIGHT = (
    function("first", "call second\ncall third\njmp second")
    + function("second", "test %edi, %edi\nje 1f\nmov $1, %eax\nret\n1: jmp third")
    + function("third", "xor %eax, %eax\njmp 2f\n3: ret\n2: inc %eax\njmp 3b")
    + function("waits", "rep stosb\nrepne scasb\nret")
)
COUNTED = function(
    "steps",
    """\
        jrcxz none
turns:  lodsl
        add %eax, %edx
        loop turns
none:   ret""",
)
DUFF = function(
    "stores",
    """\
        mov %esi, %ecx
        and $3, %ecx
        lea cases(%rip), %rdx
        jmp *(%rdx,%rcx,8)
c0:     mov %eax, (%rdi)
        add $4, %rdi
c3:     mov %eax, (%rdi)
        add $4, %rdi
c2:     mov %eax, (%rdi)
        add $4, %rdi
c1:     mov %eax, (%rdi)
        add $4, %rdi
        sub $4, %esi
        jg c0
        ret
        .data
        .p2align 3
cases:  .quad c0, c1, c2, c3
        .text""",
)
TWO_EXITS = function(
    "search",
    """\
lists:  mov %rdx, %rcx
        test %rdi, %rdi
        jz missing
item:   cmp %rax, (%rdi,%rcx,8)
        je found
        dec %rcx
        jns item
        mov 64(%rdi), %rdi
        jmp lists
found:  mov $1, %eax
        ret
missing: xor %eax, %eax
        ret""",
)

PROGRAMS = {
    "copy": (COPY, ["blocks", "bytes"]),
    "length": (LENGTH, ["next"]),
    "product": (PRODUCT, ["rows", "columns", "inner"]),
    "interpreter": (INTERPRETER, ["fetch"]),
    "cold part": (COLD, ["each"]),
    "recursion": (RECURSION, ["again"]),
    "macros": (MACROS, [".L0turn", ".L1turn"]),
    "table in the code": (TABLE_IN_CODE, ["rounds"]),
    "no loop": (STRAIGHT, []),
    "counted": (COUNTED, ["turns"]),
    "entered in its middle": (DUFF, ["c0"]),
    "two exits": (TWO_EXITS, ["lists", "item"]),
    "all of them": ("", []),
}
"""Texts, and the labels that their loops begin at."""


def whole(name: str) -> tuple[str, list[str]]:
    if name != "all of them":
        return PROGRAMS[name]
    parts = [PROGRAMS[one] for one in PROGRAMS if one not in ("all of them", "length")]
    return "".join(text for text, _ in parts), [label for _, labels in parts for label in labels]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loops_are_those_that_were_written(name: str, tmp_path: Path) -> None:
    text, labels = whole(name)
    (tmp_path / "p.s").write_text(text)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=tmp_path, check=True)
    subprocess.run(["ld", "-o", "p", "p.o", "-e", "0"], cwd=tmp_path, check=True)
    in_text = by_loop(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
    assert sorted(regions[0].name.partition(".1")[0] for regions in in_text) == sorted(labels)
    codes = sorted(str(essence(regions)) for regions in in_text)
    in_object = by_loop(object_loops((tmp_path / "p.o").read_bytes()))
    assert sorted(str(essence(regions)) for regions in in_object) == codes
    assert sorted(map(places_of, in_object)) == sorted(map(places_of, in_text))
    linked = by_loop(object_loops((tmp_path / "p").read_bytes()))
    assert sorted(str(essence(regions)) for regions in linked) == codes
