"""x87 on Zen 3 and Zen 4: measured figures, and chains through a stack whose top moves."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.block import build_block
from testkit.simulated import in_mode

FLD_A, FLD_B, FSTP_A, FSTP_B = "dd07", "dd06", "dd1f", "dd1e"  # [rdi] and [rsi]
FADD_A, FMUL_TOP, FADD_2, FADDP, FXCH, FSQRT = "dc07", "d8c8", "d8c2", "dec1", "d9c9", "d9fa"
CASES = {
    "a sum through the top": (FADD_A, 7.0),
    "a product with itself": (FMUL_TOP, 7.0),
    "a root": (FSQRT, 22.0),
    "a sum below what is pushed and popped": (FLD_B + FMUL_TOP + FADDP, 7.0),
    "nothing is carried": (FLD_A + FMUL_TOP + FSTP_B, 1.0),
    "two of them": (2 * (FLD_A + FMUL_TOP + FSTP_B), 2.0),
    "two sums in turn, exchanged and put back": (2 * (FADD_2 + FXCH), 7.0),
    "one sum twice": (2 * FADD_2, 14.0),
    "roots that do not wait for each other": (FLD_A + FSQRT + FSTP_B, 10.0),
}


@pytest.mark.parametrize("case", CASES)
def test_cycles_of_a_loop(case: str) -> None:
    code, cycles = CASES[case]
    core = registry.get("ZEN3")
    loop = decode(bytes.fromhex(code + "49ffcf75f6"))
    block = build_block(loop, core, open_store(), loop=True)
    assert simulate(block, core).cycles_per_iteration == pytest.approx(cycles, abs=0.01)


def test_names_are_those_at_the_start_of_the_block() -> None:
    """What is pushed is ST7, above the top; behind an exchange the names have changed places."""
    loop = decode(bytes.fromhex(FLD_A + FADDP + FXCH + FADD_2 + FXCH))
    block = build_block(loop, registry.get("ZEN3"), open_store(), loop=True)
    written = [[each.canonical for each in template.register_outputs] for template in block.instructions]
    assert written == [["ST7"], ["ST0"], [], ["ST1"], []]
    inputs = [[each.canonical for each in template.register_inputs] for template in block.instructions]
    assert inputs == [[], ["ST0", "ST7"], [], ["ST1", "ST2"], []]


@pytest.mark.parametrize(
    ("code", "measured"),
    [
        (FLD_A + FSTP_A, 13.0),
        (FLD_A + FADD_A + FSTP_A, 19.96),
        (FLD_A + FMUL_TOP + FSTP_A, 19.93),
        (FLD_A + FSQRT + FSTP_A, 36.03),
        ("db07db1f", 18.99),  # fild and fistp of 32 bits
        ("df2fdf3f", 19.00),  # of 64 bits
        (FADD_A, 7.0),
        (FSQRT, 23.0),
        (FLD_A + FSQRT + "dd5f40", 10.99),
        (FLD_A + "dc4f08dc4710dd5f40", 2.00),
        ("d917", 1.0),
    ],
)
def test_loops_measured_on_zen_4(code: str, measured: float) -> None:
    """Within 5 %, by time stamps; the first six through one address."""
    assert in_mode("ZEN4", code, "loop") == pytest.approx(measured, rel=0.05)
