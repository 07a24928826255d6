"""Latencies of macro-ops from those of the tables: what is taken off, and that an operation takes a cycle."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cyclelens.analyzer.uops.macro_latencies import _crossing, stored_latency

EXCESS = SimpleNamespace(
    to_integer_excess=2, sse_to_integer_excess=3, mask_to_integer_excess=4, to_vector_excess=5, forwarding=6
)


def subject(mnemonic: str = "vmovd", source: str = "RAX", result: str = "RAX", **fields: Any) -> Any:
    """An instruction from one register to another."""
    prepared = SimpleNamespace(
        register_inputs=[SimpleNamespace(canonical=source)],
        register_outputs=[SimpleNamespace(canonical=result)],
        latencies={},
    )
    return SimpleNamespace(mnemonic=mnemonic, prepared=prepared, rules=EXCESS, **fields)


@pytest.mark.parametrize(
    ("mnemonic", "source", "result", "excess"),
    [
        ("vmovd", "XMM0", "RAX", 2),
        ("movd", "XMM0", "RAX", 3),
        ("kmovd", "K1", "RAX", 4),
        ("vmovd", "RAX", "XMM0", 5),
        ("kmovd", "RAX", "K1", 5),
        ("vaddps", "XMM0", "XMM1", 0),
        ("add", "RAX", "RBX", 0),
        ("vpcmpd", "XMM0", "K1", 0),
        ("vpblendmd", "K1", "XMM0", 0),
        ("kaddd", "K1", "K2", 0),
    ],
)
def test_what_the_tables_have_too_much_between_registers_of_two_kinds(
    mnemonic: str, source: str, result: str, excess: int
) -> None:
    """M25. At least a cycle is left."""
    made = subject(mnemonic, source, result)
    for cycles in range(1, 8):
        assert _crossing(made, cycles, "reg", 0, "reg", 0) == max(1, cycles - excess)
        assert _crossing(made, cycles, "mem", 0, "reg", 0) == cycles
        assert _crossing(made, cycles, "reg", 0, "flag", 0) == cycles


@pytest.mark.parametrize(
    ("results", "chain", "cycles"),
    [
        ([], None, 1),
        ([3, 2], None, 2),  # the first result that is there
        ([0], None, 1),
        ([9], 10, 4),  # a chain through memory, without forwarding
        ([3], 10, 3),
        ([9], 7, 1),
        ([9], 6, 1),
    ],
)
def test_when_the_value_is_there_that_an_instruction_stores(
    results: list[int], chain: int | None, cycles: int
) -> None:
    made = subject(writes=frozenset({0}), vector=False)
    made.prepared.latencies = {} if chain is None else {("mem", 0, "mem", 0): chain}
    loaded = () if chain is None else (0,)
    assert stored_latency(made, loaded, results) == cycles
    vector = subject(writes=frozenset({0}), vector=True)
    assert stored_latency(vector, (0,), [9]) == 9, "only of integers"
    elsewhere = subject(writes=frozenset({1}), vector=False)
    assert stored_latency(elsewhere, (0,), [9]) == 9, "what is loaded is not what is changed"
