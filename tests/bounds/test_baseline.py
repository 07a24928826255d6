"""The baseline of uiCA's paper, by its two formulas."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.bounds.baseline import baseline
from cyclelens.analyzer.microarchitectures import registry
from testkit.blocks import block_of

ADD, LOAD, STORE, LOOP = "4801d8", "488b06", "488907", "49ffcf75f0"


@pytest.mark.parametrize(
    ("code", "core", "cycles"),
    [
        (ADD * 8, "SKL", 8 / 4),
        (ADD * 8, "ICL", 8 / 4),  # four instructions per cycle, whatever the issue width
        (LOAD * 3, "SKL", 3 / 2),
        (STORE * 2, "SKL", 2 / 1),
        (STORE * 2, "ICL", 2 / 2),  # two stores per cycle
        (STORE + ADD * 7, "SKL", 8 / 4),
        ("480107" * 2, "HSW", 2 / 1),  # add [rdi], rax reads and writes
    ],
)
def test_repeated_blocks(code: str, core: str, cycles: float) -> None:
    assert baseline(block_of(code, core, loop=False), registry.get(core)) == cycles


@pytest.mark.parametrize(
    ("code", "core", "cycles"),
    [
        (LOOP, "SKL", 1.0),
        (ADD * 8 + LOOP, "SKL", 9 / 4),  # ten instructions; the branch is fused
        (ADD * 9 + LOOP, "ICL", 10 / 5),
        (LOAD * 5 + LOOP, "SKL", 5 / 2),
        (STORE * 3 + LOOP, "RKL", 3 / 2),
    ],
)
def test_loops(code: str, core: str, cycles: float) -> None:
    assert baseline(block_of(code, core, loop=True), registry.get(core)) == cycles
