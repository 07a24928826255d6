"""Random statements and programs for NASM: the front end's bytes equal NASM's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from testkit.differential import Difference, differences, marked

NASM = {
    "numbers of a register": (
        "mov rax, 5\nmov rax, 0x80000000\nmov rax, -1\nmov eax, 5",
        "",
    ),
    "exchanges": ("xchg rcx, rbx\nxchg rax, rbx\nxchg rbx, rax\nxchg eax, eax\nxchg rax, rax\nint 3", ""),
    "addresses without a base": ("lea rax, [rbx*2]\nlea rax, [rbx*1 + 5]\nlea rax, [rbx*4]", ""),
    "moves of high registers": ("vmovaps xmm1, xmm8\nvmovdqu ymm0, ymm9\nvmovss xmm1, xmm2, xmm9", ""),
    "segment registers": ("mov ds, ax\nmov [rax], ds\nmov ax, ds\nmov rax, ds", ""),
    "locked words": (
        "lock add word [rax], cx\nlock add word [fs:rax], 5\nrep movsw\nlock inc dword [rax]",
        "",
    ),
    "the floating-point stack": ("fld st1\nfxch st3\nfstp st2", ""),
    "operators": ("mov eax, 2 + 1 << 3\nmov eax, 1 | 2 ^ 3 & 4\nmov eax, ~5 & 0ffh", ""),
    "alignment": ("top: nop\nalign 16\nje top\nalign 8\nnop\nalign 32\njmp .end\n.end: nop", ""),
    "relative addresses": (
        "default rel\nmov eax, [top]\nmov eax, [abs top]\nmov eax, [fs:top]\ntop: nop",
        "",
    ),
}
"""The plain part of NASM's language, which is read without it."""


MORE_NASM = {
    "sizes": ("mov eax, strict dword 5\nadd eax, byte 5\npush strict dword 5\njmp strict near .a\n.a: nop"),
    "scales": ("lea rax, [rax*3]\nlea rax, [rax*5 + 1]\nlea rax, [nosplit rax*2]"),
    "repeated statements": (
        "times 2 vmovdqa ymm9, [r8 + rdi*8]\ntimes 3 jne begin_r0\ntimes 12 vaddps ymm0, [rax + 0x12345678]"
    ),
    "repeated jumps that grow": "top: times 123 nop\ntimes 3 je top\nnop\ntimes 2 jmp top",
    "addresses of 32 bits": "mov ax, [eax]\npaddd xmm0, [eax]\nlock add word [fs:eax + 4], 5",
    "numbers": (
        "mov eax, 0q17\nmov eax, 17o\nmov eax, 0x1_000\nmov eax, 'ab'\nmov eax, $ - $$\nmov eax, 1 << 65"
    ),
    "constants further down": "mov eax, [rcx + x]\nadd eax, y\npush y\ny equ x + 1\nx equ 5",
    "numbers that are cut": ("sbb dword [rdi], 762 << 56\nadc ecx, 1 << 32"),
    "fills": ("nop\nalign 16, db 0xcc\nnop\nalignb 8\nalign 16, nop\nnop"),
}
"""What only NASM understands."""


def of_nasm(body: str, rest: str, folder: Path, *, programs: bool) -> list[Difference]:
    if shutil.which("nasm") is None:
        pytest.skip("NASM is not installed")
    text = "\n".join(["bits 64", "section .text", *marked(body.split("\n"), comment=";"), rest, ""])
    return differences(text, "nasm", folder, programs=programs)


@pytest.mark.parametrize("name", NASM)
def test_plain_code_is_that_of_nasm(tmp_path: Path, name: str) -> None:
    assert of_nasm(*NASM[name], tmp_path, programs=False) == []


@pytest.mark.parametrize("name", MORE_NASM)
def test_text_that_only_nasm_understands_goes_to_nasm(tmp_path: Path, name: str) -> None:
    assert of_nasm(MORE_NASM[name], "", tmp_path, programs=True) == []
    assert {each.kind for each in of_nasm(MORE_NASM[name], "", tmp_path, programs=False)} == {"refused"}
