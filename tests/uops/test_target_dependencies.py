"""Results that wait for the old value of their target without need (V12).

The loops of Zen 4 were measured on an EPYC 9004 by time stamps; llvm-project 206849 has the same of other
Zen 4 and of Zen 5. GCC's tests of dest_false_dep_for_glc list instructions of Golden Cove; the one of them
that was measured (VPERMQ, tests/simulator/test_shared_results.py) does not wait.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import ModelOptions

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 5\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"

MEASURED = [
    ("vpcompressd zmm0{k1}{z}, zmm1", 5.01),
    ("vpcompressd zmm0{k1}, zmm1", 5.01),
    ("vpcompressd zmm0, zmm1", 5.01),
    ("vcompresspd zmm0{k1}{z}, zmm1", 5.01),
    ("vpcompressb ymm0{k1}{z}, ymm1", 4.00),
    ("vpcompressd xmm0{k1}{z}, xmm1", 2.00),
    ("vpexpandd zmm0{k1}{z}, zmm1", 5.01),
    ("vpexpandd zmm0{k1}{z}, [rsi]", 5.01),
    ("vpcompressd zmm1{k1}{z}, zmm1", 5.01),
    ("vpermd ymm0, ymm1, ymm2", 1.00),
    ("vpmullq zmm0, zmm1, zmm2", 1.00),
    ("vpxor xmm0, xmm0, xmm0\n vpcompressd zmm0{k1}{z}, zmm1", 1.33),
]


def figure(body: str, name: str, model: Model = Model.HARDWARE) -> float:
    options = AnalysisOptions(target=Target(microarchitectures=(name,), model=ModelOptions(model=model)))
    (region,) = Analyzer().analyze(TEXT.format(body), options).regions
    return region.predictions[0].cycles_per_iteration


@pytest.mark.parametrize(("body", "measured"), MEASURED)
def test_zen_4_compresses_and_expands_after_the_old_target(body: str, measured: float) -> None:
    assert figure(body, "ZEN4") == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize(("body", "measured"), MEASURED[:3])
def test_zen_5_does_too(body: str, measured: float) -> None:
    assert figure(body, "ZEN5") == pytest.approx(measured, rel=0.03)


def codes(body: str, name: str) -> set[str]:
    (region,) = Analyzer().analyze(TEXT.format(body), AnalysisOptions(target=Target((name,)))).regions
    return {each.code for each in region.predictions[0].assumptions}


@pytest.mark.parametrize(
    ("body", "name", "said"),
    [
        (
            "tzcnt eax, ebx",
            "ZEN5",
            True,
        ),  # "some variants" wait (llvm-project 207079); this EPYC 9005 does not
        ("blsr rax, rbx", "ZEN5", True),
        ("blsr rax, rax", "ZEN5", False),
        ("popcnt eax, ebx", "ZEN5", False),
        ("tzcnt eax, ebx", "ZEN4", False),
        ("vpermd ymm0, ymm1, ymm2", "LNL", True),
        ("vpermd ymm0, ymm1, ymm0", "LNL", False),
        ("vpermd ymm0, ymm1, ymm2", "SPR", True),
        ("vpmullq zmm0, zmm1, zmm2", "GNR", True),
        ("vpermb zmm0, zmm1, zmm2", "SPR", False),
    ],
)
def test_where_processors_differ_the_report_says_so(body: str, name: str, said: bool) -> None:
    assert ("target-not-awaited" in codes(body, name)) is said


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("extrq xmm1, xmm2", 3.00),
        ("insertq xmm1, xmm2, 1, 1", 3.00),
        ("vpinsrd xmm8, xmm15, eax, 1\n" + "vpshufb xmm0, xmm15, xmm14\n" * 4, 2.00),
        ("vpinsrd xmm8, xmm15, eax, 1\n" + "vaddps xmm0, xmm15, xmm14\n" * 4, 2.90),
        ("vpinsrd xmm8, xmm15, eax, 1\n" + "vmulps xmm0, xmm15, xmm14\n" * 4, 2.00),
    ],
)
def test_what_loops_of_zen_4_took(body: str, measured: float) -> None:
    """Measured on an EPYC 9004: the operation behind a transfer takes FP2 or FP3."""
    assert figure(body, "ZEN4") == pytest.approx(measured, rel=0.05)
