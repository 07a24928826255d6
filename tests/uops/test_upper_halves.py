"""How instructions affect upper halves of vector registers, and the states of repeated blocks."""

import pytest
from cyclelens.analyzer.isa.upper_halves import upper_halves
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import ValueKind
from cyclelens.analyzer.model.upper_halves import UpperHalves
from cyclelens.analyzer.uops.upper_halves import (
    ANY,
    SWITCHES,
    UpperEffect,
    UpperState,
    changed_by_upper_halves,
    effects,
)
from msgspec.structs import replace
from testkit.blocks import template_of, templates_of
from testkit.simulated import in_mode

KEEPS, WRITES, READS, USES, CLEARS, UNKNOWN, NOTHING = (
    UpperHalves.KEEPS,
    UpperHalves.WRITES,
    UpperHalves.READS,
    UpperHalves.USES,
    UpperHalves.CLEARS,
    UpperHalves.LEAVES_UNKNOWN,
    UpperHalves.NOTHING,
)

INSTRUCTIONS = {
    KEEPS: {
        "paddd xmm2, xmm0": "660ffed0",
        "movdqa xmm0, xmmword ptr [rdi]": "660f6f07",
        "movss xmm1, dword ptr [rdi]": "f30f100f",
        "addsd xmm1, xmm2": "f20f58ca",
        "cvtsi2sd xmm1, rcx": "f2480f2ac9",
        "movd xmm0, eax": "660f6ec0",
        "movaps xmm1, xmm0": "0f28c8",
        "pxor xmm1, xmm1": "660fefc9",
        "movq2dq xmm0, mm1": "f30fd6c1",
        "sha256rnds2 xmm2, xmm1": "0f38cbd1",
        "aesenc xmm2, xmm1": "660f38dcd1",
        "pcmpistrm xmm2, xmm1, 0": "660f3a62d100",
        "blendvps xmm2, xmm1": "660f3814d1",
        "movhps xmm2, qword ptr [rdi]": "0f1617",
        "cvtpi2ps xmm2, mm0": "0f2ad0",
        "lddqu xmm2, xmmword ptr [rdi]": "f20ff017",
    },
    NOTHING: {
        "add rax, rbx": "4801d8",
        "movups xmmword ptr [rdi], xmm0": "0f1107",
        "movd eax, xmm0": "660f7ec0",
        "pmovmskb eax, xmm0": "660fd7c0",
        "ucomiss xmm0, xmm1": "0f2ec1",
        "ptest xmm0, xmm1": "660f3817c1",
        "cvtsd2si eax, xmm1": "f20f2dc1",
        "prefetcht0 byte ptr [rdi]": "0f180f",
        "movnti dword ptr [rdi], eax": "0fc307",
        "ldmxcsr dword ptr [rdi]": "0fae17",
        "paddd mm0, mm1": "0ffec1",
        "movdq2q mm0, xmm1": "f20fd6c1",
        "crc32 eax, ecx": "f20f38f1c1",
        "pcmpistri xmm0, xmm1, 0": "660f3a63c100",
        "andn eax, ebx, ecx": "c4e260f2c1",
        "kmovd k1, ecx": "c5fb92c9",
        "vpaddd zmm16, zmm17, zmm18": "62a17540fec2",
        "vmovdqu32 ymm16, ymmword ptr [rdi]": "62e17e286f07",
        "vpaddd xmm16, xmm17, xmm18": "62a17500fec2",
        "vmovd eax, xmm5": "c5f97ee8",
        "vmovq rax, xmm5": "c4e1f97ee8",
        "vpmovmskb eax, xmm5": "c5f9d7c5",
        "vucomiss xmm4, xmm5": "c5f82ee5",
    },
    WRITES: {
        "vpaddd ymm4, ymm4, ymm5": "c5ddfee5",
        "vpxor ymm3, ymm3, ymm3": "c5e5efdb",
        "vmovdqu ymm3, ymmword ptr [rdi]": "c5fe6f1f",
        "vextracti128 xmm3, ymm5, 1": "c4e37d39eb01",
        "vcvtpd2ps xmm3, ymm5": "c5fd5add",
        "vpaddd zmm4, zmm16, zmm17": "62b17d40fee1",
        "vbroadcastss ymm3, dword ptr [rdi]": "c4e27d181f",
        "vaddpd ymm15, ymm1, ymmword ptr [rdi]": "c575583f",
    },
    READS: {
        "vmovups ymmword ptr [rdi], ymm6": "c5fc1137",
        "vptest ymm4, ymm5": "c4e27d17e5",
        "vpmovmskb eax, ymm5": "c5fdd7c5",
        "vpaddd zmm16, zmm4, zmm5": "62e15d48fec5",
        "vextracti128 xmmword ptr [rdi], ymm5, 1": "c4e37d392f01",
    },
    USES: {
        "vpaddd xmm4, xmm4, xmm5": "c5d9fee5",
        "vmovdqu xmmword ptr [rdi], xmm5": "c5fa7f2f",
        "vpxor xmm3, xmm3, xmm3": "c5e1efdb",
        "vpaddd xmm16, xmm4, xmm5": "62e15d08fec5",
        "vpextrd eax, xmm5, 1": "c4e37916e801",
        "vmovd dword ptr [rdi], xmm5": "c5f97e2f",
        "vmovd xmm5, eax": "c5f96ee8",
        "vcvttsd2si eax, xmm5": "c5fb2cc5",
        "vptest xmm4, xmm5": "c4e27917e5",
    },
    CLEARS: {
        "vzeroupper": "c5f877",
        "vzeroall": "c5fc77",
    },
    UNKNOWN: {
        "xrstor [rdi]": "0fae2f",
        "fxrstor [rdi]": "0fae0f",
        "call 5": "e800000000",
    },
}
"""As measured on an Emerald Rapids (UH1), but for what leaves the state unknown."""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        pytest.param(kind, code, id=text)
        for kind, instructions in INSTRUCTIONS.items()
        for text, code in instructions.items()
    ],
)
def test_what_an_instruction_does(kind, code):
    assert upper_halves(bytes.fromhex(code)) is kind


