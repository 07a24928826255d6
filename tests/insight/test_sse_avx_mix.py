"""Legacy SSE beside 256-bit code: figures and findings for published code and variants of it."""

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import experiment
from cyclelens.analyzer.insight import as_written, vocabulary
from cyclelens.analyzer.insight.confidence import is_lower_bound, lacking
from cyclelens.analyzer.insight.sensitivity import explore, helpful
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from testkit.narrowing import some

HARDWARE = ModelOptions(model=Model.HARDWARE)
INT = "vpaddd %ymm5, %ymm4, %ymm4; movdqa (%rdi), %xmm0; paddd %xmm0, %xmm2"
SHA = (
    "vmovdqu (%rsi), %ymm3; vpaddd (%rdx), %ymm3, %ymm3; vextracti128 $1, %ymm3, %xmm0; "
    "sha256rnds2 %xmm0, %xmm1, %xmm2"
)
CONVERSION = "vaddpd (%rsi), %ymm4, %ymm4; cvtsi2sd %rcx, %xmm1"
WITHOUT_AVX2 = "vaddps %ymm5, %ymm4, %ymm4; movaps (%rdi), %xmm0; addps %xmm0, %xmm2"


def region_of(body, core, model=HARDWARE):
    lines = [f"    {statement.strip()}" for statement in body.split(";")]
    text = "\n".join(
        ["# cyclelens-begin region", ".L1:", *lines, "    dec %r15", "    jnz .L1", "# cyclelens-end"]
    )
    options = AnalysisOptions(
        target=Target(microarchitectures=(core,), model=model), detail=Detail(prices=True)
    )
    (region,) = Analyzer().analyze(text, options).regions
    return region


def figure(body, core, model=HARDWARE):
    return region_of(body, core, model).predictions[0].cycles_per_iteration


def mixes(body, core, model=HARDWARE):
    return [each for each in region_of(body, core, model).findings if each.code == "sse-avx-mix"]


TOO_SLOW = pytest.mark.xfail(strict=True, reason="353: crossing into another domain takes a cycle (M33)")


@pytest.mark.parametrize(
    ("body", "measured"),
    [(INT, 340.7), pytest.param(SHA, 345.8, marks=TOO_SLOW), (CONVERSION, 344.2)],
)
def test_a_loop_that_mixes_once_takes_what_was_measured_on_zen_3(body, measured):
    assert figure(body, "ZEN3") == pytest.approx(measured, rel=0.02)


def test_zen_4_merges_and_switches_nothing():
    """The loop of 340 cycles on Zen 3 takes less than two; a chain through what is kept shows the wait."""
    assert figure(INT, "ZEN4") < 2
    chain = "vaddpd %ymm5, %ymm4, %ymm4; movaps %xmm1, %xmm4"
    assert figure(chain, "ZEN4") == pytest.approx(4.0, abs=0.05)
    (found,) = mixes(chain, "ZEN4")
    assert found.cost == pytest.approx(3.0, abs=0.1)
    assert "merged with the old register" in found.message


def test_blocks_measured_on_zen_3():
    """Four 256-bit operations and two transfers to vector registers; a store is enough to fetch back."""
    four = "; ".join(f"vpaddd %ymm14, %ymm15, %ymm{number}" for number in range(4))
    assert figure(f"{four}; movd %eax, %xmm8; movd %eax, %xmm9", "ZEN3") == pytest.approx(340.4, rel=0.02)
    assert figure(f"{four}; movd %xmm8, %eax; movd %xmm8, %ebx", "ZEN3") == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        (INT.replace("movdqa (%rdi), %xmm0; ", ""), 395.5),
        (SHA, 414),
        (CONVERSION, 411),
        ("; ".join([INT.replace("movdqa (%rdi), %xmm0; ", "")] * 2), 801),
        (INT.replace("movdqa (%rdi), %xmm0; ", "") + "; vzeroupper", 412),
    ],
)
def test_loops_measured_on_an_emerald_rapids(body, measured):
    assert figure(body, "SPR") == pytest.approx(measured, rel=0.06)


@pytest.mark.parametrize("core", ["SNB", "IVB", "HSW", "BDW"])
def test_before_skylake_a_loop_that_mixes_once_pays_the_published_price_twice(core):
    assert figure(WITHOUT_AVX2, core) == pytest.approx(2 * 70, rel=0.08)


