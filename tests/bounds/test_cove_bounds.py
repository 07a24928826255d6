"""Bounds that know the rules of Golden Cove and its descendants (docs/pipeline.md, chapters 6 and 9)."""

from pathlib import Path

import pytest
from cyclelens.analyzer.bounds.registry import compute_bounds
from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.insight.bottlenecks import bottlenecks
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest

MEASURED = Path(__file__).parents[2].parent / "shared" / "measured" / "redwood-cove-dev.csv"
DEC_JNZ = "49ffcf75"
"""dec r15; jnz, without its distance."""
LONG_RUN = 5000
EVERY = 4


def loop(code):
    body = code.replace(" ", "") + DEC_JNZ
    return body + f"{-(len(body) // 2 + 1) & 0xFF:02x}"


LOADS = "488b06 488b5e40 488b8e80000000"
"""mov rax, [rsi]; mov rbx, [rsi+64]; mov rcx, [rsi+128]"""
STORES = "488906 48895e40 48898680000000"


@pytest.mark.parametrize(
    ("code", "name", "bound", "expected"),
    [
        (LOADS, "GNR", "Loads", 1.5),
        (LOADS + "4883c640", "GNR", "Loads", 1.5),  # add rsi, 64: the same words of other lines
        ("488b06 488b5e08 488b4e10 4883c608", "GNR", "Loads", 1.5 / 8),  # by 8: each word once in 8 rounds
        ("488b06 488b1f 488b09", "GNR", "Loads", 0.5),  # through three pointers
        ("58 5b 59", "GNR", "Loads", 1.5 / 8),  # pop rax; pop rbx; pop rcx: the stack moves by 24
        ("488b0500000000 488b1d00100000 488b0d00200000", "GNR", "Loads", 0.5),  # of three symbols
        ("488b0500000000 488b1d00000000 488b0d00000000", "GNR", "Loads", 1.5),
        (LOADS, "ARL", "Loads", None),
        (LOADS, "ICL", "Loads", None),
        (STORES, "GNR", "Stores", 3.0),
        ("488906 48895e08 48898680000000", "GNR", "Stores", 2.0),
        ("488906 48894640 48894648 48894650", "GNR", "Stores", 3.0),  # A B B B
        ("488906 4883c608", "GNR", "Stores", 0.5),  # mov [rsi], rax; add rsi, 8
        ("488906 4883c640", "GNR", "Stores", 1.0),  # add rsi, 64
        ("62f17c481106", "GNR", "Stores", 1.0),  # 64 bytes
        ("488906 48891f", "GNR", "Stores", 2.0),  # through two pointers
        ("eb00 eb00 eb00 eb00 eb00", "GNR", "DSB", 2.0),  # five jmp and the loop's own, three per cycle
        ("7500 7500 7500 7500 7500", "GNR", "DSB", 0.75),  # branches that are not taken: six uops
        ("488906 488b06 480fafc0", "GNR", "Dependencies", 3.0),  # renamed, and imul
        ("8b442468 4883e801 89442468", "GNR", "Dependencies", 7.0),  # 32 bits of rax, which is owed -1
        ("480106", "GNR", "Dependencies", 7.0),  # add [rsi], rax: forwarded a cycle late
        ("488b04de 480fafc1 488904de", "GNR", "Dependencies", 8.0),  # with an index
        ("50 5b 4801d8 480fafc0", "GNR", "Dependencies", 4.0),  # push rax; pop rbx; add rax, rbx; imul
        ("50 51 5b 5a 480fafc2", "GNR", "Dependencies", 3.0),  # push rax, rcx; pop rbx, rdx; imul rax, rdx
        ("4883c101 c4e2f1f7c0", "GNR", "Dependencies", 3.0),  # add rcx, 1; shlx rax, rax, rcx
        ("488936 488b36", "GNR", "Dependencies", 1.0),  # mov [rsi], rsi; mov rsi, [rsi]: only the counter
    ],
)
def test_bounds_of_loops(build, code, name, bound, expected):
    block, model = build(loop(code), name, loop=True)
    assert compute_bounds(block, model, None).get(bound) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (LOADS, "Loads"),
        (STORES, "Stores"),
        ("480106", "Dependencies"),
        ("488906 488b06 480fafc0", "Dependencies"),
        ("4883c101 c4e2f1f7c0", "Dependencies"),
    ],
)
def test_what_limits_is_named(build, code, name):
    block, model = build(loop(code), "GNR", loop=True)
    simulation = simulate(block, model)
    assert bottlenecks(compute_bounds(block, model, simulation), simulation) == (name,)


def test_stores_through_pointers_that_may_be_equal_may_leave_together(build):
    block, model = build("48890648891f", "GNR")
    assert compute_bounds(block, model, None)["Stores"] == 2.0
    assert compute_bounds(block, model, None, apart=False)["Stores"] == 1.0


def test_a_lsd_without_borders_is_as_fast_as_the_renamer(build):
    """Seven NOPs, and a move that shares its slot (A4) before an addition."""
    block, model = build(loop(7 * "90" + "4889c8 4801d0"), "MTL", loop=True)
    bounds = compute_bounds(block, model, None)
    assert bounds["LSD"] == bounds["Issue"] == pytest.approx(9 / 6)


@pytest.mark.skipif(not MEASURED.exists(), reason="measured blocks are not at hand")
@pytest.mark.parametrize(
    ("name", "assume"), [("GNR", Pointers.DIFFERENT), ("SPR", Pointers.SAME), ("MTL", Pointers.STACK)]
)
def test_no_figure_beats_a_bound(name, assume):
    builder = BlockBuilder(ModelOptions(assume=assume))
    model = registry.get(name)
    for sample in read_samples(MEASURED, Selection((name,)))[::EVERY]:
        block, simulation = builder.simulate(sample, model)
        limits = compute_bounds(block, model, simulation, apart=assume is Pointers.DIFFERENT)
        if simulation.cycles_per_iteration < max(limits.values()) - 0.005:
            longer = simulate(
                block, model, request=RunRequest(min_cycles=LONG_RUN), options=ModelOptions(assume=assume)
            )
            assert longer.cycles_per_iteration >= 0.997 * max(limits.values()) - 0.005, sample.code
