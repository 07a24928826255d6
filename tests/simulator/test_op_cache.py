"""Small loops from Zen 5's op cache, by window: the cycles of a real core (docs/zen5.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.bounds.registry import compute_bounds
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.op_cache import EIGHTHS, layout
from testkit.blocks import block_of, in_a_loop

MODEL = registry.get("ZEN5")
NOPS = ("", "90", "6690", "0f1f00", "0f1f4000", "0f1f440000", "660f1f440000", "0f1f8000000000")
LONG_NOP = "660f1f840000000000"
"""Nine bytes; more prefixes make it longer."""
MOVE = "4889d8"


def rules() -> MacroOpRules:
    assert MODEL.macro_ops is not None
    return MODEL.macro_ops


def nop(length: int) -> str:
    if length < len(NOPS):
        return NOPS[length]
    return "0f1f840000000000" if length == 8 else "66" * (length - 9) + LONG_NOP


def window(entries: int) -> str:
    """So many NOPs in 64 bytes."""
    shorter, longer = divmod(64, entries)
    return "".join(nop(shorter + (number < longer)) for number in range(entries))


def cycles(code: str, alignment: int = 0) -> float:
    block = block_of(in_a_loop(code), "ZEN5", alignment=alignment)
    return simulate(block, MODEL).cycles_per_iteration


@pytest.mark.parametrize(
    ("entries", "measured"),
    [
        # A window's lines behind the first two take two cycles more, by pairs.
        ((13, 1), 4.0),
        ((24, 8), 4.0),
        ((25, 1), 6.0),
        # What is behind the first pairs of both windows fits into the same lines, or not.
        ((16, 14), 4.0),
        ((16, 15), 6.0),
        ((18, 12), 4.0),
        ((18, 13), 6.0),
        ((22, 14), 4.5),
        ((22, 15), 6.0),
        ((14, 14, 14), 5.25),
        ((14, 18, 1), 7.0),
        ((18, 18, 14), 9.0),
        ((20, 14, 14), 6.0),
        # Behind a window of two lines the others are read ahead.
        ((9, 4), 2.0),
        ((12, 15), 3.38),
        ((6, 16, 1), 3.0),
        ((6, 18, 1), 4.0),
        ((12, 14, 1), 4.0),
        ((12, 24, 14), 6.25),
    ],
)
def test_loops_of_several_windows(entries: tuple[int, ...], measured: float) -> None:
    code = "".join(map(window, entries[:-1])) + "0f1f00" * (entries[-1] - 1)
    assert cycles(code) == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize(
    ("code", "alignment", "measured"),
    [
        (7 * nop(4), 0, 1.0),
        (7 * nop(4), 32, 2.0),  # the branch reaches into the next window
        (7 * nop(4), 36, 2.0),
        (7 * nop(4), 40, 1.0),  # a line in each
        (6 * nop(4), 39, 2.0),
        (6 * nop(4), 40, 1.0),
        (11 * nop(4), 16, 2.0),
        (11 * nop(4), 52, 1.5),
        (12 * nop(4), 12, 4.0),
        (14 * nop(4), 8, 4.0),
        (18 * MOVE, 6, 4.0),
        (18 * MOVE, 28, 2.38),
        (22 * MOVE, 50, 3.0),
    ],
)
def test_the_offset_of_a_loop(code: str, alignment: int, measured: float) -> None:
    assert cycles(code, alignment) == pytest.approx(measured, rel=0.02)


def test_the_bound_is_the_cost_of_the_windows() -> None:
    block = block_of(in_a_loop(window(16) + window(15)), "ZEN5")
    bounds = compute_bounds(block, MODEL, simulate(block, MODEL))
    assert bounds["DSB"] == 7.0
    assert layout(block.instructions, 0, rules()).eighths == 7 * EIGHTHS


def test_all_instructions_are_in_one_window_each() -> None:
    for alignment in range(64):
        block = block_of(in_a_loop(30 * MOVE), "ZEN5", alignment=alignment)
        placed = layout(block.instructions, alignment, rules()).windows
        listed = [i for each in placed for i in range(each.first, each.last + 1)]
        assert listed == list(range(len(block.instructions)))