@pytest.mark.parametrize("core", ["ZEN", "ZEN+", "ZEN2"])
def test_the_guide_of_family_17h_says_a_hundred_cycles(core):
    assert figure(WITHOUT_AVX2, core) == pytest.approx(2 * 100, rel=0.08)


@pytest.mark.parametrize("core", ["HSW", "SPR", "GNR", "ZEN2", "ZEN3"])
def test_with_vzeroupper_or_vex_nothing_is_left_of_it(core):
    apart = INT.replace("movdqa", "vzeroupper; movdqa")
    with_vex = "vpaddd %ymm5, %ymm4, %ymm4; vmovdqa (%rdi), %xmm0; vpaddd %xmm0, %xmm2, %xmm2"
    for body in (apart, with_vex):
        assert figure(body, core) <= 8
        assert not mixes(body, core)
    assert figure(apart, "ZEN3") == pytest.approx(1.00, abs=0.01)


@pytest.mark.parametrize("core", ["SKL", "SKX", "CLX", "ICL", "TGL"])
def test_from_skylake_on_a_result_waits_for_the_old_register(core):
    """A copy and a multiplication of it: the copy begins a new chain only if no upper half is in use."""
    chain = "movaps (%rdi), %xmm1; mulps %xmm2, %xmm1"
    clean = "vaddps %ymm5, %ymm4, %ymm3; vzeroupper; " + chain
    dirty = "vaddps %ymm5, %ymm4, %ymm3; " + chain
    # The multiplication of four cycles, and a blend behind each of the two.
    assert figure(dirty, core) == pytest.approx(6, abs=0.1)
    assert figure(clean, core) < 3
    found = mixes(dirty, core)
    assert [each.instruction for each in found] == [1, 2]
    assert found[0].cost == pytest.approx(figure(dirty, core) - figure(dirty, core, PUBLISHED), abs=0.3)


def test_a_conversion_depends_on_its_destination_anyway_and_a_blend_makes_it_longer():
    assert figure("vaddps %ymm5, %ymm4, %ymm3; cvtsi2sd %rcx, %xmm1", "SKL") > figure(
        "vaddps %xmm5, %xmm4, %xmm3; cvtsi2sd %rcx, %xmm1", "SKL"
    )


@pytest.mark.parametrize("core", registry.names())
@pytest.mark.parametrize(
    "body",
    [
        "movaps (%rdi), %xmm0; addps %xmm0, %xmm2; cvtsi2sd %rcx, %xmm1",
        "vmovaps (%rdi), %ymm0; vaddps %ymm0, %ymm2, %ymm2",
        "vmovaps (%rdi), %xmm0; addps %xmm0, %xmm2",
        "vaddps %ymm0, %ymm2, %ymm2; movaps %xmm1, (%rdi); movd %xmm1, %eax; prefetcht0 (%rsi)",
    ],
)
def test_code_that_mixes_nothing_is_left_as_it_is(core, body):
    region = region_of(body, core)
    assert not [each for each in region.findings if each.code == "sse-avx-mix"]
    for template in region.predictions[0].instructions:
        assert not (template.switches_upper_halves or template.follows_switch or template.merges_upper_half)


@pytest.mark.parametrize("core", registry.names())
def test_the_published_model_is_left_as_it_is_and_says_what_it_leaves_out(core):
    for template in region_of(WITHOUT_AVX2, core, PUBLISHED).predictions[0].instructions:
        assert not (template.switches_upper_halves or template.follows_switch)
    for finding in mixes(WITHOUT_AVX2, core, PUBLISHED):
        assert core in ("ZEN4", "ZEN5") or (
            finding.cost is None and "on top of the figure" in finding.message
        )


@pytest.mark.parametrize("core", ["LNL", "ARL"])
def test_where_nothing_is_known_the_finding_has_no_price(core):
    found = mixes(INT, core)
    assert [each.instruction for each in found] == [0, 1]
    assert {each.cost for each in found} == {None}
    assert "not known" in found[0].message
    prediction = region_of(INT, core).predictions[0]
    assert prediction.cycles_per_iteration < 3
    assert is_lower_bound(prediction)
    assert lacking(prediction) == "no price for legacy SSE beside 256-bit code"
    assert not is_lower_bound(region_of(INT.replace("movdqa", "vzeroupper; movdqa"), core).predictions[0])