PUT_ASIDE, MERGED = UpperHalfRule.PUT_ASIDE, UpperHalfRule.MERGED
ASIDE, BACK = UpperEffect(True, False), UpperEffect(True, True)
PERHAPS_ASIDE, PERHAPS_BACK = UpperEffect(False, False), UpperEffect(False, True)


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ([WRITES, KEEPS], [BACK, ASIDE]),
        ([KEEPS, WRITES], [ASIDE, BACK]),
        ([WRITES, WRITES, KEEPS, KEEPS], [BACK, None, ASIDE, None]),
        ([WRITES, KEEPS, WRITES, KEEPS], [BACK, ASIDE, BACK, ASIDE]),
        ([WRITES, CLEARS, KEEPS], [None, None, None]),
        ([WRITES, KEEPS, CLEARS], [None, ASIDE, BACK]),
        ([WRITES, KEEPS, USES], [None, ASIDE, BACK]),
        ([WRITES, NOTHING, WRITES], [None, None, None]),
        ([KEEPS, NOTHING, KEEPS], [None, None, None]),
        ([USES, KEEPS], [PERHAPS_BACK, PERHAPS_ASIDE]),
        ([READS, KEEPS], [PERHAPS_BACK, PERHAPS_ASIDE]),
        ([WRITES, UNKNOWN, KEEPS], [PERHAPS_BACK, None, PERHAPS_ASIDE]),
    ],
)
def test_a_round_begins_in_the_state_that_the_one_before_it_left(uses, expected):
    assert effects(uses, PUT_ASIDE) == expected


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ([WRITES, KEEPS, KEEPS], [None, ASIDE, ASIDE]),
        ([WRITES, KEEPS, USES, KEEPS], [None, ASIDE, None, ASIDE]),
        ([WRITES, KEEPS, CLEARS, KEEPS], [None, ASIDE, None, None]),
        ([KEEPS, WRITES], [ASIDE, None]),
    ],
)
def test_what_is_merged_is_merged_each_time(uses, expected):
    assert effects(uses, MERGED) == expected


def test_a_state_that_is_known_decides_what_the_block_leaves_open():
    assert effects([READS, KEEPS], PUT_ASIDE, UpperState.IN_USE) == [BACK, ASIDE]
    assert effects([READS, KEEPS], PUT_ASIDE, UpperState.CLEAN) == [None, None]
    assert effects([KEEPS], MERGED, UpperState.IN_USE) == [ASIDE]
    assert effects([KEEPS], PUT_ASIDE, UpperState.IN_USE) == [None], "put aside once, and never fetched back"
    assert ANY & UpperState.CLEAN


YMM_3 = "c5fe6f1f"  # vmovdqu ymm3, [rdi]


