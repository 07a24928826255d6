"""The additions to uops.info's figures for AMD."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts import zen1
from cyclelens.analyzer.facts.zen import VariantDescription, completed, is_zen, measured_latency
from cyclelens.analyzer.model.facts import OperandFacts
from msgspec.structs import replace

GPR = OperandFacts(1, "REG0", "reg", read=True, written=True, width=64, registers=("RAX", "RBX"))
BYTE = OperandFacts(1, "REG0", "reg", written=True, width=8, registers=("AL", "BL"))
IMMEDIATE = OperandFacts(2, "IMM0", "imm", read=True, width=32)
MASK = OperandFacts(3, "REG2", "reg", read=True, width=64, registers=("K1",))
YMM = OperandFacts(1, "REG0", "reg", written=True, width=256, registers=("YMM0", "YMM1"))
UPPER = OperandFacts(4, "REG2", "reg", written=True, width=64, registers=("RDX",), suppressed=True)
SHORT = replace(IMMEDIATE, width=16)
SOURCE = OperandFacts(3, "REG1", "reg", read=True, width=64, registers=("RAX", "RCX"))
READ = OperandFacts(2, "MEM0", "mem", read=True, width=64)
WRITTEN = OperandFacts(2, "MEM0", "mem", written=True, width=64)
BOTH = OperandFacts(2, "MEM0", "mem", read=True, written=True, width=64)
WIDE = OperandFacts(2, "MEM0", "mem", read=True, width=256)


def of(name, *operands, on="ZEN2", category="BINARY", zero=False, fusible="", **attributes):
    return completed(
        attributes, VariantDescription(name, category, operands, fusible), on, zero_latencies=zero
    )


@pytest.mark.parametrize(
    ("name", "operands", "on", "figures", "ports"),
    [
        ("ADD (R64, R64)", [GPR], "ZEN2", {"uops": "1", "TP_ports": "0.25"}, "1*0156"),
        ("IMUL (R64, R64)", [GPR], "ZEN2", {"uops": "1", "TP_ports": "1.00"}, "1*1"),
        ("MOV (R64, M64)", [GPR, READ], "ZEN2", {"uops": "1", "TP_ports": "0.50"}, "1*23"),
        ("MOV (R64, M64)", [GPR, READ], "ZEN3", {"uops": "1", "TP_ports": "0.33"}, "1*23F"),
        ("MOV (M64, R64)", [GPR, WRITTEN], "ZEN+", {"uops": "1", "TP_ports": "1.00"}, "1*4+1*23"),
        ("MOV (M64, R64)", [GPR, WRITTEN], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*49+1*78"),
        ("ADD (M64, R64)", [GPR, BOTH], "ZEN2", {"uops": "1", "TP_ports": "1.00"}, "1*0156+1*23+1*4+1*7"),
        ("VADDPD (YMM, YMM, YMM)", [YMM], "ZEN2", {"uops": "1", "ports": "1*FP23"}, "1*CD"),
        ("VADDPD (YMM, YMM, YMM)", [YMM], "ZEN+", {"uops": "2", "TP_ports": "1.00"}, "2*CD"),
        ("VADDPD (YMM, YMM, M256)", [YMM, WIDE], "ZEN+", {"uops": "2", "TP_ports": "1.00"}, "2*CD+2*23"),
        ("VMOVAPD (YMM, M256)", [YMM, WIDE], "ZEN2", {"uops": "1", "TP_ports": "0.50"}, "1*23"),
        # Three of four ALUs are no group: the loop that was measured limits.
        ("CDQE", [GPR], "ZEN4", {"uops": "1", "TP_ports": "0.33"}, "1*0156"),
        ("SHL (R64, I8)", [GPR], "ZEN2", {"uops": "1", "TP_ports": "0.50"}, "1*06"),
        ("SHL (R64, I8)", [GPR], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*15"),
        ("SETZ (R8l)", [BYTE], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*06"),
        ("SBB (R64, R64)", [GPR], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*0156"),
        ("SBB (R64, R64)", [GPR], "ZEN2", {"uops": "1", "TP_ports": "0.50"}, "1*06"),
        # The upper half of a product takes an ALU of the branches twice.
        ("MUL (R32)", [GPR, UPPER], "ZEN4", {"uops": "2", "TP_ports": "1.00"}, "1*1+2*06"),
        ("MUL (R16)", [GPR, UPPER], "ZEN4", {"uops": "3", "TP_ports": "2.00"}, "2*1+4*06"),
        ("MUL (R32)", [GPR, UPPER], "ZEN2", {"uops": "2", "TP_ports": "1.00"}, "1*1+1*0156"),
        ("IMUL (R16, M16, I8)", [GPR, READ], "ZEN4", {"uops": "2", "TP_ports": "1.00"}, "1*1+1*0156+1*23F"),
        ("MOV (R64, I64)", [GPR, IMMEDIATE], "ZEN2", {"uops": "1", "TP_ports": "1.00"}, "1*0156"),
        ("MOV (R8l, R8l)", [BYTE, BYTE], "ZEN4", {"uops": "1", "TP_ports": "0.25"}, "1*0156"),
        ("VMOVAPD (YMM, K, YMM)", [YMM, MASK, YMM], "ZEN4", {"uops": "1", "TP_ports": "0.25"}, "1*ABCD"),
        # Beside a load or store one of two macro-ops computes; the address is made once.
        ("ADD (M64, R64)", [BOTH, SOURCE], "ZEN4", {"uops": "2", "TP_ports": "0.56"}, "1*0156+1*23F+1*49"),
        ("BTC (M64, I8)", [BOTH], "ZEN4", {"uops": "4", "TP_ports": "2.00"}, "4*0156+1*23F+1*49+1*78"),
        ("CMOVZ (R64, M64)", [GPR, READ], "ZEN4", {"uops": "2", "TP_ports": "0.50"}, "1*06+1*23F"),
        ("SETZ (M8)", [WRITTEN], "ZEN4", {"uops": "2", "TP_ports": "1.00"}, "1*06+1*49+1*78"),
        ("MUL (M64)", [GPR, UPPER, READ], "ZEN4", {"uops": "2", "TP_ports": "1.00"}, "1*1+2*06+1*23F"),
        ("MOVSX (R64, M8)", [GPR, READ], "ZEN4", {"uops": "1", "TP_ports": "0.33"}, "1*0156+1*23F"),
        ("MOVSX (R64, M8)", [GPR, READ], "ZEN2", {"uops": "1", "TP_ports": "0.50"}, "1*23"),
        ("MOV (R8l, M8)", [BYTE, READ], "ZEN4", {"uops": "1", "TP_ports": "0.33"}, "1*0156+1*23F"),
        ("MOV (R64, M64)", [GPR, READ], "ZEN4", {"uops": "1", "TP_ports": "0.33"}, "1*23F"),
        (
            "MOV (M64, I32)",
            [WRITTEN, IMMEDIATE],
            "ZEN4",
            {"uops": "1", "TP_ports": "0.56"},
            "1*0156+1*49+1*78",
        ),
        ("MOV (M16, I16)", [WRITTEN, SHORT], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*49+1*78"),
        ("MOVBE (M64, R64)", [WRITTEN], "ZEN4", {"uops": "2", "TP_ports": "0.56"}, "1*0156+1*49+1*78"),
        ("MOVNTI (M64, R64)", [WRITTEN], "ZEN4", {"uops": "1", "TP_ports": "0.50"}, "1*49+1*78"),
        # From a general register to a vector: an ALU of the branches and FP3, beside what is counted.
        ("VMOVQ (XMM, R64)", [YMM, SOURCE], "ZEN4", {"uops": "1", "TP_ports": "1.00"}, "1*06+1*D"),
        ("CVTSI2SD (XMM, R64)", [YMM, SOURCE], "ZEN4", {"uops": "2", "ports": "1*FP23"}, "1*CD+1*06+1*D"),
        ("CVTSI2SD (XMM, R64)", [YMM, SOURCE], "ZEN2", {"uops": "2", "ports": "1*FP23"}, "1*CD"),
    ],
)
def test_units(name, operands, on, figures, ports):
    """Loads, stores and integer operations have their units; the measured pipes keep theirs."""
    result = of(name, *operands, on=on, **figures)
    assert sorted(result["ports"].split("+")) == sorted(ports.split("+"))


def test_a_macro_op_takes_one_slot_with_its_memory_operand():
    result = of("ADD (M64, R64)", GPR, BOTH, uops="1", TP_ports="1.00")
    assert (result["uops_retire_slots"], result["uops_MITE"], result["uops_MS"]) == ("1", "1", "0")


def test_what_neither_loads_nor_computes_has_an_address_alone():
    """A NOP takes no unit, and a prefetch none but that of its address."""
    nop = of("NOP (M64)", READ, category="WIDENOP", uops="1", TP_ports="0.25")
    prefetch = of("PREFETCHT0 (M512)", READ, on="ZEN4", category="PREFETCH", uops="1", TP_ports="0.33")
    assert ("ports" in nop, prefetch["ports"]) == (False, "1*23F")


def test_locked_instructions_have_the_nearest_whole_cycles():
    figures = {"uops": "4", "TP_unrolled": "7.00", "TP_loop": "7.00", "TP_ports": "7.80"}
    found = [of("XADD_LOCK (M64, R64)", BOTH, on=core, **figures)["TP_loop"] for core in ("ZEN3", "ZEN4")]
    assert found == ["7.00", "8"]


def test_more_than_two_macro_ops_are_microcode():
    result = of("CPUID", category="MISC", uops="25", TP_ports="100.00")
    assert (result["uops_MITE"], result["uops_MS"]) == ("2", "23")


def test_moves_and_zero_idioms_need_no_unit():
    assert of("MOV (R64, R64)", GPR, GPR, uops="1", TP_ports="0.25")["uops"] == "0"
    assert of("XOR (R64, R64)", GPR, zero=True, uops="1", TP_ports="0.25")["uops_same_reg"] == "0"
    assert "uops_same_reg" not in of("AND (R64, R64)", GPR, zero=True, uops="1", TP_ports="0.25")


def test_vector_divisions_block_the_divider():
    result = of("VDIVSD (XMM, XMM, XMM)", YMM, uops="1", ports="1*FP3", TP_ports="1.00", TP_loop="5.00")
    assert result["div_cycles"] == "5"


@pytest.mark.parametrize(
    ("name", "published", "slow"),
    [
        ("VDIVSD (XMM, XMM, XMM)", {"ports": "1*FP3", "TP_ports": "1.00", "TP_loop": "4.00"}, "5"),
        ("DIVPD (XMM, M128)", {"TP_ports": "4.00"}, "5"),
        ("VDIVPD (YMM, YMM, YMM)", {"uops": "2", "TP_ports": "8.00"}, "10"),
        ("VDIVSS (XMM, XMM, XMM)", {"ports": "1*FP3", "TP_ports": "1.00", "TP_loop": "3.00"}, "3"),
        ("SQRTPD (XMM, XMM)", {"ports": "1*FP3", "TP_ports": "1.00", "TP_loop": "4.00"}, "4"),
    ],
)
def test_divisions_of_doubles_on_zen_have_slow_operands(name, published, slow):
    """Agner Fog: one in 4 to 5 cycles; the measured loops of the OSACA papers take 4.9."""
    assert of(name, YMM, on="ZEN+", **zen1.corrected(name, published))["div_cycles"] == slow


def test_the_latency_of_a_division_on_zen_is_that_of_slow_operands():
    published = {"start_op": "2", "target_op": "1", "cycles": "8"}
    of_doubles = zen1.corrected_latency("VDIVSD (XMM, XMM, XMM)", published)
    assert (of_doubles["cycles"], zen1.corrected_latency("SQRTSD (XMM, XMM)", published)["cycles"]) == (
        "13",
        "8",
    )


def test_what_fuses_with_branches_depends_on_the_generation():
    figures = {"fusible": "JZ (Rel8)", "uops": "1", "TP_ports": "0.25"}

    def jumps(name, on, *operands):
        found = of(name, *operands, on=on, **figures).get("macro_fusible", "")
        return len({jump.partition(" ")[0] for jump in found.split(";") if jump})

    assert jumps("CMP (R64, R64)", "ZEN2", GPR) == 1
    assert jumps("DEC (R64)", "ZEN2", GPR) == jumps("OR (R64, R64)", "ZEN2", GPR) == 0
    assert jumps("CMP (R64, R64)", "ZEN4", GPR) == jumps("OR (R64, R64)", "ZEN3", GPR) == 16
    assert jumps("DEC (R64)", "ZEN4", GPR) == 12, "not those that read the carry flag"
    assert jumps("CMP (R64, M64)", "ZEN4", GPR, READ) == 0


MASK = OperandFacts(3, "REG0", "reg", written=True, width=64, registers=("K0", "K1"))
OTHER_MASK = replace(MASK, index=2, read=True, written=False)
VECTOR = OperandFacts(3, "REG0", "reg", read=True, written=True, width=128, registers=("XMM0", "XMM1"))
WIDER = OperandFacts(1, "REG1", "reg", read=True, width=256, registers=("YMM0", "YMM1"))


@pytest.mark.parametrize(
    ("name", "operands", "source", "published", "measured"),
    [
        ("KXORW (K, K, K)", (MASK, OTHER_MASK), "2", "0", "1"),
        ("KANDNQ (K, K, K)", (MASK, OTHER_MASK), "2", "0", "1"),
        ("VPCMPGTD_EVEX (K, YMM, YMM)", (MASK, WIDER), "1", "0", "4"),
        ("PSUBUSW (XMM, M128)", (VECTOR,), "3", "0", "2"),
        ("PCMPGTQ (XMM, XMM)", (VECTOR,), "3", "0", "2"),
        ("PCMPGTQ (XMM, XMM)", (VECTOR,), "3", "2", "2"),
        ("ROUNDSD (XMM, XMM, I8)", (VECTOR,), "3", "0", "0"),
    ],
)
def test_two_registers_are_waited_for_where_one_is_not(name, operands, source, published, measured):
    """The published 0 is that of one register twice."""
    latency = {"start_op": source, "target_op": "3", "cycles": published}
    found = measured_latency(latency, microarchitecture="ZEN4", name=name, operands=operands)
    assert found == latency | {"cycles": measured}


def test_a_pipe_that_is_none_is_refused():
    with pytest.raises(ValueError, match="ports"):
        of("VADDPD (XMM, XMM, XMM)", YMM, uops="1", ports="1*p01")


def test_only_amd_is_completed():
    assert [name for name in ("SKL", "ZEN+", "ZEN4", "ADL-P") if is_zen(name)] == ["ZEN+", "ZEN4"]


FLAGS = OperandFacts(3, "REG1", "flags", written=True, flags_written=frozenset("C"))
COUNT = OperandFacts(2, "REG0", "reg", read=True, width=8, registers=("CL",))


@pytest.mark.parametrize(
    ("name", "operands", "published", "measured"),
    [
        ("SHL (R64, CL)", (GPR, COUNT, FLAGS), {"start_op": "2", "cycles": "16"}, {"cycles": "1"}),
        ("SHL (R64, CL)", (GPR, COUNT, FLAGS), {"start_op": "3", "cycles": "0"}, {"cycles": "1"}),
        ("SHL (R64, CL)", (GPR, COUNT, FLAGS), {"start_op": "1", "cycles": "1"}, {"cycles": "1"}),
        (
            "ADD (M64, I8)",
            (GPR, BOTH, FLAGS),
            {"start_op": "2", "cycles_addr": "1", "cycles_addr_index": "1", "cycles_mem": "2"},
            {"cycles_addr": "5", "cycles_addr_index": "5", "cycles_mem": "2"},
        ),
    ],
)
def test_latencies_that_were_measured_on_zen_4(name, operands, published, measured):
    """They replace what was put together from other processors' figures, and nothing of these others."""
    latency = published | {"target_op": "3"}
    for core, expected in (("ZEN3", published), ("ZEN4", measured)):
        found = measured_latency(latency, microarchitecture=core, name=name, operands=operands)
        assert found == latency | expected