@pytest.mark.parametrize("core", ["HSW", "SPR", "ZEN3"])
def test_where_it_hangs_on_what_stood_before_the_finding_has_no_price(core):
    stores = "vmovups %ymm1, (%rsi); addps %xmm0, %xmm2"
    found = mixes(stores, core)
    assert found and {each.cost for each in found} == {None}
    assert "if they are in use where the region begins" in found[0].message
    assert figure(stores, core) < 6


def test_registers_that_legacy_sse_cannot_name_do_not_count():
    assert not mixes("vpaddd %zmm17, %zmm16, %zmm18; paddd %xmm0, %xmm2", "SPR")
    assert mixes("vpaddd %zmm17, %zmm16, %zmm8; paddd %xmm0, %xmm2", "SPR")


def test_findings_say_what_the_switches_cost_together_and_what_to_do():
    found = mixes(INT, "ZEN3")
    assert [each.instruction for each in found] == [0, 1]
    assert {each.cost for each in found} == {figure(INT, "ZEN3") - 1}
    for each in found:
        assert each.severity == "warning"
        assert "vzeroupper" in each.message and "VEX" in each.message
        assert "The 2 findings of this kind together cost" in each.message


@pytest.mark.parametrize("core", ["HSW", "SPR", "ZEN2", "ZEN3"])
def test_switches_are_the_bottleneck_if_they_are_most_of_the_figure(core):
    body = WITHOUT_AVX2
    prediction = region_of(body, core).predictions[0]
    assert prediction.bottlenecks == ("Upper halves",)
    assert prediction.bounds["Upper halves"] <= prediction.cycles_per_iteration
    assert "Legacy SSE" in vocabulary.of(core).explanations["Upper halves"]


def test_nothing_overlaps_with_a_switch():
    chain = "; ".join(["add %rax, %rax"] * 100)
    alone = figure("vpaddd %ymm5, %ymm4, %ymm4; paddd %xmm0, %xmm2", "SPR")
    both = figure(f"vpaddd %ymm5, %ymm4, %ymm4; {chain}; paddd %xmm0, %xmm2; {chain}", "SPR")
    assert both == pytest.approx(alone + 200, rel=0.05)


def test_a_call_leaves_open_what_state_the_loop_goes_on_in():
    body = "vpaddd %ymm5, %ymm4, %ymm4; vzeroupper; call somewhere; paddd %xmm0, %xmm2"
    found = mixes(body, "ZEN3")
    assert not found or {each.cost for each in found} == {None}


@pytest.mark.parametrize("core", ["ZEN3", "SKL", "SPR"])
def test_what_would_help_first_of_all_is_to_keep_nothing(core):
    analyzer, region = Analyzer(), region_of(INT, core)
    prediction = region.predictions[0]
    tried = experiment(analyzer.workspace, region, prediction, HARDWARE)
    base = tried.baseline()
    found = helpful([each for each, _ in explore(tried, base, as_written.with_places(region, prediction))])
    assert "SSE with VEX, or vzeroupper" in found[0].change.words
    assert some(found[0].result).cycles_per_iteration == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("core", "switch"), [("HSW", 70), ("SPR", 199), ("ZEN3", 170)])
def test_one_pass_begins_without_upper_halves_in_use_and_pays_once(core, switch):
    def once(*statements):
        lines = ["# cyclelens-begin pass mode=once", *statements, "# cyclelens-end"]
        options = AnalysisOptions(target=Target(microarchitectures=(core,), model=HARDWARE))
        (region,) = Analyzer().analyze("\n".join(lines), options).regions
        return region

    wide, legacy = "    vaddps %ymm5, %ymm4, %ymm4", "    addps %xmm0, %xmm2"
    mixed, apart = once(wide, legacy), once(wide, "    vzeroupper", legacy)
    (found,) = [each for each in mixed.findings if each.code == "sse-avx-mix"]
    assert found.instruction == 1
    assert not [each for each in apart.findings if each.code == "sse-avx-mix"]
    more = mixed.predictions[0].cycles_per_iteration - apart.predictions[0].cycles_per_iteration
    assert more == pytest.approx(switch, abs=15)
    assert mixed.predictions[0].bounds["Upper halves"] <= mixed.predictions[0].cycles_per_iteration
