"""Registers that accumulate: which operations can be split, and which registers are free for the parts."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.accumulators import Accumulator, accumulators, free_registers, operation
from cyclelens.analyzer.insight.dependencies import dependencies_of
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.uops import Block
from testkit.blocks import block_of
from testkit.narrowing import some
from testkit.single_statements import code_of


def block(statements: str) -> Block:
    code = "".join(some(code_of(each, "intel")).hex() for each in statements.split("; "))
    return block_of(code, "SPR", loop=True)


def found(statements: str) -> dict[str, tuple[int, ...]]:
    """The accumulators of these instructions by name, with the places of their updates."""
    made = block(statements)
    edges = dependencies_of(made, registry.get("SPR")).edges
    return {each.name: each.updates for each in accumulators(made.instructions, edges)}


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("add rax, [rsi]", {"rax": (0,)}),
        ("vaddps ymm0, ymm0, [rsi]", {"ymm0": (0,)}),
        ("vaddps ymm0, ymm1, ymm0", {"ymm0": (0,)}),  # a sum takes its parts in any order
        ("vsubps ymm0, ymm0, ymm1", {"ymm0": (0,)}),
        ("vsubps ymm0, ymm1, ymm0", {}),  # a difference does not: the sign turns every time
        ("vfmadd231ps ymm0, ymm1, [rsi]", {"ymm0": (0,)}),
        ("vfmadd213ps ymm0, ymm1, [rsi]", {}),  # the register is a factor
        ("vfmadd231ps ymm0, ymm0, [rsi]", {}),
        ("vpdpbusd ymm0, ymm1, [rsi]", {"ymm0": (0,)}),
        ("mulsd xmm0, [rsi]", {"xmm0": (0,)}),
        ("vpmaxsw ymm2, ymm2, [rsi]; vpmaxsw ymm2, ymm2, [rdi]", {"ymm2": (0, 1)}),
        ("xor rax, rbx; or rcx, rdx; and r8, r9", {"rax": (0,), "rcx": (1,), "r8": (2,)}),
        # Two kinds of operation, or of number.
        ("vaddps ymm0, ymm0, ymm1; vmulps ymm0, ymm0, ymm1", {}),
        ("vaddps ymm0, ymm0, ymm1; vaddpd ymm0, ymm0, ymm1", {}),
        ("vaddps ymm0, ymm0, ymm1; vsubps ymm0, ymm0, ymm1", {"ymm0": (0, 1)}),
        # Doubled, zeroed, a counter, a pointer, and a sum that something else reads.
        ("vaddps ymm0, ymm0, ymm0", {}),
        ("add rax, rax", {}),
        ("vpxor ymm0, ymm0, ymm0", {}),
        ("add rax, 8", {}),
        ("add rax, rbx; mov rcx, [rax]", {}),
        ("add rax, [rsi]; mov [rdi], rax", {}),
        # The carry of the sum goes on.
        ("add rax, rbx; adc rcx, rdx", {}),
        ("div rbx", {}),
    ],
)
def test_accumulators_of_a_loop(statements: str, expected: dict[str, tuple[int, ...]]) -> None:
    assert {
        name: at for name, at in found(statements).items() if name in expected or not expected
    } == expected


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [
        ("sub", ("sum", "")),
        ("vfnmadd231sd", ("sum", "sd")),
        ("vpmadd52luq", ("sum", "q")),
        ("imul", ("product", "")),
        ("pminub", ("minimum", "ub")),
        ("vandps", ("and", "")),
        ("vporq", ("or", "")),
        ("pxor", ("exclusive or", "")),
        ("vdivps", None),
        ("mov", None),
    ],
)
def test_operations_whose_order_does_not_matter(mnemonic: str, expected: tuple[str, str] | None) -> None:
    assert operation(mnemonic) == expected


@pytest.mark.parametrize(
    ("updates", "registers", "copies"), [(1, 4, 4), (2, 4, 2), (3, 4, 4), (4, 4, 1), (2, 3, 3)]
)
def test_the_body_is_copied_until_the_updates_are_back_at_the_first_register(
    updates: int, registers: int, copies: int
) -> None:
    assert Accumulator("XMM0", "ymm0", tuple(range(updates))).copies(registers) == copies


def test_registers_are_free_that_no_instruction_touches() -> None:
    body = block(
        "imul rbx, r9; add rax, [rsi+r10*8]; vaddps ymm0, ymm0, ymm3; mul rcx; push rbp"
    ).instructions
    general = free_registers(body, Accumulator("RAX", "rax", (1,)))
    # RDX is written by the multiplication, and RSP belongs to the stack.
    assert general == ["RDI", "R8", "R11", "R12", "R13", "R14", "R15"]
    vectors = free_registers(body, Accumulator("XMM0", "ymm0", (2,)))
    assert vectors == ["XMM1", "XMM2", *(f"XMM{number}" for number in range(4, 16))]


def test_only_evex_code_reaches_the_upper_sixteen_vectors() -> None:
    body = block("vaddps zmm0, zmm0, zmm1; vaddps ymm2, ymm2, ymm3").instructions
    assert free_registers(body, Accumulator("XMM0", "zmm0", (0,)))[-1] == "XMM31"
    assert free_registers(body, Accumulator("XMM2", "ymm2", (1,)))[-1] == "XMM15"
    assert free_registers(body, Accumulator("XMM2", "ymm2", (0, 1)))[-1] == "XMM15"
