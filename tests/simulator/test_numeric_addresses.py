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
