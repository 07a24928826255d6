"""Which loads can be renamed to a stored value (W6): moves, and operations that read nothing else but the
register that they write. Others that only load, or compute from the loaded word alone, stand alone."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.uops.memory_renaming import stands_alone, takes_over
from testkit.blocks import template_of
from testkit.narrowing import some
from testkit.single_statements import code_of

BOTH = (
    "mov rax, [rsi]", "mov eax, [rsi]", "movzx eax, byte ptr [rsi]", "movbe rax, [rsi]", "popcnt rax, [rsi]",
    "imul rax, [rsi], 5", "bt qword ptr [rsi], 5", "pop rax", "lodsq", "ret", "jmp [rsi]",
)  # fmt: skip
WITH_ITS_TARGET = (
    "add rax, [rsi]", "add eax, [rsi]", "xor rax, [rsi]", "imul rax, [rsi]", "mul qword ptr [rsi]",
    "div qword ptr [rsi]", "inc qword ptr [rsi]", "not qword ptr [rsi]", "push qword ptr [rsi]",
)  # fmt: skip
ONLY_ALONE = (
    "mov rax, [rsi+rdi]", "movsxd rax, dword ptr [rsi]", "movsx eax, byte ptr [rsi]", "movups xmm0, [rsi]",
    "movd xmm0, [rsi]", "vpabsd xmm0, [rsi]", "cvtdq2ps xmm0, [rsi]",
)  # fmt: skip
NEITHER = (
    "cmp rax, [rsi]", "adc rax, [rsi]", "sbb rax, [rsi]", "add [rsi], rax", "lock add [rsi], rax",
    "shlx rax, [rsi], rcx", "bextr rax, [rsi], rbx", "andn rax, rbx, [rsi]", "xchg [rsi], rax", "leave",
    "cvtsi2sd xmm0, qword ptr [rsi]", "mov [rsi], rax",
)  # fmt: skip


@pytest.mark.parametrize("text", [*BOTH, *WITH_ITS_TARGET, *ONLY_ALONE, *NEITHER])
def test_what_takes_a_stored_value_over(text: str) -> None:
    template = template_of(some(code_of(text, "intel")).hex(), "GNR")
    assert takes_over(template) is (text in (*BOTH, *WITH_ITS_TARGET))
    assert stands_alone(template) is (text in (*BOTH, *ONLY_ALONE))
