"""Random programs: the text has the same loops as the object that GNU as makes of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from testkit.loop_shapes import FUNCTION, in_object, loops, loops_of_object
from testkit.random_programs import program

PROGRAMS = 150
ONE_VARIABLE = """\
        .globl _start
        .type _start, @function
_start: add $1, counter(%rip)
        mov counter(%rip), %rax
        add %rax, other(%rip)
        dec %rdi
        jnz _start
        ret
        .size _start, .-_start
        .data
counter: .quad 0
other:  .quad 0
"""

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not on PATH")


@pytest.mark.parametrize("first", range(0, PROGRAMS, 50))
def test_text_and_object_have_the_same_loops_at_the_same_places(first: int, tmp_path: Path) -> None:
    found = 0
    for seed in range(first, first + 50):
        text = program(seed)
        (tmp_path / "p.s").write_text(text)
        subprocess.run(["as", "-o", "p.o", "p.s"], cwd=tmp_path, check=True)
        in_object = by_loop(object_loops((tmp_path / "p.o").read_bytes()))
        in_text = by_loop(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
        described = [
            sorted((str(essence(regions)), places_of(regions)) for regions in loops)
            for loops in (in_text, in_object)
        ]
        assert described[0] == described[1], f"program({seed}):\n{text}"
        found += len(in_text)
    assert found > 50


@pytest.mark.skipif(shutil.which("ld") is None, reason="there is no linker on PATH")
def test_one_variable_is_one_place_in_texts_objects_and_programs(tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text(ONE_VARIABLE)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=tmp_path, check=True)
    subprocess.run(["ld", "-o", "p", "p.o"], cwd=tmp_path, check=True)
    analyzer, options = (
        Analyzer(),
        AnalysisOptions(source=SourceOptions(regions=Regions.LOOPS), target=Target(alignment=0)),
    )
    found = [
        analyzer.analyze(ONE_VARIABLE, options),
        *(analyzer.analyze_object((tmp_path / name).read_bytes(), options) for name in ("p.o", "p")),
    ]
    figures = [analysis.regions[0].predictions[0].cycles_per_iteration for analysis in found]
    # The increment comes back through memory.
    assert figures[0] > 4.0
    assert figures[1:] == figures[:1] * 2


def test_padding_in_front_of_cases_that_no_table_names_is_no_part_of_them(tmp_path: Path) -> None:
    body = (
        ".L1: movslq (%rsi,%rax,4), %rax\n jmp *%rax\n nopl 0(%rax)\n sub $9, %ecx\n jmp .Lend\n"
        " xchg %ax, %ax\n nopw 0(%rax,%rax)\n not %ecx\n.Lend: inc %rdi\n jnz .L1\n ret\n"
    )
    text = FUNCTION + body
    expected = ["movsxd jmp | sub jmp | not | inc jnz"]
    assert loops(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions) == expected
    assert loops_of_object(in_object(text, tmp_path)) == expected


def test_a_table_between_the_instructions_is_no_case_of_its_switch(tmp_path: Path) -> None:
    body = (
        " jmp .L1\n.Ltable: .quad .La, .Lb\n.L1: movzbl (%rdi), %eax\n inc %rdi\n lea .Ltable(%rip), %rdx\n"
        " jmp *(%rdx,%rax,8)\n.La: add $1, %ecx\n jmp .Lend\n.Lb: sub $2, %ecx\n"
        ".Lend: cmp %rsi, %rdi\n jne .L1\n ret\n"
    )
    text = FUNCTION + body
    expected = ["movzx inc lea jmp | add jmp | sub | cmp jnz"]
    assert loops(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions) == expected
    assert loops_of_object(in_object(text, tmp_path)) == expected
