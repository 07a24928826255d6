"""Rules of the P-cores since Golden Cove that look at one instruction or at two (docs/pipeline.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.uops.fusion import joins_operation
from cyclelens.analyzer.uops.memory_renaming import takes_over
from testkit.blocks import template_of, templates_of
from testkit.narrowing import some
from testkit.single_statements import code_of


def code(statements: str) -> str:
    return "".join(some(code_of(each, "intel")).hex() for each in statements.split("; "))


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("inc rax", 1),
        ("dec rax", -1),
        ("add rax, 5", 5),
        ("sub rax, 5", -5),
        ("lea rax, [rbx+8]", 8),
        ("lea rax, [rbx-8]", -8),
        ("lea rax, [rbx]", 0),
        ("mov rax, 7", 7),
        ("add rax, 1023", 1023),
        ("add rax, -1024", -1024),
        ("sub rax, 1024", -1024),
        # Outside of the range, of another size, or of something else than a register and a constant.
        ("add rax, 1024", None),
        ("add rax, -1025", None),
        ("sub rax, -1024", None),
        ("add eax, 5", None),
        ("mov eax, 7", None),
        ("inc eax", None),
        ("add qword ptr [rsi], 5", None),
        ("add rax, rbx", None),
        ("add rax, [rsi]", None),
        ("lea rax, [rbx+rcx]", None),
        ("lea rax, [rcx*2]", None),
        ("lea rax, [ebx+8]", None),
        ("lea rax, [rip+8]", None),
        ("lea eax, [rbx+8]", None),
        ("and rax, 5", None),
        ("imul rax, rbx, 5", None),
    ],
)
def test_what_the_renamer_adds(text: str, added: int | None) -> None:
    """V9."""
    assert template_of(code(text), "SPR").added == added
    assert template_of(code(text), "ICL").added is None


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("shl rax, cl", "RCX"),
        ("ror qword ptr [rsi], cl", "RCX"),
        ("shlx rax, rbx, rcx", "RBX RCX"),
        ("sarx rax, [rsi], rcx", "RCX"),
        ("shl rax, 3", ""),
        ("add rax, rcx", ""),
    ],
)
def test_who_waits_for_an_owed_constant(text: str, registers: str) -> None:
    """V9."""
    assert template_of(code(text), "SPR").offset_registers == tuple(registers.split())
    assert template_of(code(text), "ICL").offset_registers == ()


@pytest.mark.parametrize(
    ("pair", "joins"),
    [
        *((f"mov rax, rbx; {name} rax, rcx", True) for name in ("add", "sub", "and", "or", "xor")),
        *((f"mov eax, ebx; {name} eax, 3", True) for name in ("add", "shl", "shr", "sar")),
        ("mov rax, rbx; shl rax, cl", True),
        ("mov rax, [rsi]; add rax, rcx", True),
        ("mov eax, [rsi+8]; xor eax, ecx", True),
        # After a load neither a constant nor a shift, nor the loaded value alone.
        ("mov rax, [rsi]; add rax, 3", False),
        ("mov rax, [rsi]; shl rax, cl", False),
        ("mov rax, [rsi]; add rax, rax", False),
        ("mov rax, [rsi]; add rax, [rdi]", False),
        # Other operations, targets and moves.
        ("mov rax, rbx; imul rax, rcx", False),
        ("mov rax, rbx; inc rax", False),
        ("mov rax, rbx; not rax", False),
        ("mov rax, rbx; add rcx, rax", False),
        ("mov rax, rbx; add rax, [rdi]", False),
        ("mov rax, rbx; add eax, ecx", False),
        ("mov rax, 5; add rax, rcx", False),
        ("mov ax, bx; add ax, cx", False),
        ("mov al, bl; add al, cl", False),
        ("mov [rsi], rax; add rax, rcx", False),
        ("movzx eax, bl; add eax, ecx", False),
        ("lea rax, [rbx]; add rax, rcx", False),
        ("mov rax, rbx; nop", False),
    ],
)
def test_a_move_shares_the_slot_of_the_operation_behind_it(pair: str, joins: bool) -> None:
    """A4."""
    assert joins_operation(*decode(bytes.fromhex(code(pair)))) is joins


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("mov rax, [rsi]", True),
        ("mov eax, [rsi+8]", True),
        ("movzx eax, byte ptr [rsi]", True),
        ("pop rax", True),
        ("add rbx, [rsi]", True),
        ("popcnt rbx, [rsi]", True),
        ("and qword ptr [rsi], 1", True),
        ("inc dword ptr [rsi]", True),
        ("add [rsi], rax", False),
        ("adc rax, [rsi]", False),
        ("andn rbx, rdi, [rsi]", False),
        ("movsx eax, byte ptr [rsi]", False),
        ("movsxd rax, dword ptr [rsi]", False),
        ("mov rax, [rsi+rdi]", False),
        ("movups xmm0, [rsi]", False),
        ("lock inc dword ptr [rsi]", False),
        ("mov [rsi], rax", False),
        ("add rax, rbx", False),
    ],
)
def test_loads_that_take_over_a_stored_value(text: str, renamed: bool) -> None:
    """W6."""
    assert takes_over(template_of(code(text), "SPR")) is renamed


def latency_of_sums(statements: str, core: str = "SPR") -> list[tuple[int, ...]]:
    """Of each instruction the cycles from its first and from its second source to the result."""
    return [
        tuple(
            cycles for (start, _, target, _), cycles in template.latencies.items() if start == target == "reg"
        )
        for template in templates_of(code(statements), core)
    ]


@pytest.mark.parametrize(
    ("statements", "cycles"),
    [
        # The sum of the iteration before comes back.
        ("addps xmm0, xmm1", [(2, 3)]),
        ("subsd xmm0, xmm1", [(2, 3)]),
        ("addsubpd xmm0, xmm1", [(2, 3)]),
        ("vaddps ymm0, ymm1, ymm0", [(3, 2)]),
        ("vaddps ymm0, ymm1, ymm2", [(3, 3)]),
        ("addps xmm0, xmm1; addps xmm0, xmm2", [(2, 3), (2, 3)]),
        ("addps xmm0, xmm1; mulps xmm0, xmm2", [(3, 3), (4, 4)]),
        ("vaddps ymm0, ymm1, ymm2; vaddps ymm3, ymm4, ymm0", [(3, 3), (3, 2)]),
    ],
)
def test_a_sum_of_a_sum_takes_two_cycles(statements: str, cycles: list[tuple[int, ...]]) -> None:
    """U12."""
    assert latency_of_sums(statements) == cycles
