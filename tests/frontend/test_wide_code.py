"""Notes where 256-bit code leaves upper halves of vector registers in use."""

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions


def notes(*lines):
    """Line (from 1) and first word of each note."""
    analysis = Analyzer().analyze("\n".join(lines) + "\n", AnalysisOptions())
    found = [each for each in analysis.problems if each.code == "sse-avx-mix"]
    assert all(each.severity == "information" for each in found)
    return [(each.line + 1, " ".join(each.message.split()[:3])) for each in found]


RETURN, CALL, REGION = "The function returns", "The call is", "Legacy SSE with"
WIDE = "    vaddps (%rdi), %ymm0, %ymm1"


def test_a_function_that_returns_or_calls_with_upper_halves_in_use_is_named():
    assert notes("f:", WIDE, "    ret") == [(3, RETURN)]
    assert notes("f:", WIDE, "    call g", "    ret") == [(3, CALL)]
    assert notes("f:", WIDE, "    vmovups %ymm1, (%rdi)", "    rep ret") == [(4, RETURN)]
    assert notes("f:", "    vpaddd %zmm1, %zmm2, %zmm3", "    retq") == [(3, RETURN)]


@pytest.mark.parametrize(
    "lines",
    [
        ("f:", WIDE, "    vzeroupper", "    ret"),
        ("f:", WIDE, "    vzeroall", "    call g", "    ret"),
        ("f:", "    vaddps (%rdi), %xmm0, %xmm1", "    ret"),
        ("f:", "    vmovups %ymm1, (%rdi)", "    ret"),
        ("f:", "    vpaddd %zmm1, %zmm2, %zmm19", "    ret"),
        ("f:", "    addps (%rdi), %xmm1", "    ret"),
        ("f:", WIDE, "    vzeroupper", "    jmp g"),
        # What is behind a jump that is always taken, or in another function, is not known to be in use.
        ("f:", WIDE, "    jmp g", "h:", "    ret"),
        (".globl f", "f:", WIDE, ".globl g", "g:", "    ret"),
    ],
)
def test_code_that_ends_it_or_has_no_256_bit_code_gets_no_note(lines):
    assert notes(*lines) == []


def test_macros_are_followed():
    macro = (".macro finish", "    vzeroupper", "    ret", ".endm")
    assert notes(*macro, "f:", WIDE, "    finish") == []
    careless = (".macro finish", "    ret", ".endm")
    assert notes(*careless, "f:", WIDE, "    finish") == [(6, RETURN)]


def test_intel_syntax_and_nasm():
    assert notes("f:", "    vaddps ymm1, ymm0, [rdi]", "    ret") == [(3, RETURN)]
    assert notes("f:", "    vmovups [rdi], ymm1", "    ret") == []
    assert notes("section .text", "f:", "    VADDPS YMM1, YMM0, [rdi]", "    RET") == [(4, RETURN)]


LOOP = (".L1:", "    addps %xmm1, %xmm2", "    dec %rcx", "    jnz .L1")


def test_a_loop_of_legacy_sse_behind_256_bit_code_is_named_at_its_first_statement_that_pays():
    assert notes("f:", WIDE, *LOOP, "    vzeroupper", "    ret") == [(4, REGION)]
    assert notes("f:", WIDE, "    vzeroupper", *LOOP, "    ret") == []
    assert notes("f:", WIDE, ".L1:", "    movaps %xmm1, (%rdi)", *LOOP[2:], "    vzeroupper", "    ret") == []
    assert notes("f:", *LOOP, "    ret") == []


def test_a_loop_with_256_bit_code_of_its_own_has_the_finding_instead():
    assert notes("f:", WIDE, LOOP[0], WIDE, *LOOP[1:], "    vzeroupper", "    ret") == []


def test_a_marked_region_is_no_other_than_a_loop():
    marked = ("# cyclelens-begin sse", *LOOP, "# cyclelens-end")
    assert notes("f:", WIDE, *marked, "    vzeroupper", "    ret") == [(5, REGION)]
