"""Bounds and bottlenecks of the worked examples for the uiCA model, by name of the mechanism.

Figures only; each row is code, microarchitectures and what is expected there.
"""

import pytest
from cyclelens.analyzer.bounds.dependencies import critical_chains
from cyclelens.analyzer.bounds.registry import compute_bounds
from cyclelens.analyzer.insight.bottlenecks import bottlenecks
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.simulator import simulate

UNROLLED_BOUNDS = [
    ("lcp stall", "6605341249ffcf", "SKL", {"Predecoder": 3.4375}),
    ("predecoder", "4183ff0119c083e00885c98945c4b8010000000f4fc139c2", "SKL", {"Predecoder": 3.0}),
    ("short instruction", "4801d8", "SKL", {"Predecoder": 0.3125}),
    ("same-register conversions",
     "f20f5ad2660f7ed089c2f30f5ad283e03f83e2c0f20f58d10f28c2f20f59d2f20f59e281c2c01f0000f20f59dac1e211660f6e"
     "caf20f59e2f20f59c3f20f58c4f20f5904c6f20f5804c6f20f5ac0f30f59c1",
     "IVB", {"Dependencies": 14.0, "Ports": 9.0}),
    ("pop r12 ends the group", "415c415d415e415f", "HSW", {"Decoder": 2.0}),
    ("pop r12 does not end the group", "415c415d415e415f", "SKL", {"Decoder": 1.0}),
    ("indexed load unlaminated", "4803043e", "SNB", {"Issue": 0.5}),
    ("indexed load kept fused", "4803043e", "HSW", {"Issue": 0.25}),
    ("indexed load on a wider machine", "4803043e", "ICL", {"Issue": 0.2}),
    ("indexed store unlaminated", "4889043e", "SNB", {"Issue": 0.5}),
    ("indexed store kept fused", "4889043e", "SKL", {"Issue": 0.25}),
    ("three-operand indexed load", "c5f458043e", "SKL", {"Issue": 0.5}),
    ("three-operand indexed load", "c5f458043e", "ICL", {"Issue": 0.4}),
]  # fmt: skip

LOOP_BOUNDS = [
    ("chain of two", "4801d84801c349ffcf75f5", "SNB", {"LSD": 1.0, "Dependencies": 2.0}),
    ("chain of two", "4801d84801c349ffcf75f5", "HSW", {"LSD": 0.75, "Dependencies": 2.0}),
    ("chain of two", "4801d84801c349ffcf75f5", "CLX", {"LSD": 5 / 6}),
    ("chain of two", "4801d84801c349ffcf75f5", "ICL", {"LSD": 2 / 3, "Issue": 0.6}),
    ("chain of two", "4801d84801c349ffcf75f5", "SKL", {"DSB": 1.0, "Issue": 0.75}),
    ("one addition", "4801d875fb", "SKL", {"DSB": 1.0, "Issue": 0.25, "Dependencies": 1.0, "Ports": 1.0}),
    ("flag chain", "4801d84819d14d11c849ffca75f2", "HSW", {"Dependencies": 2.0}),
    ("pointer chasing and addition", "488b004801d848ffc975f5", "HSW", {"Dependencies": 6.0}),
    ("conditional move and flags", "4839d8480f4fca0f94c04d01c849ffca75ee", "HSW", {"Dependencies": 2.0}),
    ("conditional move and flags", "4839d8480f4fca0f94c04d01c849ffca75ee", "ICL", {"Dependencies": 2.0}),
    ("high-8 merge", "88dc01c80fb6d449ffc875f4", "ICL", {"Dependencies": 4.0}),
    ("too many uops for the uop cache", "90" * 18 + "49ffcf75e9", "HSW", {"Decoder": 5.0}),
]

ISSUE_BY_ALIGNMENT = [("SKL", 0, 0.75), ("SKL", 55, 1.0), ("ICL", 0, 0.6), ("ICL", 55, 0.8)]

