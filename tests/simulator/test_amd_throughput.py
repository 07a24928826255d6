"""Instructions take the measured time on AMD's cores (M21 of docs/zen5.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.characterizing.throughput import throughput
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.microarchitectures import registry
from testkit.blocks import in_a_loop, store
from testkit.simulated import cycles

COUNTER = "49ffcf75"
"""dec r15, and a conditional jump whose distance follows"""
TOLERANCE = 0.1
SLOW = 1.0
"""Cycles; of a faster form the loop in which it was measured counts, too."""
SAMPLE = 40
"""Forms of a core, spread evenly."""
MOST_TOO_FAST = 0.08
"""Share of them: figures that were measured of values, places in memory or repetitions."""


@pytest.mark.parametrize(
    ("text", "code", "measured"),
    [
        ("vphaddd ymm0, ymm1, ymm2", "c4e27502c2" + COUNTER + "f6", 1.98),
        ("vhaddps ymm0, ymm1, ymm2", "c5f77cc2" + COUNTER + "f7", 1.98),
        ("vmpsadbw ymm0, ymm1, ymm2, 0", "c4e37542c200" + COUNTER + "f5", 1.98),
        ("vdpps ymm0, ymm1, ymm2, 255", "c4e37540c2ff" + COUNTER + "f5", 3.97),
        ("vpclmulqdq xmm0, xmm1, xmm2, 0", "c4e37144c200" + COUNTER + "f5", 1.98),
        ("shld rax, rbx, cl", "480fa5d8" + COUNTER + "f7", 1.98),
        ("rcl rax, 5", "48c1d005" + COUNTER + "f7", 4.0),
        ("bsf rax, rbx", "480fbcc3" + COUNTER + "f7", 3.0),
        ("cmpxchg rbx, rcx", "480fb1cb" + COUNTER + "f7", 3.0),
        ("vmaskmovps [rdi], ymm1, ymm0", "c4e2752e07" + COUNTER + "f6", 11.9),
        ("vcvtsi2sd xmm0, xmm15, eax", "c5832ac0" + COUNTER + "f7", 1.0),
        ("pause", "f390" + COUNTER + "f9", 78.0),
        ("dpps xmm0, xmm1, 0xff in a chain", "660f3a40c1ff" + COUNTER + "f5", 15.0),
        ("haddps xmm0, xmm1 in a chain", "f20f7cc1" + COUNTER + "f7", 6.3),
        # A gather whose mask is made anew, and with a target that is cleared.
        ("vpcmpeqd; vpgatherdd", "c5ed76d2c4e26d90048e" + COUNTER + "f1", 8.2),
        ("vpcmpeqd; vpxor; vpgatherdd", "c5ed76d2c5f9efc0c4e26d90048e" + COUNTER + "ed", 9.6),
    ],
)
def test_zen_3(text: str, code: str, measured: float) -> None:
    """Time stamps of an EPYC 7003."""
    assert cycles(code, "ZEN3", loop=True) == pytest.approx(measured, rel=0.1), text


@pytest.mark.parametrize(
    ("text", "code", "measured"),
    [
        (
            "shld r, rbp, 3",
            "480fa4e803480fa4eb03480fa4ea03480fa4ee03480fa4ef03490fa4e803490fa4e903490fa4ea03",
            11.98,
        ),
        (
            "mulx r, r13, rbp",
            "c4e293f6c5c4e293f6ddc4e293f6f5c4e293f6fdc46293f6c5c46293f6cdc46293f6d5c46293f6dd",
            10.99,
        ),
        (
            "vdivps r, ymm15, ymm14",
            "c4c1045ec6c4c1045ecec4c1045ed6c4c1045edec4c1045ee6c4c1045eeec4c1045ef6c4c1045efe",
            28.02,
        ),
        (
            "vperm2f128 r, ymm15, ymm14, 1",
            "c4c30506c601c4c30506ce01c4c30506d601c4c30506de01c4c30506e601c4c30506ee01c4c30506f601c4c30506fe01",
            8.0,
        ),
    ],
)
def test_eight_independent_ones_on_zen_3(text: str, code: str, measured: float) -> None:
    """The same, in straight-line code."""
    assert cycles(code, "ZEN3", loop=False) == pytest.approx(measured, rel=0.06), text


def test_a_division_leaves_its_pipe_to_others() -> None:
    """Measured: 4.5, of which eight products need four."""
    code = "c441025ec6c4c10459c6c4c10459cec4c10459d6c4c10459dec4c10459e6c4c10459eec4c10459f6c4c10459fe"
    assert cycles(code, "ZEN3", loop=False) == pytest.approx(4.5, rel=0.06)


@pytest.mark.parametrize(
    ("text", "code", "core", "measured"),
    [
        # Three macro-ops (uops.info; https://github.com/llvm/llvm-project/issues/54889 and 54811).
        ("vpmovsxbw ymm10, xmm7", "c4627d20d7", "ZEN+", 2.0),
        ("vtestps ymm10, ymm7", "c4627d0ed7", "ZEN+", 2.0),
        ("bsf rdx, rbx", "480fbcd3", "ZEN+", 3.0),
        ("bsr rdx, rbx", "480fbdd3", "ZEN+", 4.0),
        ("bsf rdx, rbx", "480fbcd3", "ZEN3", 3.0),
        ("bsr rdx, rbx", "480fbdd3", "ZEN3", 4.0),
        # At least, by the mask (uops.info; https://github.com/llvm/llvm-project/pull/217304).
        ("pext rax, rbx, rdx", "c4e2e2f5c2", "ZEN+", 18.0),
        ("pext rax, rbx, rdx", "c4e2e2f5c2", "ZEN2", 19.0),
        ("pdep eax, eax, edx", "c4e27bf5c2", "ZEN+", 18.0),
        ("pext rax, rbx, rdx", "c4e2e2f5c2", "ZEN3", 1.0),
        ("vphaddd ymm0, ymm1, ymm2", "c4e27502c2", "ZEN2", 2.0),
        ("vphaddd ymm0, ymm1, ymm2", "c4e27502c2", "ZEN4", 2.0),
        ("vdpps ymm0, ymm1, ymm2, 255", "c4e37540c2ff", "ZEN4", 4.0),
    ],
)
def test_straight_line_code(text: str, code: str, core: str, measured: float) -> None:
    assert cycles(code, core, loop=False) == pytest.approx(measured, rel=0.06), text


@pytest.mark.parametrize(
    ("text", "code", "core", "measured"),
    [
        # Time stamps of an EPYC 9004.
        ("vpcompressb [rsi]{k1}, zmm0", "62f27d496306", "ZEN4", 168.0),
        ("vpcompressb [rsi]{k1}, ymm0", "62f27d296306", "ZEN4", 104.1),
        ("vpcompressw [rsi]{k1}, zmm0", "62f2fd496306", "ZEN4", 104.0),
        ("vpcompressd [rsi]{k1}, zmm0", "62f27d498b06", "ZEN4", 70.0),
        ("vpcompressq [rsi]{k1}, xmm0", "62f2fd098b06", "ZEN4", 42.0),
        # uops.info.
        ("two ldmxcsr [rsi]", "0fae160fae16", "ZEN3", 3.0),
        ("two vldmxcsr [rsi]", "c5f8ae16c5f8ae16", "ZEN4", 4.0),
        # Counters of an EPYC 9005.
        ("cld", "fc", "ZEN5", 3.0),
        ("rdpid rax", "f30fc7f8", "ZEN5", 2.03),
        ("four vdivps", "c4c10c5ec7c4c10c5ecfc4c10c5ed7c4c10c5edf", "ZEN5", 10.0),
        ("four vsqrtps", "c4c17c51c6c4c17c51cec4c17c51d6c4c17c51de", "ZEN5", 18.0),
        ("four sha1rnds4", "0f3accc1000f3accd1000f3accd9000f3acce100", "ZEN5", 7.84),
        # The same, with code that breaks the chains.
        ("add rdx, rdx; mov rax, rsi; rcl rax, cl", "4801d24889f048d3d0", "ZEN5", 4.0),
        ("add rdx, rdx; mov rax, rsi; rcr rax, 3", "4801d24889f048c1d803", "ZEN5", 3.0),
        ("mov eax, esi; cmpxchg rbx, rcx", "89f0480fb1cb", "ZEN5", 3.0),
        ("three lea r16, [rsi+rdi+3]", "668d443e03668d5c3e03668d543e03", "ZEN5", 6.0),
        # Microcode leaves dispatch to others: measured 5.000 (in copies 4.036).
        ("rcl rax, 3; eight nop", "48c1d003" + 8 * "90", "ZEN5", 5.0),
    ],
)
def test_slow_instructions_in_a_loop(text: str, code: str, core: str, measured: float) -> None:
    assert cycles(in_a_loop(code), core) == pytest.approx(measured, rel=0.04), text


@pytest.mark.parametrize("core", ["ZEN+", "ZEN2", "ZEN3", "ZEN4"])
def test_nothing_is_faster_than_it_was_measured(core: str) -> None:
    """A sample; ``benchmarks/amd_throughput.py`` does all forms."""
    model, tables = registry.get(core), store()
    every = [
        facts
        for form in tables.forms()
        for facts in tables.candidates(model.facts_name, form)
        if (facts.base.throughput or 0) >= SLOW
    ]
    machine, matcher = SimulatedMachine(model, tables, counted=False), Matcher(model.facts_name)
    simulated, too_fast = 0, []
    for facts in every[:: len(every) // SAMPLE]:
        made = variant(facts, matcher, tables)
        run = throughput(machine, made) if isinstance(made, EncodableVariant) else made
        if isinstance(run, str):
            continue
        simulated += 1
        if run.cycles < (1 - TOLERANCE) * (facts.base.throughput or 0):
            too_fast.append(f"{facts.name}: {run.cycles:.2f} instead of {facts.base.throughput}")
    assert simulated > SAMPLE / 2
    assert len(too_fast) <= MOST_TOO_FAST * simulated, too_fast
