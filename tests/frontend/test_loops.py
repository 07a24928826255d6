"""Loops without markers, and regions that branch within themselves."""

from __future__ import annotations

import shutil

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.source import END

NESTED = """\
  .text
kernel:
  xor %eax, %eax
.Louter:
  mov %rdx, %rcx
.Linner:
  add (%rsi), %rax
  add $8, %rsi
  dec %rcx
  jnz .Linner
  dec %rdi
  jnz .Louter
1: pause
  jmp 1b
  ret
"""


def test_loops_are_found() -> None:
    result = assemble(NESTED, SourceOptions(regions=Regions.LOOPS))
    assert [(problem.line, problem.code) for problem in result.problems] == [(3, "inner-branch")]
    assert "'.Louter' has inner loops (.Linner)" in result.problems[0].message
    assert [(region.name, region.first_line, region.last_line) for region in result.regions] == [
        (".Louter.1", 4, 4),
        (".Louter.2", 10, 11),
        (".Linner", 5, 9),
        ("loop-13", 12, 13),
    ]
    inner = result.regions[2]
    assert inner.ends_in_jump_to_start
    assert inner.code.hex() == "480306" + "4883c608" + "48ffc9" + "75f4"
    assert assemble(NESTED, SourceOptions(regions=Regions.MARKERS)).regions == ()


def test_without_markers_the_innermost_loops_are_taken() -> None:
    result = assemble(NESTED)
    assert result.unmarked
    assert [region.name for region in result.regions] == [".Linner", "loop-13"]
    assert result.problems == ()
    for marker in ("# cyclelens-begin", "# cyclelens-end", "# LLVM-MCA-BEGIN mine"):
        marked = assemble(f"{NESTED}{marker}\n")
        assert not marked.unmarked, "the text has a marker"
        assert not [region for region in marked.regions if region.lines]
    iaca = "mov $111, %ebx\n.byte 100,103,144\nnop\nmov $222, %ebx\n.byte 100,103,144\n"
    assert [region.name for region in assemble(NESTED + iaca).regions] == ["iaca-1"]


def test_intel_loops_are_found() -> None:
    text = ".intel_syntax noprefix\ntop:\n add rax, rbx\n dec rcx\n jnz short top\n ret\n"
    assert [region.name for region in assemble(text, SourceOptions(regions=Regions.LOOPS)).regions] == ["top"]


@pytest.mark.parametrize(
    "text",
    ["a: nop\ncall a\n", "jmp a\nnop\na: ret\n", "a: nop\n.data\njmp a\n", "jne nowhere\n", "jmp *%rax\n"],
)
def test_what_is_no_loop(text: str) -> None:
    assert assemble(text, SourceOptions(regions=Regions.LOOPS)).regions == ()


def test_loops_beside_marked_regions() -> None:
    marked = "# cyclelens-begin mine\na: nop\njne a\n# cyclelens-end\nb: nop\njne b\n"
    names = {
        wanted: [region.name for region in assemble(marked, SourceOptions(regions=wanted)).regions]
        for wanted in (Regions.MARKERS, Regions.LOOPS, Regions.BOTH)
    }
    assert names == {"markers": ["mine"], "loops": ["a", "b"], "both": ["mine", "b"]}


def test_loops_that_macros_make_stand_at_their_use() -> None:
    text = ".macro spin r\nl\\@: dec \\r\njnz l\\@\n.endm\nnop\nspin %rax\nspin %rcx\n"
    result = assemble(text, SourceOptions(regions=Regions.LOOPS))
    assert [(region.name, region.first_line, region.code.hex()) for region in result.regions] == [
        ("l0", 5, "48ffc8" + "75fb"),
        ("l1", 6, "48ffc9" + "75fb"),
    ]


def test_a_region_that_branches_within_itself_is_cut_into_blocks() -> None:
    text = """\
# cyclelens-begin k arch=SKL align=8
top: test %eax, %eax
  jz skip
  add %rbx, %rcx
skip: add %rcx, %rdx
  jz out
  dec %rsi
  jnz top
# cyclelens-end
out: ret
"""
    result = assemble(text)
    assert result.problems == ()
    assert [
        (region.name, region.first_line, region.last_line, region.code.hex()) for region in result.regions
    ] == [
        ("k.1", 1, 2, "85c0" + "7403"),
        ("k.2", 3, 3, "4801d9"),
        ("k.3", 4, 7, "4801ca" + "7405" + "48ffce" + "75ef"),
    ]
    # A block keeps the place that it has in the region, and the region's other options.
    assert [region.options["alignment"] for region in result.regions] == ["8", "12", "15"]
    assert all(region.options["arch"] == "SKL" for region in result.regions)
    assert not any(region.ends_in_jump_to_start for region in result.regions)
    (branching,) = result.branchings
    assert (branching.name, branching.is_loop, branching.blocks) == ("k", True, ("k.1", "k.2", "k.3"))
    # The way out at the end of the text is taken to fall through.
    assert (branching.passed, branching.taken) == ((1, 2, None), (2, None, END))
    assert (branching.forks, branching.paths) == ((0,), ((0, 1, 2), (0, 2)))


def test_a_loop_within_a_region_becomes_a_loop() -> None:
    text = "# cyclelens-begin\nxor %eax, %eax\n1: inc %eax\njnz 1b\nret\n# cyclelens-end\n"
    regions = assemble(text).regions
    assert [(region.code.hex(), region.ends_in_jump_to_start) for region in regions] == [
        ("31c0", False),
        ("ffc0" + "75fc", True),
        ("c3", False),
    ]


def test_an_alignment_that_fills_nothing_is_no_block() -> None:
    text = "# cyclelens-begin\nxor %eax, %eax\njz 1f\n.balign 4\n1: inc %eax\n# cyclelens-end\n"
    assert [(region.name, region.code.hex()) for region in assemble(text).regions] == [
        ("region-1.1", "31c0" + "7400"),
        ("region-1.2", "ffc0"),
    ]


def test_jumps_out_of_a_region_cut_nothing() -> None:
    text = "# cyclelens-begin\n1: test %eax, %eax\njz 2f\ncall f\ndec %ecx\njnz 1b\n# cyclelens-end\n2: ret\n"
    result = assemble(text)
    assert result.problems == ()
    assert [region.ends_in_jump_to_start for region in result.regions] == [True]


def test_local_labels_of_nasm_belong_to_the_label_before_them() -> None:
    text = """\
section .text
global f
f:
    mov ecx, 5
.loop:
    add rdi, rsi
    dec ecx
    jnz .loop
    ret
g:
.loop:
    imul rdi, rsi
    dec ecx
    jnz g.loop
    jnz .loop
    ret
"""
    for assembler in (Assembler.AUTO, Assembler.NASM):
        if assembler is Assembler.NASM and shutil.which("nasm") is None:
            continue
        result = assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=assembler))
        assert result.problems == ()
        assert [region.lines[0].text.split()[0] for region in result.regions] == ["add", "imul", "jnz"]
        assert [branching.is_loop for branching in result.branchings] == [True]
