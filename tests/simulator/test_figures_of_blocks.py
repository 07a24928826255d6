"""Cycles per iteration of small blocks on several microarchitectures, as the uiCA model has them.

Each line is one mechanism. Figures are cycles per iteration, rounded to two decimals.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from msgspec import Struct
from testkit.simulated import cycles, simulated


class Case(Struct, frozen=True):
    name: str
    code: str
    figures: str
    """``NAME=cycles``, separated by spaces."""


NOP = "90"
LONG_NOP = "0f1f840000000000"
DEC_JNZ = "49ffcf75"
"""dec r15; jnz with its displacement to follow."""

CASES = [
    Case("chain of two additions", "4801d84801c3" + DEC_JNZ + "f5", "SNB=2 HSW=2 SKL=2 CLX=2 ICL=2 RKL=2"),
    Case("counter alone", "48ffc975fb", "SNB=1 IVB=1 HSW=1 CLX=1 SKL=1 ICL=1"),
    Case("pair with an addition", "4801d875fb", "SKL=1"),
    Case(
        "6 nops, loop",
        NOP * 6 + DEC_JNZ + "f5",
        "SNB=2 IVB=2 HSW=1.75 CLX=2 ICL=1.5 RKL=1.5",
    ),
    Case("8 nops, loop", NOP * 8 + DEC_JNZ + "f3", "SNB=3 IVB=3 HSW=2.33 CLX=2.33 ICL=2 SKL=2.25"),
    Case(
        "four independent additions, loop",
        "4883c0014883c3014883c1014883c201" + DEC_JNZ + "eb",
        "IVB=2 HSW=1.42 CLX=1.44 ICL=1.52",
    ),
    Case("18 uops in 32 bytes", NOP * 17 + DEC_JNZ + "ea", "SKL=4.5 HSW=4.5 ICL=4"),
    Case("19 uops in 32 bytes", NOP * 18 + DEC_JNZ + "e9", "SKL=5 HSW=6 BDW=6 ICL=4"),
    Case("25 uops in 32 bytes", NOP * 24 + DEC_JNZ + "e3", "SKL=7 HSW=8 ICL=5"),
    Case("pair over the 32-byte boundary", NOP * 28 + DEC_JNZ + "df", "SNB=9 IVB=9 HSW=9 SKL=8 CLX=8 ICL=6"),
    Case(
        "second half of a line too full",
        LONG_NOP * 4 + NOP * 24 + DEC_JNZ + "c3",
        "HSW=9 BDW=9 SKL=8 KBL=8 CLX=8 ICL=6",
    ),
    Case(
        "64-bit immediates",
        "48b8f0debc9a7856341248bbf0debc9a7856341248b9f0debc9a78563412" + DEC_JNZ + "dd",
        "HSW=1 SKL=3 ICL=1",
    ),
    Case("addition, unrolled", "4801d8", "SKL=1"),
    Case("nop, unrolled", NOP, "SNB=0.25 SKL=0.25 ICL=0.25"),
    Case("15-byte nop, unrolled", "6666666666662e0f1f840000000000", "SKL=0.94"),
    Case("length-changing prefix, unrolled", "6605341249ffcf", "SNB=3.42 HSW=3.42 SKL=3.42 ICL=3.42"),
    Case("length-changing prefix, loop", "6605341249ffcf75f7", "HSW=1 SKL=1 ICL=1"),
    Case("decoders and 16-byte blocks", "4183ff0119c083e00885c98945c4b8010000000f4fc139c2", "SKL=3.01"),
    Case("mov both ways, loop", "4889d84889c3" + DEC_JNZ + "f5", "SNB=2 IVB=1 HSW=1 SKL=1 ICL=2 RKL=1"),
    Case("movaps both ways, loop", "0f28c10f28c8" + DEC_JNZ + "f5", "SNB=3 IVB=2 HSW=1 SKL=1 ICL=1"),
    Case(
        "four moves, unrolled",
        "4889d84889d14889fe4d89c8",
        "SNB=1.33 IVB=1.25 HSW=1.25 SKL=1.25 ICL=1.25 RKL=1.25",
    ),
    Case("movzx from a low byte, loop", "88d80fb6c84801c848ffca75f3", "HSW=2"),
    Case("movzx from SPL, loop", "4088dc400fb6cc4801c848ffca75f1", "HSW=1.38"),
    Case("pointer chase", "488b00", "SNB=4 HSW=4 SKL=4 ICL=5"),
    Case("pointer chase, displacement 2047", "488b80ff070000", "SKL=4"),
    Case("pointer chase, displacement 2048", "488b8000080000", "SKL=5"),
    Case("pointer chase, index", "488b0418", "SKL=5 ICL=5"),
    Case("pointer chase through an addition", "488b004883c008", "HSW=6 SKL=6"),
    Case("store, then load", "48890424488b0424", "SNB=5 HSW=5 SKL=5 ICL=0.5"),
    Case("push, then pop", "5058", "SNB=5 HSW=5 SKL=5 ICL=0.5"),
    Case("read-modify-write", "48830601", "SNB=6 HSW=6 SKL=6 ICL=10"),
    Case("push, load from the stack, pop", "50488b5c240859", "HSW=1 SKL=1 ICL=1"),
    Case("pop of r12", "415c415d415e415f", "HSW=2 SKL=2 ICL=2"),
    Case("high byte and merge, loop", "88dc01c80fb6d449ffc875f4", "HSW=2 SKL=2 ICL=4.09"),
    Case("both bytes, then all", "00d800dc89c1", "IVB=3 SKL=3 ICL=4"),
    Case("four high bytes", "0fb757120fb7461280e67f80e47fc1ea02c1e80239c2", "IVB=5 SKL=5"),
    Case("division, 64 bits", "48f7f1", "HSW=30 SKL=32 ICL=18"),
    Case(
        "division beside a multiplication, loop",
        "31d289f0f7f14d0fafc149ffca75f1",
        "HSW=9 SKL=7 ICL=6",
    ),
    Case("two vector divisions", "0f5ec10f5ed3", "SKL=11"),
    Case("locked addition", "f00106", "SKL=18 ICL=21"),
    Case("exchange with memory", "488706", "SKL=19"),
    Case("shift by CL", "48d3e0", "SNB=2 HSW=2 SKL=2 ICL=2"),
    Case("cmovbe", "4839d8480f46ca", "HSW=1.99 SKL=1 ICL=1"),
    Case("cmovg and sete, loop", "4839d8480f4fca0f94c04d01c849ffca75ee", "HSW=2.83 SKL=2.03 ICL=2"),
    Case("zero idiom leaves the carry", "31c04811c3", "SKL=1"),
    Case("addresses of three parts", "488d444b08488d54b020", "SNB=2 SKL=2 ICL=1"),
    Case("three operands, indexed load", "c5f458043e", "SNB=1 HSW=1 SKL=0.5 ICL=0.5"),
    Case("two operands, indexed load", "4803043e", "SNB=1 HSW=1 SKL=1 ICL=1"),
    Case("indexed store", "4889043e", "SNB=1 HSW=1 SKL=1 ICL=0.5"),
    Case("two 256-bit loads", "c5fc2806c5fc280f", "SNB=2 HSW=1"),
    Case("256-bit store", "c5fc2906", "SNB=2 HSW=1 SKL=1"),
    Case("two stores to one line", "48890648895e08", "ICL=1 SKL=2"),
    Case("two stores through two registers", "48890648891f", "ICL=2 SKL=2"),
    Case("512-bit code", "62f17548fec2c5ddfeddc4c145fef0", "SKX=1.5 CLX=1.5 ICL=1.5"),
    Case("microcode behind the DSB", "48f726fc" + DEC_JNZ + "f7", "HSW=7 SKL=6 ICL=5"),
    Case("microcode behind the decoders", "4889d8fc4889d1", "SKL=5"),
    Case("fences, loop", "4803060faee848031f0faef848ffc975ef", "HSW=15 SKL=15 ICL=15"),
    Case("full fence", "488b060faef0488b1f", "SKL=41"),
    Case("cpuid", "0fa2", "SKL=115"),
    Case("four pushes", "50505050", "SKL=4"),
    Case("four pops", "585b595a", "SKL=2"),
    Case("call and pop", "e80000000058", "SKL=2"),
    Case("unknown instruction", "0f0b", "SKL=0.25"),
    Case("load and store", "48030648891f", "HSW=1 SKL=1"),
    Case("sub and adc, loop", "4801d84829c34811d848ffc975f2", "HSW=4 SKL=3 ICL=3"),
    Case("carry chain, loop", "4801d84819d14d11c849ffca75f2", "HSW=2.11 SKL=1.54 ICL=1.85"),
    Case("load, add, store, loop", "488b064801d848890748ffc975f2", "HSW=1 SKL=1 ICL=1"),
    Case("two stores and a pointer, loop", "48890748895f084883c71048ffc975f0", "HSW=2 SKL=2 ICL=1.07"),
    Case("shifts, loop", "48d3e048d1cb48c1fa0349ffc875f1", "HSW=3.49 SKL=3.49 ICL=3"),
    Case("vector integers, loop", "660f6fc1660fd4c2660fefd848ffc975ef", "HSW=1 SKL=1 ICL=1.04"),
    Case("vector arithmetic, loop", "c5f458c2c5dc59ddc5cdeff048ffc975ef", "HSW=1.1 SKL=1.04 ICL=1.08"),
    Case("pointer chase and sum, loop", "488b004801d848ffc975f5", "HSW=6"),
    Case(
        "conversions of equal registers",
        "f20f5ad2660f7ed089c2f30f5ad283e03f83e2c0f20f58d10f28c2f20f59d2f20f59e281c2c01f0000f20f59dac1e21166"
        "0f6ecaf20f59e2f20f59c3f20f58c4f20f5904c6f20f5804c6f20f5ac0f30f59c1",
        "IVB=17",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cycles_per_iteration(case: Case) -> None:
    """The figure of every microarchitecture listed."""
    expected = {name: float(value) for name, value in (pair.split("=") for pair in case.figures.split())}
    assert {name: cycles(case.code, name, options=PUBLISHED) for name in expected} == expected


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("488906", {"diff": 1, "same": 5, "stack": 5}),
        ("48894500", {"diff": 1, "same": 5, "stack": 1}),
        ("48890424", {"diff": 1, "same": 5, "stack": 1}),
    ],
    ids=["rsi", "rbp", "rsp"],
)
def test_initial_registers(store: str, expected: dict[str, float]) -> None:
    """4.2: whether a store and a load through RDI meet depends on what the registers hold at the start."""
    load = "488b07"
    found = {
        policy: cycles(store + load, "SKL", options=ModelOptions(assume=Pointers(policy)))
        for policy in expected
    }
    assert found == expected


CHAIN = "4801d84801c3" + DEC_JNZ + "f5"


def test_alignment_of_a_loop_on_skylake() -> None:
    """J2, Q2, A1: at nine offsets the JCC erratum sends the loop through the decoders; at offset 55 the
    branch begins a line and does not fuse."""
    results = {alignment: simulated(CHAIN, "SKL", alignment=alignment) for alignment in range(64)}
    decoded = {offset for offset, result in results.items() if result.first_sources[0] == "MITE"}
    apart = {offset for offset, result in results.items() if sum(usage.issued for usage in result.usage) == 4}
    assert decoded == {21, 22, 23, 24, 25, 53, 54, 56, 57}
    assert apart == {55}
    assert {result.cycles_per_iteration for result in results.values()} == {2.0}


def test_alignment_of_a_loop_on_ice_lake() -> None:
    """A1: without the erratum only the offset counts at which the branch begins a line."""
    issued = {
        alignment: sum(usage.issued for usage in simulated(CHAIN, "ICL", alignment=alignment).usage)
        for alignment in (0, 24, 54, 55, 56)
    }
    assert issued == {0: 3, 24: 3, 54: 3, 55: 4, 56: 3}


@pytest.mark.parametrize(
    ("code", "sources"),
    [
        (NOP * 17 + DEC_JNZ + "ea", {"SKL": "DSB", "HSW": "LSD", "ICL": "LSD"}),
        (NOP * 18 + DEC_JNZ + "e9", {"SKL": "MITE", "HSW": "MITE", "BDW": "MITE", "ICL": "LSD"}),
        (LONG_NOP * 4 + NOP * 24 + DEC_JNZ + "c3", {"HSW": "DSB MITE", "SKL": "MITE", "CLX": "MITE"}),
        ("505b4801cb48ffca75f6", {"HSW": "DSB"}),
        ("48d3e0" + DEC_JNZ + "f8", {"SKL": "DSB"}),
        ("88dc01c80fb6d449ffc875f4", {"HSW": "DSB", "ICL": "DSB"}),
        ("6605341249ffcf", {"SKL": "MITE", "ICL": "MITE"}),
    ],
    ids=["18 uops", "19 uops", "second half too full", "stack", "shift by CL", "high byte", "unrolled"],
)
def test_front_end_source(code: str, sources: dict[str, str]) -> None:
    """Q1, Q4, Q5, N1, S1: which part of the front end delivers."""
    found = {
        name: " ".join(sorted({source for source in simulated(code, name).first_sources if source}))
        for name in sources
    }
    assert found == sources
