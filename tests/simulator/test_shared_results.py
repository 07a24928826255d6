"""Golden Cove and Redwood Cove: results that cannot arrive together (Z7 of docs/pipeline.md)."""

from __future__ import annotations

import pytest
from testkit.blocks import in_a_loop
from testkit.simulated import cycles, simulated

VPERMQ_CHAIN, VPSHUFB_CHAIN = "6252ed4836c0", "62f25d4800e2"
"""vpermq zmm8, zmm2, zmm8 (three cycles) and vpshufb zmm4, zmm4, zmm2 (one), both on port 5 alone."""
VPERMQ, VPSHUFB = "62f2e54836ca", "62f2654800ca"
"""The same without chains."""
IMUL, ANDN_CHAIN = "486bcb03", "c442f8f2c9"


@pytest.mark.parametrize("name", ["ADL", "SPR", "MTL", "GNR"])
@pytest.mark.parametrize(
    ("code", "measured"),
    [
        (VPERMQ_CHAIN + 2 * VPSHUFB_CHAIN, 4.03),
        (VPERMQ_CHAIN + 4 * VPSHUFB_CHAIN, 6.03),
        (VPERMQ_CHAIN + VPSHUFB_CHAIN, 3.00),
        (IMUL + 2 * ANDN_CHAIN, 2.40),
        (IMUL + 2 * "49c1e103", 2.00),  # a chain of shl, which never takes port 1
        ("c4e3fd00ca01" + 2 * "4901c1", 1.99),  # vpermq beside additions of integers
        (2 * VPERMQ + VPSHUFB, 3.00),  # the port is never idle
    ],
)
def test_z7_results_of_one_and_of_three_cycles_arrive_in_turn(name: str, code: str, measured: float) -> None:
    """Measured on an Emerald Rapids."""
    assert cycles(in_a_loop(code), name, loop=True) == pytest.approx(measured, rel=0.04)


@pytest.mark.parametrize("shuffles", [1, 2, 3])
@pytest.mark.parametrize("permutations", [2, 3, 5])
def test_z7_a_full_port_is_never_faster_than_its_uops(permutations: int, shuffles: int) -> None:
    """The chain of vpshufb falls behind until the scheduler is full. Measured on an Emerald Rapids: two
    vpermq and one 3.00."""
    figure = cycles(in_a_loop(permutations * VPERMQ + shuffles * VPSHUFB_CHAIN), "SPR", loop=True)
    assert figure == pytest.approx(permutations + shuffles, rel=0.02)
    assert figure > permutations + shuffles - 0.05


def test_z7_the_figure_of_a_stopped_run_is_that_of_a_full_one() -> None:
    """Beside imul a chain of two shl never loses port 1, a chain of two andn does."""
    for chain in ("49c1e103", ANDN_CHAIN):
        code = in_a_loop(IMUL + 2 * chain)
        full = simulated(code, "SPR", loop=True).cycles_per_iteration
        alone = simulated(code, "SPR", loop=True, details=False).cycles_per_iteration
        assert full == alone


def test_z7_a_uop_says_that_another_result_came_first() -> None:
    code = in_a_loop(VPERMQ_CHAIN + 2 * VPSHUFB_CHAIN)
    trace = simulated(code, "SPR", loop=True, trace=True).trace
    assert trace is not None
    late = [each for each in trace.scheduling if each.queued == "result"]
    assert late
    assert all(each.behind is not None and trace.rows[each.behind].instruction == 0 for each in late)
