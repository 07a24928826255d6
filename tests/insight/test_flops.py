"""Floating-point operations of instructions, as processors' counters count them (FP_ARITH: an FMA is two)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.flops import operations, per_iteration
from testkit.blocks import template_of, templates_of
from testkit.narrowing import some
from testkit.single_statements import code_of

COUNTS = {
    "addss xmm0, xmm1": 1,
    "addsd xmm0, [rsi]": 1,
    "addps xmm0, xmm1": 4,
    "mulpd xmm0, [rsi]": 2,
    "sqrtpd xmm0, xmm1": 2,
    "haddps xmm0, xmm1": 4,
    "addsubpd xmm0, xmm1": 2,
    "vdivss xmm0, xmm1, xmm2": 1,
    "vsubps ymm0, ymm1, ymm2": 8,
    "vmulpd ymm0, ymm1, [rsi]": 4,
    "vmulpd zmm0, zmm1, zmm2": 8,
    "vaddps zmm0{k1}{z}, zmm1, zmm2": 16,
    "vaddph zmm0, zmm1, zmm2": 32,
    "vfmadd231ss xmm0, xmm1, xmm2": 2,
    "vfmadd231sd xmm0, xmm1, [rsi]": 2,
    "vfnmsub132pd xmm0, xmm1, xmm2": 4,
    "vfmaddsub213ps ymm0, ymm1, ymm2": 16,
    "vfmadd231ps zmm0, zmm1, zmm2": 32,
    "fadd st, st(1)": 1,
    "fmulp st(1), st": 1,
    "fidiv dword ptr [rsi]": 1,
    "fsqrt": 1,
    "cmpps xmm0, xmm1, 2": 0,
    "maxps xmm0, xmm1": 0,
    "cvtps2pd xmm0, xmm1": 0,
    "xorps xmm0, xmm1": 0,
    "paddd xmm0, xmm1": 0,
    "add rax, rbx": 0,
    "fld qword ptr [rsi]": 0,
}


def code(text: str) -> str:
    return some(code_of(text, "intel")).hex()


@pytest.mark.parametrize(("text", "count"), COUNTS.items())
def test_operations_of_an_instruction(text: str, count: int) -> None:
    assert operations(template_of(code(text), "SPR")) == count


def test_operations_of_an_iteration() -> None:
    texts = ["addsd xmm0, xmm1", "vfmadd231ps ymm0, ymm1, ymm2", "mov rax, rbx"]
    assert per_iteration(templates_of("".join(map(code, texts)), "SPR")) == 17
