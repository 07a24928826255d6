"""Instructions that share an expansion because they differ only in registers and constants keep their own,
also where neighbours matter."""

from __future__ import annotations

import pytest
from testkit.blocks import block_of

WIDE = "62f17d48fec1"
"""vpaddd zmm0, zmm0, zmm1: every instruction beside it is in another context."""


@pytest.mark.parametrize("name", ["SPR", "GNR"])
def test_each_addition_has_its_own_constant(name: str) -> None:
    """add rax, 0x20; then add rsi, 8; add rdi, 0x40: the renamer owes rdi 64 (V9)."""
    block_of("4883c020", name, loop=False)
    block = block_of(f"{WIDE}4883c6084883c740", name, loop=False)
    assert [each.added for each in block.instructions] == [None, 8, 64]


@pytest.mark.parametrize("name", ["SPR", "GNR"])
def test_each_shift_has_its_own_count(name: str) -> None:
    """shlx rax, rbx, rcx; then shlx rdx, rsi, rdi; shlx r8, rbx, rcx"""
    block_of("c4e2f1f7c3", name, loop=False)
    block = block_of(f"{WIDE}c4e2c1f7d6c462f1f7c3", name, loop=False)
    assert [each.offset_registers for each in block.instructions] == [(), ("RSI", "RDI"), ("RBX", "RCX")]
