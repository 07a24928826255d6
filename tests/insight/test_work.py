"""The work of an iteration: from the marker, or from the steps of its pointers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.hints.region import hints
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.work import Pace, difference, pace, rate, sentence, stated, work_of
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import OnePass, Work
from msgspec.structs import replace
from testkit.blocks import store
from testkit.gnu_as import AS


def analysed(body: str, option: str = ""):
    text = f"# cyclelens-begin a {option}\n.L:\n{body}\n    dec %r15\n    jnz .L\n# cyclelens-end\n"
    return Analyzer(Workspace(store())).analyze(text, AnalysisOptions())


def work(body: str, option: str = "") -> str:
    (region,) = analysed(body, option).regions
    return str(work_of(region) or "")


@pytest.mark.parametrize(
    ("body", "amount", "source"),
    [
        ("mov (%rsi), %rax\n mov %rax, (%rdi)\n sub $-8, %rsi\n lea 8(%rdi), %rdi", 8, "step of rsi and rdi"),
        ("mov (%rsi,%rcx,8), %rax\n inc %rcx", 8, "step of rcx"),
        ("movups -16(%rsi), %xmm0\n sub $16, %rsi", 16, "step of rsi"),
        # Unrolled by hand, with steps in between.
        ("mov (%rsi), %rax\n add $8, %rsi\n mov (%rsi), %rbx\n add $8, %rsi", 16, "step of rsi"),
        # Through a copy of the pointer.
        ("mov %rsi, %rdx\n mov (%rdx), %rax\n add $64, %rsi", 64, "step of rdx"),
        # A table that does not move.
        ("movzbl (%rsi), %eax\n incl (%rdi,%rax,4)\n inc %rsi", 1, "step of rsi"),
    ],
)
def test_the_step_of_the_pointers(body, amount, source):
    plural = "" if amount == 1 else "s"
    assert work(f"    {body}") == f"{amount} byte{plural} per iteration ({source})"


@pytest.mark.parametrize("change", ["add $STRIDE", "sub $STRIDE", "add $STRIDE-4096"])
def test_a_symbol_that_is_not_defined_tells_no_step(change: str) -> None:
    """What stands for it in the code is no distance, not even a long one: neither a step nor a page is
    said."""
    body = f"mov %rax, 64(%rsi)\n vmovups 96(%rsi), %ymm0\n {change}, %rsi"
    (region,) = analysed(body).regions
    (made,) = region.predictions
    assert work_of(region) is None
    assert made.data is None
    assert not {"warm-caches", "line-crossings"} & {each.code for each in made.assumptions}
    assert not [each for each in find(made) if each.code == "page-aliasing"]


@pytest.mark.skipif(AS is None, reason="GNU as is not on PATH")
def test_nor_does_one_of_an_object_file(tmp_path: Path) -> None:
    assert AS is not None
    text = ".L:\n mov (%rsi), %rax\n add $STRIDE, %rsi\n dec %r15\n jnz .L\n"
    subprocess.run([AS, "-o", tmp_path / "k.o", "-"], input=text, text=True, check=True)
    analyzer = Analyzer(Workspace(store()))
    (region,) = analyzer.analyze_object((tmp_path / "k.o").read_bytes(), AnalysisOptions()).regions
    assert work_of(region) is None
    assert region.predictions[0].data is None


def test_a_long_step_is_one() -> None:
    assert work("    mov (%rsi), %rax\n add $0x180000, %rsi") == "1572864 bytes per iteration (step of rsi)"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("vaddps (%rsi), %ymm0, %ymm0\n add $32, %rsi", "8 floats"),
        ("vaddss (%rsi), %xmm0, %xmm0\n add $4, %rsi", "1 float"),
        # Compilers move doubles by the shorter instruction.
        ("movups (%rsi), %xmm1\n addpd %xmm1, %xmm0\n add $16, %rsi", "2 doubles"),
        ("vbroadcastss (%rsi), %ymm1\n vfmadd231ps %ymm1, %ymm2, %ymm0\n add $4, %rsi", "1 float"),
        # Integers in memory; both types; neither; a type of another size; half a float.
        ("vcvtdq2ps (%rsi), %ymm1\n vaddps %ymm1, %ymm0, %ymm0\n add $32, %rsi", "32 bytes"),
        ("vaddps (%rsi), %ymm0, %ymm0\n vaddpd %ymm1, %ymm2, %ymm2\n add $32, %rsi", "32 bytes"),
        ("movups (%rsi), %xmm0\n movups %xmm0, (%rsi)\n add $16, %rsi", "16 bytes"),
        ("vbroadcastsd (%rsi), %ymm1\n vaddps %ymm1, %ymm0, %ymm0\n add $8, %rsi", "8 bytes"),
        ("vaddss (%rsi), %xmm0, %xmm0\n add $2, %rsi", "2 bytes"),
    ],
)
def test_floats_and_doubles_are_counted_where_nothing_else_is_computed(body, shown):
    assert work(f"    {body}") == f"{shown} per iteration (step of rsi)"


@pytest.mark.parametrize(
    "body",
    [
        "imul %rax, %rax",
        # Down a column and along a row: which of them is the work is not known.
        "vmovups (%rsi), %ymm0\n vmovups (%rdx), %ymm1\n add $4096, %rsi\n add $32, %rdx",
        "mov (%rsi), %rax",
        "mov (%rax), %rax",  # a list
        "mov (%rsi), %rax\n add %rbx, %rsi",  # a step that is not known
        "push %rax",
        "add $8, %rsi",  # nothing is read through it
    ],
)
def test_unknown_work_is_not_shown(body):
    assert work(f"    {body}") == ""


@pytest.mark.parametrize(
    ("option", "expected"),
    [("per=8", Work(8, "element", "per=8")), ("per=32B", Work(32, "byte", "per=32B"))],
)
def test_the_marker_says_it(option, expected):
    (region,) = analysed("    vaddps (%rsi), %ymm0, %ymm0\n    add $64, %rsi", option).regions
    assert work_of(region) == expected
    (prediction,) = region.predictions
    cycles = prediction.cycles_per_iteration
    each, unit = cycles / expected.amount, expected.unit
    assert sentence(region, prediction) == (
        f"{expected}, {each:.3f} cycles per {unit}, {expected.amount / cycles:.2f} {unit}s per cycle"
    )
    short = f"{each:.3f} cycles/{unit}"
    assert rate(region, prediction) == short
    (hint,) = hints(region)
    assert hint.label.startswith(f"{short} · ")


@pytest.mark.parametrize("value", ["0", "-1", "B", "8.5", "32b", "8x", "", "99999999999"])
def test_other_values_are_a_problem_at_the_marker(value):
    assert stated(value) is None
    if value:
        analysis = analysed("    nop", f"per={value}")
        assert [(problem.line, problem.code) for problem in analysis.problems] == [(0, "bad-option-value")]
        assert analysis.regions[0].predictions


def test_the_amount_for_which_cycles_are_counted():
    one, two = Work(32, "byte", ""), Work(64, "byte", "")
    assert difference(Pace(1.5, one), Pace(2.25, two)) == "-25 % time per byte"
    assert difference(Pace(2.25, two), Pace(1.5, one)) == "+33 % time per byte"
    assert difference(Pace(1.0), Pace(2.0)) == "+100 % time"
    assert difference(Pace(1.0), Pace(1.004)) == difference(Pace(0.0), Pace(1.0)) == ""


def test_a_pace_is_given_by_work_and_by_iteration():
    assert pace(4.0, Work(8, "float", "")) == "0.500 cycles/float, 4.00 cycles/iter"
    assert pace(4.0, Work(1, "byte", "")) == "4.00 cycles/byte, 4.00 cycles/iter"
    assert pace(4.0, None) == "4.00 cycles/iter"


def test_a_lower_bound_has_no_rate():
    (region,) = analysed("    vaddps (%rsi), %ymm0, %ymm0\n    add $64, %rsi", "per=8").regions
    (prediction,) = region.predictions
    assert rate(region, prediction)
    first, *others = prediction.instructions
    unknown = replace(prediction, instructions=(replace(first, facts=None), *others))
    assert (rate(region, unknown), sentence(region, unknown)) == ("", "8 elements per iteration (per=8)")
    assert rate(region, replace(prediction, once=OnePass(9, (), 0))) == ""
    assert rate(region, replace(prediction, cycles_per_iteration=0.0)) == ""
