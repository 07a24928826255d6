"""Rates at a clock, and the marks of critical path and loop-carried dependency."""

from __future__ import annotations

import argparse

import pytest
from cyclelens.analyzer.cli.argument_types import frequency
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.flops import per_iteration
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import RegionAnalysis
from cyclelens.analyzer.reports import speed
from testkit.blocks import templates_of

TRIAD = """\
# cyclelens-begin triad
.L1:
    vmovapd (%rsi,%rax), %ymm0
    vfmadd231pd (%rdi,%rax), %ymm1, %ymm0
    vmovapd %ymm0, (%rdx,%rax)
    add $32, %rax
    cmp %rax, %rcx
    jne .L1
# cyclelens-end
"""


@pytest.fixture(scope="module")
def triad() -> RegionAnalysis:
    return Analyzer().analyze(TRIAD, AnalysisOptions(target=Target(("SKL",)))).regions[0]


def test_rates_at_a_clock(triad: RegionAnalysis) -> None:
    """Four lanes of two operations in 1.5 cycles or so: the figure times the clock, and nothing else."""
    prediction = triad.predictions[0]
    rate = 3e9 / prediction.cycles_per_iteration
    said = speed.at_clock(prediction, 3e9)
    assert said.startswith(f"At 3.00 GHz: {rate / 1e9:.2f} Giterations/s, {8 * rate / 1e9:.2f} GFLOP/s")
    assert said.endswith("(8 FLOP per iteration)")
    twice = speed.at_clock(prediction, 3e9, 4)
    assert f"{4 * rate / 1e9:.2f} Giterations/s, {8 * rate / 1e9:.2f} GFLOP/s" in twice
    assert "unrolled by 4" in twice


def test_each_line_has_its_part_of_the_critical_path_and_of_the_carried_dependency(
    triad: RegionAnalysis,
) -> None:
    """Load (7 cycles), multiply-add (4) and store are the path; only the addition to RAX is carried."""
    head, *rows, total = speed.critical_paths(triad, triad.predictions[0])
    assert head.split() == ["CP", "LCD"]
    cells = [row[:13] for row in rows]
    assert [bool(cell[:6].strip()) for cell in cells] == [True, True, True, False, False, False]
    assert [cell[7:13].strip() for cell in cells] == ["", "", "", "1", "", ""]
    assert sum(int(cell[:6]) for cell in cells if cell[:6].strip()) == int(total.split()[0])
    assert total.split()[1] == "1.00"


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("f20f58c1", 1),  # addsd xmm0, xmm1
        ("0f58c1", 4),  # addps xmm0, xmm1
        ("c5fd59c1", 4),  # vmulpd ymm0, ymm0, ymm1
        ("62f2edc8b8cb".replace("edc8", "ed48"), 16),  # vfmadd231pd zmm1, zmm2, zmm3
        ("c4e275b8c2", 16),  # vfmadd231ps ymm0, ymm1, ymm2
        ("c4e2f1b9c2", 2),  # vfmadd231sd xmm0, xmm1, xmm2
        ("d8c1", 1),  # fadd st0, st1
        ("660fefc0", 0),  # pxor xmm0, xmm0
        ("0f52c1", 0),  # rsqrtps xmm0, xmm1: an approximation
        ("4801d8", 0),  # add rax, rbx
    ],
)
def test_floating_point_operations(code: str, count: int) -> None:
    assert per_iteration(templates_of(code, "SKX" if code.startswith("62") else "SKL")) == count


@pytest.mark.parametrize(
    ("text", "hertz"), [("3.5GHz", 3.5e9), ("2100 MHz", 2.1e9), ("3.5e9", 3.5e9), ("4g", 4e9)]
)
def test_clocks(text: str, hertz: float) -> None:
    assert frequency(text) == pytest.approx(hertz)


@pytest.mark.parametrize("text", ["", "fast", "0GHz", "-1GHz", "3.5THz", "1e99", "nan"])
def test_what_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a clock"):
        frequency(text)
