"""AMD's cores: throughputs and latencies that AMD documents, and the mark that they are approximate."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.reports.registry import FORMATS, render
from testkit.blocks import in_a_loop
from testkit.simulated import column, cycles

NAMES = ("ZEN", "ZEN+", "ZEN2", "ZEN3", "ZEN4")
TEXT = """# cyclelens-begin add arch=ZEN2
.L: addq %rax, %rbx
    dec %rcx
    jnz .L
# cyclelens-end
"""


@pytest.mark.parametrize(
    ("kernel", "code", "expected"),
    [
        ("chain of add", "4801c0", (1, 1, 1, 1, 1)),
        ("12 independent add", 3 * "4801f04801f34801f14801f2", (3, 3, 3, 3, 3)),
        ("4 imul", "480fafc6480fafde480fafce480fafd6", (4, 4, 4, 4, 4)),
        ("6 loads", 2 * "488b06488b1e488b0e", (3, 3, 3, 2, 2)),
        ("2 stores", "48890648895e08", (2, 2, 2, 1, 1)),
        ("mov rax, [rax]", "488b00", (4, 4, 4, 4, 4)),
        ("chain of vaddpd", "c5fd58c0", (3, 3, 3, 3, 3)),
        ("4 vaddpd ymm", "c5f558d0c5f558d8c5f558e0c5f558e8", (4, 4, 2, 2, 2)),
        ("4 eliminated moves, as many as are decoded", "4889c34889d94889c24889d6", (1, 1, 1, 1, 1)),
    ],
)
def test_documented_throughput(kernel: str, code: str, expected: tuple[float, ...]) -> None:
    """Cycles of the code repeated end to end, on each of the cores."""
    for name, figure in zip(NAMES, expected, strict=True):
        assert cycles(code, name, loop=False) == pytest.approx(figure, rel=0.1), name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("chains", ["4801c0", "4801c04801db"])
def test_chains_of_a_short_loop_do_not_meet(chains: str, name: str) -> None:
    """ZN4: one or two chains of ADD, the counter's chain and a branch fit into a cycle of four ALUs. They
    take longer where two chains are bound to the same ALU round after round."""
    assert cycles(chains, name, loop=True) == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_units_that_equally_few_wait_for_take_turns(name: str) -> None:
    """ZN4: a chain of ADD goes round the four ALUs."""
    assert column("4801c0", name, "port", rounds=6) == ["ALU0", "ALU1", "ALU2", "ALU3", "ALU0", "ALU1"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("4893486bc003", 1.5),  # xchg rax, rbx; imul rax, rax, 3: half of each chain per iteration
        ("48934893486bc003", 3.0),  # exchanged twice
        ("6693660fafc0", 4.0),  # xchg ax, bx; imul ax, ax
        ("48934887ca", 1.0),  # two exchanges, and the end of the loop
    ],
)
def test_an_exchange_of_registers_renames_them(code: str, expected: float, name: str) -> None:
    """uops.info: no cycles from either register to either on Zen+ and Zen 2, and 0.33 cycles each; with 16
    bits one cycle. Agner Fog: two macro-ops, no latency."""
    assert cycles(in_a_loop(code), name, loop=True) == pytest.approx(expected, abs=0.02)


ADDS = 2 * "4801de4801df4901d84901d94901da4901db4901dc4901dd"
"""16 adds to eight registers."""


@pytest.mark.parametrize("name", NAMES)
def test_a_division_of_vectors_takes_nothing_from_the_alus(name: str) -> None:
    """Z3: a division leaves through a floating-point pipe: 17 instructions, four decoded a cycle."""
    assert cycles("c5f05ec2" + ADDS, name, loop=False) == 4.25


@pytest.mark.parametrize(
    ("name", "expected"), [("ZEN2", 2), ("ZEN3", 2), ("ZEN4", 2), ("ZEN5", 1), ("ICL", 2)]
)
def test_two_stores_through_two_pointers(name: str, expected: float) -> None:
    """Z1, M24: on Zen 5 two stores a cycle, wherever they go; elsewhere only if near each other."""
    assert cycles("48890648891f", name, loop=False) == expected


@pytest.mark.parametrize("report", list(FORMATS))
def test_every_report_says_that_it_is_approximate(report: str) -> None:
    analysis = Analyzer().analyze(TEXT, AnalysisOptions())
    assert "approximate" in render(analysis, "add.s", report)