# Cycles per iteration and bottlenecks, each with the microarchitectures that share them.
LOOPS = {
    "4801d84801c349ffcf75f5": {"SNB HSW SKL CLX ICL RKL": (2.00, "Dependencies")},
    "48ffc975fb": {
        "SNB IVB": (1.00, "Dependencies LSD Ports"),
        "HSW CLX": (1.00, "Dependencies Ports"),
        "SKL": (1.00, "DSB Dependencies Ports"),
        "ICL": (1.00, "Dependencies"),
    },
    "90" * 6 + "49ffcf75f5": {
        "SNB IVB": (2.00, "LSD"), "HSW": (1.75, "Issue LSD"), "CLX": (2.00, "LSD"), "ICL RKL": (1.50, "LSD"),
    },
    "90" * 8 + "49ffcf75f3": {
        "SNB IVB": (3.00, "LSD"), "HSW CLX": (2.33, "LSD"), "ICL": (2.00, "LSD"), "SKL": (2.25, "Issue"),
    },
    "4883c0014883c3014883c1014883c20149ffcf75eb": {
        "IVB": (2.00, "LSD Scheduling"),
        "HSW": (1.42, "Scheduling"),
        "CLX": (1.44, "Scheduling"),
        "ICL": (1.52, "unknown"),
    },
    "90" * 17 + "49ffcf75ea": {"SKL": (4.50, "Issue"), "HSW": (4.50, "Issue LSD"), "ICL": (4.00, "LSD")},
    "90" * 18 + "49ffcf75e9": {
        "SKL": (5.00, "Decoder Predecoder"), "HSW BDW": (6.00, "unknown"), "ICL": (4.00, "LSD"),
    },
    "90" * 24 + "49ffcf75e3": {
        "SKL": (7.00, "Decoder"), "HSW": (8.00, "unknown"), "ICL": (5.00, "Issue LSD"),
    },
    "90" * 28 + "49ffcf75df": {
        "SNB IVB HSW": (9.00, "unknown"), "SKL CLX": (8.00, "Decoder Predecoder"), "ICL": (6.00, "LSD"),
    },
    "0f1f840000000000" * 4 + "90" * 24 + "49ffcf75c3": {
        "HSW BDW": (9.00, "unknown"), "SKL KBL CLX": (8.00, "Decoder Predecoder"), "ICL": (6.00, "LSD"),
    },
    "48b8f0debc9a7856341248bbf0debc9a7856341248b9f0debc9a7856341249ffcf75dd": {
        "HSW": (1.00, "Dependencies Issue LSD Ports"), "SKL": (3.00, "Predecoder"),
        "ICL": (1.00, "Dependencies Ports"),
    },
    "4889d84889c349ffcf75f5": {
        "SNB": (2.00, "Dependencies"), "IVB": (1.00, "Dependencies LSD Ports"),
        "HSW": (1.00, "Dependencies Ports"), "SKL": (1.00, "DSB Dependencies Ports"),
        "ICL": (2.00, "Dependencies"), "RKL": (1.00, "Dependencies"),
    },
    "0f28c10f28c849ffcf75f5": {
        "SNB": (3.00, "Ports"), "IVB": (2.00, "Ports"), "HSW": (1.00, "Dependencies Ports"),
        "SKL": (1.00, "DSB Dependencies Ports"), "ICL": (1.00, "Dependencies"),
    },
    "4801d84819d14d11c849ffca75f2": {
        "HSW": (2.11, "unknown"), "SKL": (1.54, "Scheduling"), "ICL": (1.85, "unknown"),
    },
    "4801d875fb": {"SKL": (1.00, "DSB Dependencies Ports")},
    "88dc01c80fb6d449ffc875f4": {"HSW SKL": (2.00, "unknown"), "ICL": (4.09, "unknown")},
    "31d289f0f7f14d0fafc149ffca75f1": {
        "HSW": (9.00, "Divider"), "SKL": (7.00, "unknown"), "ICL": (6.00, "Divider"),
    },
    "48f726fc49ffcf75f7": {"HSW": (7.00, "unknown"), "SKL": (6.00, "unknown"), "ICL": (5.00, "unknown")},
    "4803060faee848031f0faef848ffc975ef": {"HSW SKL ICL": (15.00, "unknown")},
    "4839d8480f4fca0f94c04d01c849ffca75ee": {
        "HSW": (2.83, "unknown"), "SKL": (2.03, "Dependencies"), "ICL": (2.00, "Dependencies"),
    },
    "4801d84829c34811d848ffc975f2": {"HSW": (4.00, "Dependencies"), "SKL ICL": (3.00, "Dependencies")},
    "488b064801d848890748ffc975f2": {
        "HSW": (1.00, "Dependencies Issue LSD Ports"), "SKL": (1.00, "DSB Dependencies Issue Ports"),
        "ICL": (1.00, "Dependencies"),
    },
    "48890748895f084883c71048ffc975f0": {"HSW SKL": (2.00, "Ports"), "ICL": (1.07, "unknown")},
    "48d3e048d1cb48c1fa0349ffc875f1": {"HSW SKL": (3.49, "Ports"), "ICL": (3.00, "Ports")},
    "660f6fc1660fd4c2660fefd848ffc975ef": {
        "HSW": (1.00, "Dependencies Issue LSD Ports"), "SKL": (1.00, "DSB Dependencies Issue Ports"),
        "ICL": (1.04, "unknown"),
    },
    "c5f458c2c5dc59ddc5cdeff048ffc975ef": {
        "HSW": (1.10, "Scheduling"), "SKL": (1.04, "Scheduling"), "ICL": (1.08, "Scheduling"),
    },
}  # fmt: skip

