"""Chains through registers that the renamer copies or exchanges: measured by time stamps on an EPYC 9004."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.bounds.dependencies import critical_chains, dependency_bound
from cyclelens.analyzer.microarchitectures import registry
from testkit.blocks import block_of


@pytest.mark.parametrize(
    ("code", "core", "cycles", "on_chain"),
    [
        ("xchg r8, rsi: 4c87c6; imul r8, r8, 3: 4d6bc003", "ZEN3", 1.5, {0: 0, 1: 3}),
        ("xchg r8, rsi: 4c87c6; imul r8, r8, 3: 4d6bc003", "ZEN4", 1.5, {0: 0, 1: 3}),
        ("xchg r8, rsi: 4c87c6; imul r8, r8, 3: 4d6bc003", "ZEN5", 1.5, {0: 0, 1: 3}),
        ("xadd rsi, r8: 4c0fc1c6; imul r8, r8: 4d0fafc0", "ZEN4", 2.0, {0: 1, 1: 3}),
    ],
)
def test_a_chain_through_a_renamed_copy(
    code: str, core: str, cycles: float, on_chain: dict[int, int]
) -> None:
    parts = [each.split(":")[1].strip() for each in code.split(";")]
    block = block_of("".join(parts), core, loop=True)
    model = registry.get(core)
    assert dependency_bound(block, model) == cycles
    assert critical_chains(block, model).cycles == on_chain
