"""Loops in several sections, and the limit on their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.machine_code import regions_of
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from testkit.loop_shapes import FUNCTION, in_object, loops, loops_of_object

THROUGH_ANOTHER_SECTION = """\
.Ltop:
    dec %rsi
    js .Lcold
.Lnext:
    dec %rdi
    jne .Ltop
    ret
    .section .text.unlikely, "ax"
    .type f.cold, @function
f.cold:
.Lcold:
    neg %rsi
    jmp .Lnext
"""


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_a_way_around_through_another_section_belongs_to_the_loop(
    assembler: Assembler, tmp_path: Path
) -> None:
    text = FUNCTION + THROUGH_ANOTHER_SECTION
    expected = ["dec js | dec jnz | neg jmp"]
    assert (
        loops(assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=assembler)).regions) == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_the_only_way_around_may_lead_through_another_section(assembler: Assembler, tmp_path: Path) -> None:
    """How far the sections lie apart is not known: the loop comes as its blocks."""
    text = FUNCTION + THROUGH_ANOTHER_SECTION.replace("js .Lcold", "jmp .Lcold")
    expected = ["dec jmp | dec jnz | neg jmp"]
    assert (
        loops(assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=assembler)).regions) == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_a_text_and_its_object_end_with_the_same_loop_and_say_so(
    assembler: Assembler, tmp_path: Path
) -> None:
    """Loops are counted, not their blocks."""
    loop = "1: dec %rdi\njs 2f\ninc %rax\n2: dec %rsi\njne 1b\n"
    text = FUNCTION + loop * (MAXIMUM_REGIONS + 5) + "ret\n"
    in_text = assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=assembler))
    file = in_object(text, tmp_path)
    of_object = regions_of(file, file.functions, Regions.LOOPS)
    assert len(loops(in_text.regions)) == len(loops(of_object.regions)) == MAXIMUM_REGIONS
    for problems in (in_text.problems, of_object.problems):
        (problem,) = (problem for problem in problems if problem.code == "too-many-regions")
        assert problem.message.startswith("Only the first 1,000 of 1,005 regions are analysed")