UNROLLED = {
    "4801d8": {"SKL": (1.00, "Dependencies")},
    "90": {"SKL SNB": (0.25, "Decoder Issue Predecoder"), "ICL": (0.25, "Decoder Predecoder")},
    "6666666666662e0f1f840000000000": {"SKL": (0.94, "Predecoder")},
    "4183ff0119c083e00885c98945c4b8010000000f4fc139c2": {"SKL": (3.01, "Predecoder")},
    "4889d84889d14889fe4d89c8": {"SNB": (1.33, "Ports"), "IVB HSW SKL ICL RKL": (1.25, "Predecoder")},
    "488b00": {"SNB HSW SKL": (4.00, "Dependencies"), "ICL": (5.00, "Dependencies")},
    "488b80ff070000": {"SKL": (4.00, "Dependencies")},
    "488b8000080000": {"SKL": (5.00, "Dependencies")},
    "488b0418": {"SKL ICL": (5.00, "Dependencies")},
    "488b004883c008": {"HSW SKL": (6.00, "Dependencies")},
    "48890424488b0424": {"SNB HSW SKL": (5.00, "unknown"), "ICL": (0.50, "Decoder Ports Predecoder")},
    "5058": {"SNB HSW SKL": (5.00, "unknown"), "ICL": (0.50, "Decoder Ports Predecoder")},
    "48830601": {"SNB HSW": (6.00, "Dependencies"), "SKL": (6.00, "unknown"), "ICL": (10.00, "Dependencies")},
    "50488b5c240859": {"HSW SKL ICL": (1.00, "Ports")},
    "415c415d415e415f": {"HSW": (2.00, "Decoder Ports"), "SKL ICL": (2.00, "Ports")},
    "00d800dc89c1": {"IVB SKL": (3.00, "Dependencies"), "ICL": (4.00, "Dependencies")},
    "48f7f1": {
        "HSW": (30.00, "Dependencies"),
        "SKL": (32.00, "Dependencies"),
        "ICL": (18.00, "Dependencies"),
    },
    "0f5ec10f5ed3": {"SKL": (11.00, "Dependencies")},
    "f00106": {"SKL": (18.00, "Dependencies"), "ICL": (21.00, "Dependencies")},
    "488706": {"SKL": (19.00, "unknown")},
    "48d3e0": {"SNB HSW SKL": (2.00, "Dependencies"), "ICL": (2.00, "unknown")},
    "4839d8480f46ca": {"HSW": (1.99, "Decoder"), "SKL ICL": (1.00, "Decoder Dependencies Ports")},
    "31c04811c3": {"SKL": (1.00, "Dependencies")},
    "488d444b08488d54b020": {"SNB SKL": (2.00, "Ports"), "ICL": (1.00, "Ports")},
    "c5f458043e": {"SNB HSW": (1.00, "Ports"), "SKL": (0.50, "Issue Ports"), "ICL": (0.50, "Ports")},
    "4803043e": {"SNB HSW SKL ICL": (1.00, "Dependencies")},
    "4889043e": {"SNB HSW SKL": (1.00, "Ports"), "ICL": (0.50, "Ports")},
    "c5fc2806c5fc280f": {"SNB": (2.00, "unknown"), "HSW": (1.00, "Ports")},
    "c5fc2906": {"SNB": (2.00, "unknown"), "HSW SKL": (1.00, "Ports")},
    "48890648895e08": {"ICL": (1.00, "Ports"), "SKL": (2.00, "Ports")},
    "48890648891f": {"ICL": (2.00, "unknown"), "SKL": (2.00, "Ports")},
    "62f17548fec2c5ddfeddc4c145fef0": {"SKX CLX ICL": (1.50, "Ports")},
    "488b060faef0488b1f": {"SKL": (41.00, "unknown")},
    "0fa2": {"SKL": (115.00, "unknown")},
    "50505050": {"SKL": (4.00, "Ports")},
    "585b595a": {"SKL": (2.00, "Ports")},
    "e80000000058": {"SKL": (2.00, "Decoder")},
    "0f0b": {"SKL": (0.25, "Decoder Issue Predecoder")},
    "48030648891f": {"HSW SKL": (1.00, "Dependencies Ports")},
    "0fb757120fb7461280e67f80e47fc1ea02c1e80239c2": {"IVB SKL": (5.00, "unknown")},
}


