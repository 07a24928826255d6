"""The records of Golden Cove and Redwood Cove, made from two client cores: a test for each repair."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.golden_cove import GOLDEN_COVE, REDWOOD_COVE, VariantMeasurement, derived
from cyclelens.analyzer.model.facts import OperandFacts

GPR = OperandFacts(index=1, name="REG0", kind="reg", registers=("RAX", "RBX"))
YMM = OperandFacts(index=1, name="REG0", kind="reg", registers=("YMM0", "YMM1"))
ZMM = OperandFacts(index=1, name="REG0", kind="reg", registers=("ZMM0", "ZMM1"))


def made(
    name: str, operand: OperandFacts = GPR, category: str = "BINARY", **measured: dict[str, str]
) -> dict[str, dict[str, str]]:
    """The figures of both cores from those of ``ADL_P``, ``MTL_P`` and others."""
    cores = {core.replace("_", "-"): VariantMeasurement(figures, ()) for core, figures in measured.items()}
    found = derived(cores, name=name, category=category, operands=[operand])
    return {core: dict(each.figures) for core, each in found.items()}


def latency(name: str, figures: dict[str, str]) -> str:
    measured = {"MTL-P": VariantMeasurement(figures, [{"start_op": "2", "target_op": "1", "cycles": "3"}])}
    found = derived(measured, name=name, category="BINARY", operands=[GPR])
    return found[REDWOOD_COVE].latencies[0]["cycles"]


def test_each_core_has_its_own_measurement_and_redwood_cove_else_the_others() -> None:
    one, other = {"ports": "1*p0", "uops": "1"}, {"ports": "1*p1", "uops": "1"}
    both = made("X", ADL_P=one, MTL_P=other)
    assert (both[GOLDEN_COVE]["ports"], both[REDWOOD_COVE]["ports"]) == ("1*p0", "1*p1")
    alone = made("X", ADL_P=one)
    assert alone[GOLDEN_COVE] == alone[REDWOOD_COVE]
    assert made("X", SKL=one) == {}


def test_a_move_that_is_not_eliminated_needs_a_port() -> None:
    move = {"uops": "0", "uops_same_reg": "1"}
    assert made("MOV (R64, R64)", MTL_P=move)[REDWOOD_COVE]["ports_same_reg"] == "1*p0156B"
    assert made("VMOVAPS (YMM, YMM)", YMM, MTL_P=move)[REDWOOD_COVE]["ports_same_reg"] == "1*p015"


def test_movzx_of_no_latency_is_eliminated_but_from_its_own_register() -> None:
    figures = {"ports": "1*p0156B", "uops": "1", "uops_MITE": "1"}
    measured = {"MTL-P": VariantMeasurement(figures, [{"start_op": "2", "target_op": "1", "cycles": "0"}])}
    found = derived(measured, name="MOVZX (R64, R8l)", category="DATAXFER", operands=[GPR])[REDWOOD_COVE]
    same = {"ports_same_reg": "1*p0156B", "uops_same_reg": "1", "uops_MITE_same_reg": "1"}
    assert same.items() <= found.figures.items()
    assert found.figures["uops"] == "0" and "ports" not in found.figures
    assert found.latencies[0] == {"start_op": "2", "target_op": "1", "cycles": "0", "cycles_same_reg": "1"}


def test_movzx_of_a_high_byte_takes_what_was_measured() -> None:
    assert latency("MOVZX (R32, R8h)", {"ports": "1*p1", "uops": "1"}) == "3"


def test_a_comparison_that_makes_ones_waits_for_nothing() -> None:
    figures = {"ports": "1*p01", "uops": "1"}
    measured = {"MTL-P": VariantMeasurement(figures, [{"start_op": "2", "target_op": "1", "cycles": "1"}])}
    for name, expected in (
        ("VPCMPEQD (YMM, YMM, YMM)", "0"),
        ("VPCMPEQQ (XMM, XMM, XMM)", "0"),
        ("VPCMPEQD (K, ZMM, ZMM)", None),
        ("VPCMPEQD (YMM, YMM, M256)", None),
    ):
        found = derived(measured, name=name, category="AVX2", operands=[YMM])[REDWOOD_COVE]
        assert found.latencies[0].get("cycles_same_reg") == expected


def test_the_way_to_a_vector_is_shorter_than_the_way_back() -> None:
    xmm = OperandFacts(index=1, name="REG0", kind="reg", registers=("XMM0", "XMM1"))
    eax = OperandFacts(index=2, name="REG1", kind="reg", registers=("EAX", "EBX"))
    there = [
        {"start_op": "2", "target_op": "1", "cycles": "3"},
        {"start_op": "1", "target_op": "1", "cycles": "1"},
    ]
    back = [{"start_op": "1", "target_op": "2", "cycles": "3"}]
    figures = {"ports": "1*p5", "uops": "1"}
    for latencies, expected in ((there, ["1", "1"]), (back, ["3"])):
        measured = {"MTL-P": VariantMeasurement(figures, latencies)}
        found = derived(measured, name="X", category="SSE", operands=[xmm, eax])[REDWOOD_COVE]
        assert [each["cycles"] for each in found.latencies] == expected


def test_shifts_by_a_register_take_a_cycle() -> None:
    assert latency("SHLX (R64, R64, R64)", {"ports": "1*p06", "uops": "1"}) == "1"
    assert latency("IMUL (R64, R64)", {"ports": "1*p1", "uops": "1"}) == "3"


@pytest.mark.parametrize(
    ("name", "measured", "right"),
    [
        ("AESENC (XMM, XMM)", "5", "3"),
        ("VAESDECLAST (ZMM, ZMM, ZMM)", "5", "3"),
        ("VGF2P8AFFINEQB (YMM, YMM, YMM, I8)", "5", "3"),
        ("VAESIMC (XMM, XMM)", "8", "6"),
        ("RSQRTPS (XMM, XMM)", "5", "4"),
        ("HADDPD (XMM, XMM)", "6", "5"),
        ("SHA256RNDS2 (XMM, XMM)", "6", "4"),
        ("BEXTR (R64, M64, R64)", "6", "2"),
        ("BZHI (R32, R32, R32)", "3", "1"),
        ("VHADDPD (XMM, XMM, XMM)", "5", "5"),
        ("MULPS (XMM, XMM)", "4", "4"),
    ],
)
def test_chains_are_as_short_as_on_a_server_of_golden_cove(name: str, measured: str, right: str) -> None:
    """Each was measured on Emerald Rapids; Redwood Cove keeps what its own core was measured with."""
    latencies = [{"start_op": "2", "target_op": "1", "cycles": measured}]
    cores = {
        core: VariantMeasurement({"ports": "1*p0", "uops": "1"}, latencies) for core in ("ADL-P", "MTL-P")
    }
    found = derived(cores, name=name, category="X", operands=[YMM])
    assert found[GOLDEN_COVE].latencies[0]["cycles"] == right
    assert found[REDWOOD_COVE].latencies[0]["cycles"] == measured


@pytest.mark.parametrize(
    ("name", "throughput", "divider"),
    [
        ("VDIVPH (ZMM, ZMM, ZMM)", "32.00", "32"),
        ("VDIVPH_Z (YMM, K, YMM, YMM)", "16.00", "16"),
        ("VSQRTSH (XMM, XMM, XMM)", "4.50", "4"),
        ("VMULPH (ZMM, ZMM, ZMM)", "1.00", None),
    ],
)
def test_half_precision_holds_the_divider(name: str, throughput: str, divider: str | None) -> None:
    """Emerald Rapids: 31.9, 16.0 and 4.5 cycles."""
    found = made(name, ZMM, ADL_P={"ports": "1*p0", "uops": "1", "TP_loop": throughput})
    assert found[GOLDEN_COVE].get("div_cycles") == divider


@pytest.mark.parametrize("name", ["BT (R64, R64)", "BTC (R64, R64)", "BTR (R64, R64)", "BTS (R64, R64)"])
def test_bit_tests_take_a_cycle(name) -> None:
    """bt; adc in a chain: two cycles on Emerald Rapids."""
    assert latency(name, {"ports": "1*p1", "uops": "1"}) == "1"


def test_ports_that_do_not_add_up_are_the_other_cores() -> None:
    """add [m], r with an index: counter noise; vaddps y, y, [m] with an index: a port is missing."""
    right = {"ports_indexed": "1*p0156B+1*p23A+1*p49+1*p78", "uops_indexed": "4"}
    noise = {"ports_indexed": "2*p056+1*p15B+1*p23A+2*p49+1*p78", "uops_indexed": "4"}
    assert made("X", ADL_P=right, MTL_P=noise)[REDWOOD_COVE]["ports_indexed"] == right["ports_indexed"]
    missing = {"ports_indexed": "1*p23A", "uops_indexed": "2"}
    whole = {"ports_indexed": "1*p15+1*p23A", "uops_indexed": "2"}
    assert made("X", ADL_P=whole, MTL_P=missing)[REDWOOD_COVE]["ports_indexed"] == "1*p15+1*p23A"


def test_branches_have_two_ports() -> None:
    branch = {"ports": "1*p6", "uops": "1"}
    assert made("JZ (Rel8)", category="COND_BR", MTL_P=branch)[REDWOOD_COVE]["ports"] == "1*p06"
    assert made("JMP (Rel8)", category="UNCOND_BR", MTL_P=branch)[REDWOOD_COVE]["ports"] == "1*p6"


def test_servers_have_a_second_multiplier() -> None:
    """On port 5, for what Skylake-X has there, and for half precision, which it lacks."""
    narrow, wide = {"ports": "1*p0", "uops": "1"}, {"ports": "1*p05", "uops": "1"}
    assert made("VFMADD231PS (ZMM, ZMM, ZMM)", ZMM, ADL_P=narrow, SKX=wide)[GOLDEN_COVE]["ports"] == "1*p05"
    assert made("VPMULLQ (ZMM, ZMM, ZMM)", ZMM, ADL_P=narrow, SKX=narrow)[GOLDEN_COVE]["ports"] == "1*p0"
    assert made("VMULPH (ZMM, ZMM, ZMM)", ZMM, ADL_P=narrow)[GOLDEN_COVE]["ports"] == "1*p05"
    assert made("VMULPS (YMM, YMM, YMM)", YMM, ADL_P=narrow, SKX=wide)[GOLDEN_COVE]["ports"] == "1*p0"


def test_five_simple_decoders_work_beside_the_complex_one() -> None:
    figures = {"ports": "1*p0", "uops": "1"}
    assert made("X", MTL_P=figures)[REDWOOD_COVE]["available_simple_decoders"] == "5"
    stated = figures | {"available_simple_decoders": "3"}
    assert made("X", MTL_P=stated)[REDWOOD_COVE]["available_simple_decoders"] == "3"
