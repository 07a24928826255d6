"""The core follows operations on numbers to the addresses that they make."""

from __future__ import annotations

import pytest
from testkit.simulated import in_mode

OPERATIONS = {
    "add rax, 4": "b83c0000004883c004",  # mov eax, 60
    "sub rax, 4": "b8440000004883e804",
    "and rax, 64": "b8470000004883e040",
    "or rax, 64": "b8000000004883c840",
    "xor rax, 64": "b8000000004883f040",
    "shl rax, 2": "b81000000048c1e002",
    "shr rax, 2": "b80001000048c1e802",
    "sar rax, 2": "b80001000048c1f802",
    "sar rax, 2 of -256": "48c7c000ffffff48c1f8024883e880",  # sub rax, -128
    "sar eax, 2 of -256": "b800ffffffc1f80283e880",
    "mov al, 64 in 0x23": "b823000000b040",
    "mov ah, 0 in 0x340": "b840030000b400",
    "mov ax, 64 in 0x23": "b82300000066b84000",
    "movzx eax, al of 0x340": "b8400300000fb6c0",
    "movsx rax, ax of 0x10040": "b840000100480fbfc0",
    "not rax": "48c7c0bfffffff48f7d0",
    "neg rax": "48c7c0c0ffffff48f7d8",
    "imul rax, rbx": "b810000000bb04000000480fafc3",
}
"""Each makes 64 of a constant."""
STORE, CHAIN = "48891406", "480fafd2"  # mov [rsi+rax], rdx; imul rdx, rdx


@pytest.mark.parametrize("core", ["ZEN3", "ZEN5"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_load_waits_for_the_store_to_the_address_that_an_operation_makes(operation: str, core: str) -> None:
    """The word goes from a multiplication of three cycles to the next, through [rsi+64] but not [rsi+128]."""
    front = OPERATIONS[operation] + STORE
    assert in_mode(core, front + "488b5640" + CHAIN, "loop") == pytest.approx(3.0, abs=0.05)
    assert in_mode(core, front + "488b9680000000" + CHAIN, "loop") < 2.1


THROUGH_MEMORY = {
    "eight bytes": "b84000000048898700010000488b8700010000",
    "eight bytes across two words": "b84000000048898701010000488b8701010000",
    "eight bytes across the middle": "b84000000048898704010000488b8704010000",
    "four bytes": "b8400000008987000100008b8700010000",
    "four bytes within a word": "b8400000008987010100008b8701010000",
    "four bytes at its end": "b8400000008987040100008b8704010000",
    "the high half of eight": "48b80000000040000000488987000100008b8704010000",
    "the high half of eight across two words": "48b80000000040000000488987040100008b8708010000",
    "one byte": "b8400000008887030100000fb68703010000",
}
"""Each stores 64, or 64 shifted by 32 bits, at [rdi+256] or a little behind it, and loads it from there."""


@pytest.mark.parametrize("words", THROUGH_MEMORY)
def test_an_address_may_come_from_any_bytes_of_memory(words: str) -> None:
    front = THROUGH_MEMORY[words] + STORE
    assert in_mode("ZEN5", front + "488b5640" + CHAIN, "loop") == pytest.approx(3.0, abs=0.05)
    assert in_mode("ZEN5", front + "488b9680000000" + CHAIN, "loop") < 2.1
