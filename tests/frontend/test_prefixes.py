"""Prefixes written as words: their bytes and refusals are those of GNU as 2.40."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.statements.prefixes import PREFIXES
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.source import AssembledFile
from testkit.gnu_as import AS, assembled, refused

Region = Callable[..., AssembledFile]

BYTES = [
    ("1: data16 jmp 1b", "66ebfd"),
    ("1: rex.w jne 1b", "4875fd"),
    ("1: jne,pt 1b", "3e75fd"),
    ("1: jne,pn 1b", "2e75fd"),
    ("1: addr32 jmp 1b", "ebfe"),
    ("1: fs jne 1b", "75fe"),
    ("1: cs call 1b", "e8fbffffff"),
    ("1: ds xbegin 1b", "c7f8faffffff"),
    ("1: data16 loop 1b", "e2fe"),
    ("1: addr32 loop 1b", "67e2fd"),
    ("1: rex.w jrcxz 1b", "48e3fd"),
    ("1: data16 rex.w jmp 1b", "6648ebfc"),
    ("data16 rex.w call outside", "6648e800000000"),
    # What GCC writes for a thread's variables.
    (".value 0x6666\nrex64\ncall outside@PLT", "666648e800000000"),
    ("rex64; call outside", "48e800000000"),
    ("rex64 jmp *%rax", "48ffe0"),
    ("rex.w push %rax", "4850"),
    ("rex add %al, %bl", "4000c3"),
    ("rex.w addps %xmm8, %xmm1", "490f58c8"),
    ("rex.w rex.b nop", "4990"),
    ("rex64xyz nop", "4f90"),
    ("rex.w fxsave (%rax)", "480fae00"),
    ("fxsaveq (%rax)", "480fae00"),
    ("rep bsf %rax, %rbx", "f3480fbcd8"),
    ("repz bsrw (%rax), %cx", "66f30fbd08"),
    ("lock xacquire add %eax, (%rdi)", "f2f00107"),
    ("xacquire xchg %eax, (%rdi)", "f28707"),
    ("xrelease movl $0, (%rdi)", "f3c70700000000"),
    ("addr32 mov (%eax), %ebx", "678b18"),
    ("rep addr32 movsb", "67f3a4"),
    ("fs rep movsb", "64f3a4"),
]


@pytest.mark.parametrize(("text", "code"), BYTES, ids=[text for text, _ in BYTES])
def test_prefixes_make_the_bytes_of_gnu_as(region: Region, text: str, code: str) -> None:
    assembled = region(text, syntax="att", external=True)
    assert [problem.message for problem in assembled.problems if problem.severity == "error"] == []
    assert assembled.regions[0].code.hex() == code


@pytest.mark.parametrize(
    "text",
    [
        "xacquire add %eax, (%rdi)",
        "xrelease lock jmp 1f",
        "xacquire mov %eax, (%rdi)",
        "es",
        "ss mov (%rax), %ebx",
        "1: notrack jmp 1b",
        "data16 cs nopw (%rax)",
        "data16 movsw",
        "data16 pxor %xmm0, %xmm1",
        "rex.w rex.w nop",
        "rex.w movq (%rax), %rbx",
        "rex vaddps %xmm8, %xmm1, %xmm1",
        "fs mov %gs:(%rax), %rbx",
    ],
)
def test_what_gnu_as_does_not_take_is_refused_at_its_line(region: Region, text: str) -> None:
    assembled = region(text, syntax="att", external=True)
    assert [problem.severity for problem in assembled.problems] == ["error"]
    assert not assembled.regions[0].code


@pytest.mark.parametrize("text", ["data16 call outside", "data16 jmp 1f\n.skip 200\n1:"])
def test_a_distance_of_16_bits_that_processors_do_not_read_is_refused(region: Region, text: str) -> None:
    assert any(problem.severity == "error" for problem in region(text, syntax="att").problems)


@pytest.mark.parametrize(
    "jump", ["addr32 jmp", "fs jne", "jne,pt", "rex.w jne", "data16 jne", "{disp32} jne", "addr32 loop"]
)
def test_a_jump_with_prefixes_closes_a_loop(jump: str) -> None:
    assembled = assemble(f"f: ret\n1: nop\n{jump} 1b\nret\n", SourceOptions(regions=Regions.LOOPS))
    assert [region.first_line for region in assembled.regions] == [1]
    assert not assembled.problems


AFTER = (
    *(
        "addl %eax, (%rdi)",
        "movsb",
        "jmp .",
        "jne .",
        "call outside",
        "loop .",
        "jrcxz .",
        "xchg %eax, (%rdi)",
    ),
    *("xchg (%rdi), %eax", "movl $0, (%rdi)", "mov (%rax), %ebx", "nop", "ret", "bsf %ax, %bx", "push %r9"),
    *("bsr %rax, %rbx", "fxsave (%rax)", "xsavec (%rax)", "add %eax, %ebx", "mov (%eax), %r9d", "pause"),
    *("pxor %xmm0, %xmm1", "xcryptecb", "mov %ss:(%rax), %ebx", "cmpxchg8b (%rax)", "crc32b %al, %ebx"),
)
SOME = (
    *("lock", "repne", "rep", "xacquire", "xrelease", "bnd", "notrack", "cs", "fs", "data16", "addr32"),
    *("rex", "rex.w", "rex.b", "rex.wrxb"),
)
NOT_SAID = ("would make", "short form", "16-bit distance")
"""Of what only this project refuses: bytes that GNU as writes, but that processors read as something else."""


@pytest.mark.skipif(AS is None, reason="GNU as is not installed")
@pytest.mark.parametrize("first", ["", *SOME])
def test_every_prefix_and_every_pair_are_those_of_gnu_as(first: str) -> None:
    """Which of them it takes before which instruction, and in which order it writes them."""
    lines = [
        f"{first} {second} {text}".lstrip() for second in (SOME if first else PREFIXES) for text in AFTER
    ]
    marked = "\n".join(["# cyclelens-begin", *lines, "# cyclelens-end"])
    ours = assemble(marked, SourceOptions(syntax=Syntax.ATT, allow_external_programs=False))
    said = {lines[each.line - 1]: each.message for each in ours.problems if each.severity == "error"}
    code: defaultdict[str, bytes] = defaultdict(bytes)
    for line in (line for region in ours.regions for line in region.lines):
        code[lines[line.line - 1]] += line.code
    compared = [text for text in lines if not any(words in said.get(text, "") for words in NOT_SAID)]
    assert len(compared) > len(lines) / 2
    assert said.keys() & set(compared) == refused("att", lines).keys() & set(compared)
    theirs = assembled("att", lines)
    assert {text: code[text] for text in compared if text not in said} == {
        text: theirs[text] for text in compared if text not in said
    }