def cases(table):
    return [
        pytest.param(code, microarchitecture, *expected, id=f"{code[:24]}-{microarchitecture}")
        for code, figures in table.items()
        for names, expected in figures.items()
        for microarchitecture in names.split()
    ]


def check_bounds(block, model, expected):
    bounds = compute_bounds(block, model, None)
    assert {name: bounds.get(name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(("name", "code", "microarchitecture", "expected"), UNROLLED_BOUNDS)
def test_bounds_of_unrolled_blocks(build, name, code, microarchitecture, expected):
    block, model = build(code, microarchitecture)
    check_bounds(block, model, expected)


@pytest.mark.parametrize(("name", "code", "microarchitecture", "expected"), LOOP_BOUNDS)
def test_bounds_of_loops(build, name, code, microarchitecture, expected):
    block, model = build(code, microarchitecture, loop=True)
    check_bounds(block, model, expected)


@pytest.mark.parametrize(("microarchitecture", "alignment", "expected"), ISSUE_BY_ALIGNMENT)
def test_a_jump_at_the_start_of_a_line_is_not_fused(build, microarchitecture, alignment, expected):
    block, model = build("4801d84801c349ffcf75f5", microarchitecture, loop=True, alignment=alignment)
    check_bounds(block, model, {"Issue": expected})


def check_prediction(block, model, cycles, names):
    simulation = simulate(block, model, options=PUBLISHED)
    assert simulation.cycles_per_iteration == pytest.approx(cycles)
    assert " ".join(bottlenecks(compute_bounds(block, model, simulation), simulation)) == names


@pytest.mark.parametrize(("code", "microarchitecture", "cycles", "names"), cases(LOOPS))
def test_bottlenecks_of_loops(build, code, microarchitecture, cycles, names):
    block, model = build(code, microarchitecture, loop=True)
    check_prediction(block, model, cycles, names)


@pytest.mark.parametrize(("code", "microarchitecture", "cycles", "names"), cases(UNROLLED))
def test_bottlenecks_of_unrolled_blocks(build, code, microarchitecture, cycles, names):
    block, model = build(code, microarchitecture)
    check_prediction(block, model, cycles, names)


def test_the_critical_chain_names_its_instructions(build):
    # mov rax, [rsi]; add rax, rbx; add rbx, rax; dec r15; jnz
    block, model = build("488b064801d84801c349ffcf75f2", "SKL", loop=True)
    critical = critical_chains(block, model)
    assert critical.cycles_per_iteration == 2
    (chain,) = critical.chains
    assert sorted((step.instruction, step.value) for step in chain) == [(1, "rax"), (2, "rbx")]
