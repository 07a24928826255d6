"""The timeline of a hover: letters as in llvm-mca's timeline view, and a width that never wraps."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.reports import hover_timeline

DOT = """\
# cyclelens-begin dot
.L1:
    vmovups (%rsi), %ymm1
    vfmadd231ps (%rdi), %ymm1, %ymm0
    add $32, %rsi
    add $32, %rdi
    dec %rdx
    jnz .L1
# cyclelens-end
"""
LONG = "# cyclelens-begin long\n1:\n{}    imul %rax, %rbx\n{}    dec %rcx\n    jnz 1b\n# cyclelens-end\n"
DIVISIONS = DOT.replace("vfmadd231ps (%rdi), %ymm1, %ymm0", "vdivpd %ymm1, %ymm0, %ymm0")


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def region(analyzer: Analyzer, text: str, core: str, mode: Mode = Mode.AUTO) -> RegionAnalysis:
    options = AnalysisOptions(
        target=Target((core,), mode=mode), detail=Detail(trace=True, alternatives=False)
    )
    return analyzer.analyze(text, options).regions[0]


def picture(markdown: str) -> list[str]:
    """The lines of the picture below its ruler."""
    return markdown.split("```")[1].splitlines()[3:]


def row(**cycles: int) -> TraceRow:
    """``cycles`` by llvm-mca's letters; ``e`` is the first cycle of execution."""
    return TraceRow(
        round=0,
        instruction=0,
        kind="uop",
        idq_uop=0,
        fused_uop=0,
        uop=0,
        predecoded=None,
        removed_from_iq=None,
        source="DSB",
        added_to_idq=None,
        issued=cycles.get("D"),
        ready=None,
        dispatched=cycles.get("e"),
        executed=cycles.get("E"),
        retired=cycles.get("R"),
        port="0",
        ports="0",
    )


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        ([row(D=0, e=1, E=3, R=4)], "DeeER"),
        ([row(D=0, e=3, E=6, R=9)], "D==eeeE--R"),
        # A load, and later the addition that it feeds: the instruction waits in between.
        ([row(D=0, e=2, E=4, R=11), row(D=0, e=7, E=10, R=11)], "D=ee===eeeER"),
        # An eliminated move executes nowhere.
        ([row(D=0, R=3)], "D--R"),
    ],
)
def test_letters_are_those_of_llvm_mca(rows: list[TraceRow], drawn: str) -> None:
    assert hover_timeline._picture(rows, range(len(drawn))) == drawn


def test_two_iterations_stand_around_the_instruction_with_what_it_waits_for(analyzer: Analyzer) -> None:
    """On Skylake a multiply-add takes 4 cycles, and each waits for the one before it."""
    dot = region(analyzer, DOT, "SKL")
    text = hover_timeline.around(dot, dot.predictions[0], 1)
    rows = picture(text)
    assert [line[:2] for line in rows] == [" 1", ">1", " 1", " 1", " 1", " 2", ">2", " 2", " 2", " 2"]
    first, second = (line for line in rows if line.startswith(">"))
    assert first.endswith("eeeeER") and second.endswith("eeeeER")
    assert second.rindex("R") - first.rindex("R") == 4
    assert re.search(r"^- \d+ cycles for ymm0, made by vfmadd231ps .* \(previous iteration\)$", text, re.M)
    assert "**Timeline of two iterations**, 5 of 6 instructions" in text


def test_the_first_line_has_one_iteration_with_its_chain_marked(analyzer: Analyzer) -> None:
    dot = region(analyzer, DOT, "SKL")
    text = hover_timeline.iteration(dot, dot.predictions[0])
    assert [line[0] for line in picture(text)] == [" ", "*", " ", " ", " ", " "]
    assert picture(text)[-1].endswith("(fused)")
    assert "the critical chain: 4.00 cycles per iteration" in text


def test_of_a_chain_that_limits_nothing_it_says_so(analyzer: Analyzer) -> None:
    stores = region(analyzer, DOT.replace("vfmadd231ps (%rdi), %ymm1, %ymm0", "vmovups %ymm1, (%rdi)"), "SKL")
    text = hover_timeline.iteration(stores, stores.predictions[0])
    assert "the longest chain: 1.00 cycles per iteration; it does not limit the region" in text


@pytest.mark.parametrize("before", [0, 1, 60])
def test_of_a_long_region_a_window_around_the_line_is_drawn(analyzer: Analyzer, before: int) -> None:
    filler = "    mov %rsi, %rdi\n"
    long = region(analyzer, LONG.format(filler * before, filler * (60 - before)), "SKL")
    rows = picture(hover_timeline.around(long, long.predictions[0], before))
    assert len(rows) == 10
    assert ["imul" in line for line in rows] == [line.startswith(">") for line in rows]
    whole = picture(hover_timeline.iteration(long, long.predictions[0]))
    assert len(whole) == 12 and sum(line.startswith("* imul") for line in whole) == 1


@pytest.mark.parametrize("core", ["SNB", "SKL", "SPR", "ZEN3", "ZEN5"])
@pytest.mark.parametrize("text", [DOT, DIVISIONS])
def test_no_line_of_a_picture_is_wider_than_a_hover(analyzer: Analyzer, core: str, text: str) -> None:
    if core == "SNB":  # without FMA
        text = text.replace("vfmadd231ps (%rdi), %ymm1, %ymm0", "vaddps (%rdi), %ymm0, %ymm0")
    found = region(analyzer, text, core)
    prediction = found.predictions[0]
    drawn = [hover_timeline.around(found, prediction, index) for index in range(len(prediction.instructions))]
    for markdown in (*drawn, hover_timeline.iteration(found, prediction)):
        block = markdown.split("```")[1]
        assert max(map(len, block.splitlines())) <= hover_timeline.WIDTH == 60
        assert "D" in block


def test_a_single_pass_has_one_iteration(analyzer: Analyzer) -> None:
    once = region(analyzer, DOT, "SKL", Mode.ONCE)
    assert "**Timeline of one pass**" in hover_timeline.around(once, once.predictions[0], 1)
    assert "the critical path" in hover_timeline.iteration(once, once.predictions[0])


def test_the_meaning_of_the_letters_reads_the_same_where_markdown_is_not_rendered(analyzer: Analyzer) -> None:
    dot = region(analyzer, DOT, "SKL")
    for drawn in (
        hover_timeline.around(dot, dot.predictions[0], 1),
        hover_timeline.iteration(dot, dot.predictions[0]),
    ):
        assert drawn.endswith("; ~ cycles without events are left out*")
