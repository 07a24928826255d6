"""Vector instructions whose result is known without their sources: zeros, and ones, which are made on a port.

Measured on an Emerald Rapids: `vpcmpeqd xmm3, xmm1, xmm1` with a chain of five behind it takes 2.04 cycles (5
with two different sources), the same with `vpxor`, `vpcmpgtq` and `vpsubusw` 1.3 to 1.4, with `vpandn` 5.00.
Zen 3 takes 0.99 for the loop `ONES`. The tables of uops.info have it of all cores from Sandy Bridge on for
the forms without VEX.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, template_of

HARDWARE = ModelOptions(model=Model.HARDWARE)
END = "49ffcf75"  # dec r15; jnz
ONES = f"c5e176db c5e1ebdb {END}f3"  # vpcmpeqd xmm3, xmm3, xmm3; vpor xmm3, xmm3, xmm3
EQUALITIES = {
    "pcmpeqb": "660f74db",
    "pcmpeqw": "660f75db",
    "pcmpeqd": "660f76db",
    "pcmpeqq": "660f3829db",
    "vpcmpeqb xmm": "c5e174db",
    "vpcmpeqw ymm": "c5e575db",
    "vpcmpeqd xmm": "c5e176db",
    "vpcmpeqd ymm": "c5e576db",
    "vpcmpeqq xmm": "c4e26129db",
    "vpcmpeqd xmm3, xmm1, xmm1": "c5f176d9",
    "vpcmpeqq ymm13, ymm9, ymm9": "c4423529e9",
}
ZEROS = {
    "vpxor xmm3, xmm1, xmm1": "c5f1efd9",
    "vxorps ymm3, ymm1, ymm1": "c5f457d9",
    "vpcmpgtd xmm3, xmm1, xmm1": "c5f166d9",
    "vpcmpgtq xmm3, xmm1, xmm1": "c4e27137d9",
    "vpsubd xmm3, xmm1, xmm1": "c5f1fad9",
}
SATURATED = "c5f1d9d9"  # vpsubusw xmm3, xmm1, xmm1
OTHERS = {
    "two sources": "c5f176da",  # vpcmpeqd xmm3, xmm1, xmm2
    "memory": "c5f1761e",  # vpcmpeqd xmm3, xmm1, [rsi]
    "no idiom": "c5f1ebd9",  # vpor xmm3, xmm1, xmm1
}


def inputs(code: str, name: str, options: ModelOptions = HARDWARE) -> tuple[str, ...]:
    (template,) = block_of(code, name, options=options).instructions
    return tuple(value for uop in template.uops for _, value in uop.inputs if "MM" in value)


def cycles(code: str, name: str, options: ModelOptions = HARDWARE) -> float:
    block = block_of(code, name, options=options)
    return steady_state(simulate(block, registry.get(name), options=options))


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("code", EQUALITIES.values(), ids=EQUALITIES)
def test_a_register_is_equal_to_itself_for_any_content(code: str, name: str) -> None:
    if template_of(code, name).facts is None:
        pytest.skip(f"{name} does not know it")
    assert inputs(code, name) == ()


@pytest.mark.parametrize("name", registry.names())
def test_ones_are_made_on_a_port(name: str) -> None:
    (template,) = block_of(EQUALITIES["vpcmpeqd xmm"], name, options=HARDWARE).instructions
    assert any(uop.units.mask for uop in template.uops)


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL", "SPR", "LNL", "ZEN2", "ZEN3", "ZEN5"])
@pytest.mark.parametrize("code", ZEROS.values(), ids=ZEROS)
def test_zeros_do_not_ask_where_they_go(code: str, name: str) -> None:
    if template_of(code, name).facts is None:
        pytest.skip(f"{name} does not know it")
    assert inputs(code, name) == ()


@pytest.mark.parametrize("name", ["SNB", "SKL", "SPR", "ZEN3", "ZEN5"])
def test_differences_that_saturate_are_zeros_too(name: str) -> None:
    assert inputs(SATURATED, name) == ()


@pytest.mark.parametrize("name", ["SNB", "SKL", "SPR", "ZEN3"])
@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS)
def test_everything_else_waits_for_its_sources(code: str, name: str) -> None:
    assert "XMM1" in inputs(code, name)


def test_intels_cores_wait_in_an_and_not() -> None:
    assert "XMM1" in inputs("c5f1dfd9", "SPR")  # vpandn xmm3, xmm1, xmm1
    assert inputs("c5f1dfd9", "ZEN3") == ()


@pytest.mark.parametrize("name", ["SKL", "ZEN3"])
def test_a_loop_of_ones_carries_nothing(name: str) -> None:
    assert cycles(ONES, name) == 1.0


def test_the_published_model_looks_at_the_tables_alone() -> None:
    assert cycles(ONES, "SKL", PUBLISHED) == 2.0
    assert "XMM1" in inputs(ZEROS["vpxor xmm3, xmm1, xmm1"], "SKL", PUBLISHED)


GATHER = """\
# cyclelens-begin gather
.p2align 5
.L1: vmovdqu (%rsi,%rax,4), %ymm1
 {mask}
 vpxor %xmm3, %xmm3, %xmm3
 {gather} %ymm{number}, (%rdi,%ymm1,4), %ymm3
 vpaddd %ymm3, %ymm0, %ymm0
 add $8, %rax
 cmp %rdx, %rax
 jb .L1
# cyclelens-end
"""


def gather(mask: str, number: int, name: str, instruction: str) -> float:
    text = GATHER.format(mask=mask.format(number=number), number=number, gather=instruction)
    options = AnalysisOptions(
        target=Target(microarchitectures=(name,), model=HARDWARE), detail=Detail(alternatives=False)
    )
    (region,) = Analyzer().analyze(text, options).regions
    return region.predictions[0].cycles_per_iteration


@pytest.mark.parametrize("number", [2, 12])
@pytest.mark.parametrize("instruction", ["vpgatherdd", "vpgatherqq"])
@pytest.mark.parametrize(("name", "most"), [("HSW", 15), ("BDW", 10), ("SKL", 5.7), ("ICL", 5.0)])
def test_a_mask_that_is_made_costs_no_more_than_one_that_is_copied(
    name: str, most: float, instruction: str, number: int
) -> None:
    made = gather("vpcmpeqd %ymm{number}, %ymm{number}, %ymm{number}", number, name, instruction)
    copied = gather("vmovdqa %ymm15, %ymm{number}", number, name, instruction)
    assert made == pytest.approx(copied, abs=0.1)
    assert made <= most
