"""Stores leave for the cache as fast as they can retire (hardware model)."""

from __future__ import annotations

import pytest
from testkit.simulated import cycles, simulated

STORE_TWO_BYTES_AND_LOAD_BOTH = "8807 884701 0fb70f"
"""mov %al, (%rdi); mov %al, 1(%rdi); movzwl (%rdi), %ecx: the load cannot forward."""
MORE_STORES = ["884710", "884711", "884712", "884713", "884714", "884715", "884716", "884717"]
"""mov %al, 16(%rdi) and the following bytes of the line."""
END = "48ffca75"  # dec %rdx; jnz


@pytest.mark.parametrize("core", ["ICL", "SPR", "GNR", "LNL"])
def test_stores_do_not_pile_up(core: str) -> None:
    """Two stores per cycle leave as fast as they retire, so the state of the pipeline repeats."""
    assert simulated("891424", core, loop=True, details=False).period is not None


@pytest.mark.parametrize(("more", "measured"), [(0, 16), (2, 17), (4, 18), (8, 20)])
def test_a_load_waits_for_two_stores_per_cycle(more: int, measured: int) -> None:
    """Measured by time stamps on Emerald Rapids (SPR): every two stores cost one cycle."""
    code = "".join([STORE_TWO_BYTES_AND_LOAD_BOTH, *MORE_STORES[:more], END]).replace(" ", "")
    code += f"{256 - len(code) // 2 - 1:02x}"
    assert cycles(code, "SPR", loop=True) == measured
