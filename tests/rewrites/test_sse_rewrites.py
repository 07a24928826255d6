"""Rewrites of legacy SSE beside 256-bit code: the resulting text, and where none is offered."""

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.isa.vex_forms import VexForm, vex_form
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.rewrites.proposal import apply
from cyclelens.analyzer.rewrites.registry import fixes


def kernel(*statements, intel=False):
    end = ("dec r15", "jnz .L1") if intel else ("dec %r15", "jnz .L1")
    lines = [f"    {statement}" for statement in (*statements, *end)]
    return "\n".join(["# cyclelens-begin mixed", ".L1:", *lines, "# cyclelens-end"])


def found(text, core="ZEN3"):
    """The rewrites for the finding, by what they do in a few words."""
    options = AnalysisOptions(
        target=Target(microarchitectures=(core,), model=ModelOptions(model=Model.HARDWARE))
    )
    analyzer = Analyzer()
    analysis = analyzer.analyze(text, options)
    offered = fixes(analyzer, text, options, analysis)
    return {fix.proposal.brief: fix for fix in offered if fix.proposal.code == "sse-avx-mix"}


def statements_after(text, fix):
    return [line.strip() for line in apply(text, fix.proposal.edits).splitlines()[2:-3]]


WIDE = "vaddps (%rsi), %ymm1, %ymm3"
PAIRS = {
    "paddd %xmm0, %xmm2": "vpaddd %xmm0, %xmm2, %xmm2",
    "movdqa (%rdi), %xmm0": "vmovdqa (%rdi), %xmm0",
    "movss (%rdi), %xmm8": "vmovss (%rdi), %xmm8",
    "movss %xmm1, %xmm7": "vmovss %xmm1, %xmm7, %xmm7",
    "cvtsi2sdq (%rdi), %xmm9": "vcvtsi2sdq (%rdi), %xmm9, %xmm9",
    "cvtpd2ps (%rdi), %xmm2": "vcvtpd2psx (%rdi), %xmm2",
    "sqrtpd %xmm4, %xmm5": "vsqrtpd %xmm4, %xmm5",
    "sqrtsd %xmm4, %xmm5": "vsqrtsd %xmm4, %xmm5, %xmm5",
    "pshufd $3, %xmm4, %xmm2": "vpshufd $3, %xmm4, %xmm2",
    "shufps $3, %xmm4, %xmm2": "vshufps $3, %xmm4, %xmm2, %xmm2",
    "psrld $3, %xmm2": "vpsrld $3, %xmm2, %xmm2",
    "blendvps %xmm4, %xmm5": "vblendvps %xmm0, %xmm4, %xmm5, %xmm5",
    "pinsrd $1, %eax, %xmm2": "vpinsrd $1, %eax, %xmm2, %xmm2",
    "cmpltps %xmm4, %xmm5": "vcmpltps %xmm4, %xmm5, %xmm5",
    "aesenc %xmm4, %xmm5": "vaesenc %xmm4, %xmm5, %xmm5",
    "pmovzxbw (%rdi), %xmm5": "vpmovzxbw (%rdi), %xmm5",
    "movhps (%rdi), %xmm5": "vmovhps (%rdi), %xmm5, %xmm5",
}


@pytest.mark.parametrize("legacy", PAIRS)
def test_with_vex_the_destination_is_the_first_source_where_it_was_read(legacy):
    text = kernel(WIDE, legacy)
    fix = found(text)["SSE with VEX"]
    assert statements_after(text, fix) == [WIDE, PAIRS[legacy]]
    assert fix.after < 30 < 300 < fix.before


def test_all_of_the_region_is_written_with_vex_at_once():
    wide, store = "vaddps ymm3, ymm1, [rsi]", "movaps [rdi], xmm2"
    text = kernel(wide, "movaps xmm0, [rdi]", "addps xmm2, xmm0", store, intel=True)
    fix = found(text, "SPR")["SSE with VEX"]
    assert statements_after(text, fix) == [wide, "vmovaps xmm0, [rdi]", "vaddps xmm2, xmm2, xmm0", store]


def test_the_gain_is_what_the_rewritten_text_shows():
    text = kernel(WIDE, "addps %xmm4, %xmm5")
    fix = found(text, "HSW")["SSE with VEX"]
    after = apply(text, fix.proposal.edits)
    options = AnalysisOptions(
        target=Target(microarchitectures=("HSW",), model=ModelOptions(model=Model.HARDWARE))
    )
    (region,) = Analyzer().analyze(after, options).regions
    assert region.predictions[0].cycles_per_iteration == fix.after < fix.before
    assert not [each for each in region.findings if each.code == "sse-avx-mix"]


SHA = (
    "vmovdqu (%rsi), %ymm3",
    "vpaddd (%rdx), %ymm3, %ymm3",
    "vextracti128 $1, %ymm3, %xmm0",
    "sha256rnds2 %xmm0, %xmm1, %xmm2",
)


def test_sha_has_no_form_with_vex_and_gets_vzeroupper():
    text = kernel(*SHA)
    offered = found(text)
    assert set(offered) == {"vzeroupper before SSE"}
    assert statements_after(text, offered["vzeroupper before SSE"]) == [*SHA[:3], "vzeroupper", SHA[3]]
    assert offered["vzeroupper before SSE"].after == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize(
    ("statements", "offered"),
    [
        # The sum of the next iteration, and a constant: vzeroupper would clear them.
        (("vpaddd %ymm5, %ymm4, %ymm4", "paddd %xmm0, %xmm2"), {"SSE with VEX"}),
        # The upper half of the destination is read, and of no other.
        (("vmovups (%rsi), %ymm3", "addps %xmm1, %xmm3", "vmovups %ymm3, (%rsi)"), set()),
        # It is read, but made anew before.
        (
            ("addps %xmm1, %xmm3", "vmovups (%rsi), %ymm3", "vmovups %ymm3, (%rsi)"),
            {"SSE with VEX", "vzeroupper before SSE"},
        ),
        # No form with VEX, and something to keep.
        (("vpaddd %ymm5, %ymm4, %ymm4", "sha256rnds2 %xmm0, %xmm1, %xmm2"), set()),
        (("vpaddd %ymm5, %ymm4, %ymm4", "movq2dq %mm0, %xmm1"), set()),
        # What comes from a repetition has no statement of its own.
        (("vpaddd %ymm5, %ymm4, %ymm4", ".rept 2", "paddd %xmm0, %xmm2", ".endr"), set()),
    ],
)
def test_upper_halves_that_are_read_stay(statements, offered):
    assert set(found(kernel(*statements))) == offered


@pytest.mark.parametrize("core", ["ZEN4", "LNL"])
def test_without_a_price_nothing_is_offered(core):
    assert not found(kernel(WIDE, "addps %xmm4, %xmm5"), core)


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ("0f58c1", VexForm.REPEATED),  # addps xmm0, xmm1
        ("0f28c1", VexForm.SAME),  # movaps xmm0, xmm1
        ("f30f10c1", VexForm.REPEATED),  # movss xmm0, xmm1
        ("f30f1007", VexForm.SAME),  # movss xmm0, [rdi]
        ("660f3810c1", VexForm.MASKED),  # pblendvb xmm0, xmm1
        ("0f38cbd1", None),  # sha256rnds2 xmm2, xmm1
        ("f30fd6c1", None),  # movq2dq xmm0, mm1
        ("0f2ac1", None),  # cvtpi2ps xmm0, mm1
    ],
)
def test_forms_with_vex(code, form):
    assert vex_form(bytes.fromhex(code)) is form
