"""Accesses that cross the ends of cache lines at every alignment of the data."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.hazards.line_crossing import CODE, SteppedAccess, fewest
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Finding

STENCIL = """
    vmovups -4(%rsi), %ymm0
    vaddps (%rsi), %ymm0, %ymm0
    vaddps 4(%rsi), %ymm0, %ymm0
    vmovaps %ymm0, (%rdi)
    add $32, %rsi
    add $32, %rdi
"""
STORES = "\n movups %xmm0, (%rdi)\n movups %xmm0, 12(%rdi)\n add $24, %rdi\n"


def crossing(body: str, core: str, mode: str = "loop") -> list[Finding]:
    text = f"# cyclelens-begin k mode={mode}\n.L1:{body}dec %rcx\n jnz .L1\n# cyclelens-end\n"
    (region,) = Analyzer().analyze(text, AnalysisOptions(target=Target((core,), alignment=0))).regions
    return [each for each in region.findings if each.code == CODE]


@pytest.mark.parametrize("core", ["ICL", "RKL"])
def test_a_stencil_crosses_once_per_step_of_half_a_line(core: str) -> None:
    (finding,) = crossing(STENCIL, core)
    assert finding.message.startswith("However the data are aligned, 1.00 loads per iteration cross")
    assert "at least 2.00 cycles per iteration" in finding.message
    assert finding.instruction == 0


def test_what_is_slower_for_another_reason_is_not_reported() -> None:
    assert not crossing(STENCIL, "GNR")  # three load ports
    assert not crossing(STENCIL.replace("vmovaps", "vdivps %ymm0, %ymm0, %ymm0\n vmovaps"), "ICL")


def test_vectors_that_can_be_aligned_do_not_cross() -> None:
    apart = STENCIL.replace("-4(%rsi)", "-32(%rsi)").replace("4(%rsi)", "64(%rsi)")
    assert not crossing(apart, "ICL")
    assert not crossing("\n vmovups 1(%rsi), %ymm0\n vmovups 33(%rsi), %ymm1\n add $32, %rsi\n", "SKL")


def test_stores_cross_in_three_of_eight_steps() -> None:
    (finding,) = crossing(STORES, "SKL")
    assert "0.38 stores per iteration" in finding.message and "2.38 cycles" in finding.message


def test_a_core_that_is_simulated_with_crossings_has_none() -> None:
    assert not crossing(STENCIL, "ZEN4") and not crossing(STORES, "ZEN5")


def test_one_pass_has_no_steps() -> None:
    assert not crossing(STORES, "SKL", "once")


@pytest.mark.parametrize("step", [1, 3, 8, 24, 32, 40, 64, 96, -16])
@pytest.mark.parametrize("places", [[(0, 8)], [(0, 16), (12, 16)], [(1, 32), (5, 32), (64, 4)], [(0, 64)]])
def test_the_fewest_crossings_are_those_that_counting_finds(step: int, places: list[tuple[int, int]]) -> None:
    accesses = [SteppedAccess(number, *place, True, False) for number, place in enumerate(places)]
    counted = min(
        Fraction(
            sum(
                (start + offset + step * number) % 64 + size > 64
                for offset, size in places
                for number in range(64)
            ),
            64,
        )
        for start in range(64)
    )
    assert fewest(accesses, step).loads == counted