@pytest.mark.parametrize(
    ("code", "uops", "old", "latencies"),
    [
        ("660ffed0", 1, "XMM2", {"XMM2": 2, "XMM0": 2}),  # paddd xmm2, xmm0
        ("0f28d8", 1, "XMM3", {"XMM0": 2, "XMM3": 1}),  # movaps xmm3, xmm0
        ("660fefc9", 1, "XMM1", {"XMM1": 1}),  # pxor xmm1, xmm1
        ("f30f100f", 1, "XMM1", {"XMM1": 1}),  # movss xmm1, [rdi]
        ("660f3801d0", 3, "XMM2", {"XMM2": 4, "XMM0": 4}),  # phaddw xmm2, xmm0
    ],
)
@pytest.mark.parametrize("core", ["SKL", "CLX"])
def test_a_merge_is_one_more_uop_on_a_vector_port(core, code, uops, old, latencies):
    """UH3: it takes a cycle, and the result depends on the old register."""
    alone, (_, merged) = template_of(code, core), templates_of(YMM_3 + code, core)
    assert not alone.merges_upper_half
    assert merged.merges_upper_half
    assert not merged.eliminable_move
    blend = merged.uops[-1]
    vector = registry.get(core).units.having(Role.VECTOR)
    register = (ValueKind.REGISTER, old)
    assert (blend.kind, blend.units, blend.outputs) == (UopKind.COMPUTE, vector, ((register, 1),))
    assert blend.inputs[-1] == register
    assert all(value != register for uop in merged.uops[:-1] for value, _ in uop.outputs)
    assert len(merged.uops) == uops + 1 == sum(merged.fused_uops)
    assert merged.fused_uops[-1] == 1
    assert sum(merged.idq_uops) == len(merged.fused_uops)
    assert merged.retire_slots == alone.retire_slots + 1
    assert merged.uop_count == alone.uop_count + 1
    assert (UopKind.COMPUTE, vector, 1) in [(use.kind, use.units, use.uops) for use in merged.uses]
    names = [operand.canonical for operand in merged.register_inputs]
    found = {
        names[place]: cycles
        for (kind, place, target, _), cycles in merged.latencies.items()
        if (kind, target) == ("reg", "reg")
    }
    assert found == latencies


@pytest.mark.parametrize(("core", "slots", "cycles"), [("SNB", 4, 70), ("HSW", 4, 70), ("SPR", 6, 197.5)])
def test_a_switch_fills_a_group_and_nothing_overlaps_with_it(core, slots, cycles):
    """UH2: cycles of each step as published, and as measured on an Emerald Rapids (395 for two)."""
    code = "660ffed0"  # paddd xmm2, xmm0
    alone, (aside, back) = template_of(code, core), templates_of(code + YMM_3, core)
    assert aside.switches_upper_halves
    assert back.switches_upper_halves
    assert aside.serializing
    assert len(aside.uops) == len(alone.uops) + slots
    assert aside.fused_uops == (1,) * slots + alone.fused_uops
    assert aside.idq_uops == (slots, *alone.idq_uops)
    assert aside.retire_slots == alone.retire_slots + slots
    assert (aside.uop_count, aside.mite_uops) == (alone.uop_count + 1, alone.mite_uops + 1)
    long, *empty = aside.uops[:slots]
    assert long.units == registry.get(core).units.having(Role.ALU)
    assert all(uop.kind is UopKind.EMPTY for uop in empty)
    assert in_mode(core, code + YMM_3, "loop") == pytest.approx(2 * cycles, abs=1.5)
    three = templates_of(YMM_3 + code + "90", core)
    assert [each.switches_upper_halves for each in three] == [True, True, False]
    assert [each.follows_switch for each in three] == [False, True, True]


@pytest.mark.parametrize(("core", "drained"), [("HSW", 8), ("SPR", 8), ("ZEN4", 3)])
def test_a_switch_takes_its_cycles_without_those_that_draining_takes(core, drained):
    model, alone = registry.get(core), template_of("660ffed0", core)  # paddd xmm2, xmm0
    drained += model.issue_to_dispatch_delay
    for cycles in (0, drained, drained + 1, drained + 2, 70):
        short = replace(model, upper_half_switch_cycles=cycles)
        long = changed_by_upper_halves(alone, SWITCHES, short).uops[0]
        assert [late for _, late in long.outputs] == [max(1, cycles - drained)]


@pytest.mark.parametrize(
    ("between", "of_any", "of_target"),
    [
        (["c5fe6f1f"], True, True),  # vmovdqu ymm3, [rdi]
        (["c5fe6f17"], True, False),  # vmovdqu ymm2, [rdi]
        (["c5fa6f1f"], False, False),  # vmovdqu xmm3, [rdi]
        (["c5fe6f1f", "c5f877"], False, False),  # and vzeroupper
        (["c5fe6f1f", "c5e1fed8"], True, False),  # and vpaddd xmm3, xmm3, xmm0
        (["c5fa6f1f", "c5e5fed8"], True, True),  # vmovdqu xmm3, [rdi]; vpaddd ymm3, ymm3, ymm0
        ([], False, False),
    ],
)
@pytest.mark.parametrize("legacy", ["0f28d8", "660ffed8"], ids=["movaps xmm3, xmm0", "paddd xmm3, xmm0"])
def test_zen_4_merges_while_any_half_is_in_use_and_zen_5_with_that_of_its_target(
    legacy, between, of_any, of_target
):
    """M42 and M7."""
    for core, merges in {"ZEN4": of_any, "ZEN5": of_target}.items():
        *others, template = templates_of("".join(between) + legacy, core)
        assert template.merges_upper_half is merges, core
        assert not any(each.merges_upper_half for each in others)
        kept = ("REGISTER", "XMM3") in [(kind.name, name) for kind, name in template.uops[-1].inputs]
        assert kept is (merges or legacy == "660ffed8")
