"""Loops that the op cache reads slowly by their place: what is said of them (M2, M3 of docs/zen5.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.hazards import op_cache_windows
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, in_a_loop

NOP = "0f1f4000"
SHORT = 6 * NOP
"""With its counter 29 bytes, which were measured at 2.0 cycles if they begin 39 bytes into a window."""


def found(code: str, alignment: int, core: str = "ZEN5") -> list[Finding]:
    block, model = block_of(in_a_loop(code), core, alignment=alignment), registry.get(core)
    return list(op_cache_windows.find(explain(block, model, simulate(block, model))))


def test_a_loop_in_two_windows_that_fits_into_one() -> None:
    (finding,) = found(SHORT, 39)
    assert (finding.code, finding.instruction) == (op_cache_windows.STRADDLING, 0)
    assert finding.message == (
        "The loop of 29 bytes begins 39 bytes into a window of the op cache and lies in 2 windows of 64 "
        "bytes instead of 1: they take 2.00 cycles per iteration to read, and 1.00 if the loop is aligned to "
        "64 bytes."
    )


@pytest.mark.parametrize("alignment", [0, 30, 35, 40])
def test_nothing_is_said_where_it_is_read_in_a_cycle(alignment: int) -> None:
    """It ends with the window, or a line in each is read at once."""
    assert found(SHORT, alignment) == []


def test_a_window_with_more_than_two_lines() -> None:
    findings = found("90" * 24, 0)
    assert [(each.code, each.instruction) for each in findings] == [(op_cache_windows.CROWDED, 0)]
    assert findings[0].message.startswith(
        "Crowded window: 25 entries of the op cache begin within 64 bytes of code, more than two lines of 6, "
        "and take "
    )
    assert findings[0].message.endswith("Two short windows are read faster than one that is full.")


def test_a_loop_as_long_as_a_window_fits_only_at_its_beginning() -> None:
    """Eleven entries, which two lines hold."""
    (finding,) = found(4 * NOP + 5 * "0f1f840000000000" + "0f1f00", 16)
    assert finding.message.startswith("The loop of 64 bytes begins 16 bytes into a window")
    assert finding.message.endswith("to read, and 1.00 if the loop is aligned to 64 bytes.")
