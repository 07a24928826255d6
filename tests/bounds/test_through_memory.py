"""The bound of dependencies through memory on Golden Cove, by O6d, V9 and W6 of docs/pipeline.md."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.bounds.dependencies import dependency_bound
from cyclelens.analyzer.bounds.latencies import from_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.uops.expansion import FORWARDING_LATENCY
from testkit.blocks import block_of, template_of
from testkit.narrowing import some
from testkit.single_statements import code_of

FORWARDED = 5
"""Cycles from a store's data to the load (measured)."""


def bound(statements: str, *, loop: bool, core: str = "SPR") -> float:
    code = "".join(some(code_of(each, "intel")).hex() for each in statements.split("; "))
    return dependency_bound(block_of(code, core, loop=loop), registry.get(core))


@pytest.mark.parametrize(
    ("operation", "cycles", "straight"),
    [
        # Measured in straight-line code: 5.00, and in all 7.35 with an operation of one cycle, 7.6 of two,
        # 8.00 of three.
        ("nop", 0, FORWARDED),
        ("lea rax, [rax+rbx]", 1, FORWARDED + 1 + 1),
        ("bswap rax", 2, FORWARDED + 1 + 2),
        ("imul rax, rbx", 3, FORWARDED + 3),
    ],
)
def test_a_learnt_pair_takes_no_time_and_another_one_is_forwarded(
    operation: str, cycles: int, straight: int
) -> None:
    code = f"mov [rsp+8], rax; mov rax, [rsp+8]; {operation}"
    assert bound(code, loop=True) == cycles
    assert bound(code, loop=False) == straight


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        # 8, 32 or 64 bits that are not wider than what was stored.
        ("mov [rsp+8], eax; mov eax, [rsp+8]; imul eax, ebx", 3),
        ("mov [rsp+8], al; movzx eax, byte ptr [rsp+8]; imul eax, ebx", 3),
        ("mov [rsp+8], rax; mov eax, [rsp+8]; imul rax, rbx", 3),
        ("mov [rsp+8], ax; movzx eax, word ptr [rsp+8]; imul eax, ebx", FORWARDED + 3),
        ("mov [rsp+8], rax; movzx eax, word ptr [rsp+8]; imul eax, ebx", FORWARDED + 3),
        ("mov [rsp+8], eax; mov rax, [rsp+8]; imul rax, rbx", FORWARDED + 3),
        ("mov [rsp+8], eax; movsxd rax, dword ptr [rsp+8]; imul rax, rbx", FORWARDED + 3),
        ("push rax; pop rax; imul rax, rbx", 3),
        # The address has no index.
        ("mov [rsi+rdi], rax; mov rax, [rsi+rdi]; imul rax, rbx", FORWARDED + 3),
        # The operation reads nothing else but the register that it writes.
        ("mov [rsp+8], rax; imul rax, [rsp+8]", 3),
        ("mov [rsp+8], rax; popcnt rax, [rsp+8]", 3),
        ("mov [rsp+8], rax; andn rax, rdi, [rsp+8]", FORWARDED + 1 + 1),
        ("and qword ptr [rsp+8], 1", 1),
        ("and qword ptr [rsp+8], rax", FORWARDED + 1 + 1),
        # Vectors: later if they were loaded, or if the operation is short.
        ("movups [rsp+8], xmm0; movups xmm0, [rsp+8]", FORWARDED + 2),
        ("movups [rsp+8], xmm0; movups xmm0, [rsp+8]; paddd xmm0, xmm1", FORWARDED + 1 + 1),
        ("movups [rsp+8], xmm0; movups xmm0, [rsp+8]; mulps xmm0, xmm1", FORWARDED + 4),
        # Another place.
        ("mov [rsp+8], rax; mov rax, [rsp+16]; imul rax, rbx", 0),
    ],
)
def test_what_a_loop_learns(code: str, cycles: int) -> None:
    assert bound(code, loop=True) == cycles


def test_a_general_purpose_register_does_not_take_over_a_vector() -> None:
    assert bound("movq [rsp+8], xmm0; mov rax, [rsp+8]; movq xmm0, rax", loop=True) > FORWARDED


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("addps xmm0, xmm1", 2),
        # From the multiplication three cycles, from an addition two.
        ("addps xmm0, xmm1; addps xmm0, xmm2; addps xmm0, xmm3; addps xmm0, xmm4; mulps xmm0, xmm5", 13),
        ("vaddsubpd ymm0, ymm0, ymm1; vmovapd ymm2, ymm0; vaddpd ymm0, ymm2, ymm3", 4),
    ],
)
def test_an_addition_reaches_another_one_earlier(code: str, cycles: int) -> None:
    """U12 of docs/pipeline.md."""
    assert bound(code, loop=True) == cycles


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
def test_amds_cores_rename_words_in_memory(core: str) -> None:
    """M18 and M19 of docs/zen5.md: 32 and 64 bits in no time, anything else by forwarding."""
    model = registry.get(core)
    rules = model.macro_ops
    assert rules is not None
    vectors = min(rules.vector_forwarding, rules.integer_to_vector_forwarding)
    for statement, expected in {
        "mov rax, [rsi]": 0,
        "mov eax, [rsi]": 0,
        "add rax, [rsi]": 0,
        "add [rsi], rax": 0,
        "add byte ptr [rsi], al": 0,
        "movzx eax, word ptr [rsi]": rules.forwarding,
        "movzx eax, byte ptr [rsi]": rules.forwarding,
        "movups xmm0, [rsi]": vectors,
        "addsd xmm0, [rsi]": vectors,
    }.items():
        template = template_of(some(code_of(statement, "intel")).hex(), core)
        assert from_store(template, 0, model) == expected, statement


def test_intels_older_cores_forward_in_one_time() -> None:
    core = registry.get("SKL")
    for statement in ("mov rax, [rsi]", "movups xmm0, [rsi]", "movzx eax, byte ptr [rsi]"):
        template = template_of(some(code_of(statement, "intel")).hex(), "SKL")
        assert from_store(template, 0, core) == FORWARDING_LATENCY


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("mov rax, [rax]", 4),
        ("mov rax, [rax+2040]", 4),
        ("mov rax, [rax+2048]", 5),
        ("mov rax, [rax-8]", 5),
        ("mov rax, [rax+rbx]", 5),
        ("xor ebx, ebx; mov rax, [rax+rbx]", 4),
        ("mov eax, [rax]", 4),
        ("mov rbx, [rax]; mov rax, rbx", 4),
        # The address was not just loaded.
        ("mov rax, [rax]; add rax, 8", 5 + 1),
        ("mov rbx, [rax]; mov eax, ebx", 5),
    ],
)
def test_a_chased_pointer_takes_a_cycle_less(code: str, cycles: int) -> None:
    """3.11.3 of docs/pipeline.md, on Skylake."""
    assert bound(code, loop=True, core="SKL") == cycles
