"""Kernels as a beginner writes them, each beside an expert's version.

``kernel(a, b, out, n)``: ``rdi rsi rdx rcx``; n is the number of iterations. Floating-point data are small
whole numbers, so that sums do not depend on their order.
"""

from __future__ import annotations

from msgspec import Struct

HEAD = "    .text\n    .globl kernel\n    .type kernel, @function\nkernel:\n"


class Kernel(Struct, frozen=True):
    """A kernel in both versions."""

    data: str
    """``f32``, ``f64`` or ``int``."""
    before: str
    loop: str
    behind: str
    expert: str
    """The loop of an expert."""
    times: int
    """Iterations of ``loop`` that one of the expert's does."""

    @property
    def text(self) -> str:
        return (
            f"{HEAD}{self.before}    .p2align 5\n# cyclelens-begin loop\n.Lloop:\n{self.loop}"
            f"# cyclelens-end\n{self.behind}    ret\n"
        )

    @property
    def expert_text(self) -> str:
        return f"    .p2align 5\n# cyclelens-begin loop\n.Lloop:\n{self.expert}# cyclelens-end\n"


def _lines(*statements: str) -> str:
    return "".join(f"    {statement}\n" for statement in statements)


_STORE = _lines("vmovups %ymm0, (%rdx)")
_STORE_X = _lines("movups %xmm0, (%rdx)")
_STORE_R = _lines("mov %rax, (%rdx)")
_CLEAR = _lines("vxorps %xmm0, %xmm0, %xmm0")

COPY_LOOP = """\
.p2align 6
.loop:
    vmovups (%rsi,%rax), %ymm0
    vmovups %ymm0, (%rdi,%rax)
    add $32, %rax
    cmp %rcx, %rax
    jb .loop
"""
"""A loop that copies 32 bytes per iteration, aligned to a line; it is no kernel of ``tests/tables``."""

FORKING_LOOP = """\
.Lnext:
    mov (%rdi), %rax
    test %rax, %rax
    js .Lskip
    imul %rax, %rdx
    imul %rdx, %rdx
.Lskip:
    add $8, %rdi
    dec %rcx
    jnz .Lnext
"""
"""On SKL two multiplications in a chain take 6 cycles; without them two branches take 2."""

KERNELS = {
    "dot product": Kernel(
        "f32",
        _CLEAR,
        _lines(
            "vmovups (%rdi), %ymm1",
            "vfmadd231ps (%rsi), %ymm1, %ymm0",
            "add $32, %rdi",
            "add $32, %rsi",
            "dec %rcx",
            "jnz .Lloop",
        ),
        _STORE,
        _lines(
            *(f"vmovups {32 * n}(%rdi), %ymm{8 + n}" for n in range(8)),
            *(f"vfmadd231ps {32 * n}(%rsi), %ymm{8 + n}, %ymm{n}" for n in range(8)),
            "add $256, %rdi",
            "add $256, %rsi",
            "sub $8, %rcx",
            "jnz .Lloop",
        ),
        8,
    ),
    "dot product of two chained FMAs": Kernel(
        "f32",
        _CLEAR,
        _lines(
            "vmovups (%rdi), %ymm1",
            "vmovups 32(%rdi), %ymm2",
            "vfmadd231ps (%rsi), %ymm1, %ymm0",
            "vfmadd231ps 32(%rsi), %ymm2, %ymm0",
            "add $64, %rdi",
            "add $64, %rsi",
            "dec %rcx",
            "jnz .Lloop",
        ),
        _STORE,
        _lines(
            *(f"vmovups {32 * n}(%rdi), %ymm{8 + n}" for n in range(8)),
            *(f"vfmadd231ps {32 * n}(%rsi), %ymm{8 + n}, %ymm{n}" for n in range(8)),
            "add $256, %rdi",
            "add $256, %rsi",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
    "sum of floats": Kernel(
        "f32",
        _CLEAR,
        _lines("vaddps (%rdi), %ymm0, %ymm0", "add $32, %rdi", "dec %rcx", "jnz .Lloop"),
        _STORE,
        _lines(
            *(f"vaddps {32 * n}(%rdi), %ymm{n}, %ymm{n}" for n in range(8)),
            "add $256, %rdi",
            "sub $8, %rcx",
            "jnz .Lloop",
        ),
        8,
    ),
    "sum of doubles, one by one": Kernel(
        "f64",
        _lines("xorps %xmm0, %xmm0"),
        _lines("addsd (%rdi), %xmm0", "add $8, %rdi", "dec %rcx", "jnz .Lloop"),
        _lines("movsd %xmm0, (%rdx)"),
        _lines(
            *(f"addsd {8 * n}(%rdi), %xmm{n}" for n in range(8)),
            "add $64, %rdi",
            "sub $8, %rcx",
            "jnz .Lloop",
        ),
        8,
    ),
    "largest number": Kernel(
        "int",
        _lines("vmovdqu (%rdi), %ymm0"),
        _lines("vpmaxsd (%rdi), %ymm0, %ymm0", "add $32, %rdi", "dec %rcx", "jnz .Lloop"),
        _STORE,
        _lines(
            *(f"vpmaxsd {32 * n}(%rdi), %ymm{n}, %ymm{n}" for n in range(2)),
            "add $64, %rdi",
            "sub $2, %rcx",
            "jnz .Lloop",
        ),
        2,
    ),
    "checksum": Kernel(
        "int",
        _lines("xor %eax, %eax"),
        _lines("xor (%rdi), %rax", "add $8, %rdi", "dec %rcx", "jnz .Lloop"),
        _STORE_R,
        _lines(
            "xor (%rdi), %rax",
            "xor 8(%rdi), %r8",
            "xor 16(%rdi), %r9",
            "xor 24(%rdi), %r10",
            "add $32, %rdi",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
    "sum of differences": Kernel(
        "int",
        _lines("pxor %xmm0, %xmm0"),
        _lines(
            "movdqu (%rdi), %xmm1",
            "movdqu (%rsi), %xmm2",
            "psadbw %xmm2, %xmm1",
            "paddq %xmm1, %xmm0",
            "add $16, %rdi",
            "add $16, %rsi",
            "dec %rcx",
            "jnz .Lloop",
        ),
        _STORE_X,
        _lines(
            *(
                each.format(16 * n)
                for n in range(2)
                for each in (
                    "vmovdqu {}(%rdi), %xmm1",
                    "vpsadbw {}(%rsi), %xmm1, %xmm1",
                    f"vpaddq %xmm1, %xmm{2 * (n % 2)}, %xmm{2 * (n % 2)}",
                )
            ),
            "add $32, %rdi",
            "add $32, %rsi",
            "sub $2, %rcx",
            "jnz .Lloop",
        ),
        2,
    ),
    "copy of 16 bytes": Kernel(
        "int",
        "",
        _lines(
            "movups (%rdi), %xmm0",
            "movups %xmm0, (%rdx)",
            "add $16, %rdi",
            "add $16, %rdx",
            "dec %rcx",
            "jnz .Lloop",
        ),
        "",
        _lines(
            *(f"vmovups {32 * n}(%rdi), %ymm{n}" for n in range(4)),
            *(f"vmovups %ymm{n}, {32 * n}(%rdx)" for n in range(4)),
            "add $128, %rdi",
            "add $128, %rdx",
            "sub $8, %rcx",
            "jnz .Lloop",
        ),
        8,
    ),
    "a x + y": Kernel(
        "f32",
        _lines("shl $3, %rcx", "xor %eax, %eax"),
        _lines(
            "vmovups (%rsi), %ymm1",
            "vmovups (%rdi,%rax,4), %ymm0",
            "vfmadd213ps (%rdx,%rax,4), %ymm1, %ymm0",
            "vmovups %ymm0, (%rdx,%rax,4)",
            "add $8, %rax",
            "cmp %rcx, %rax",
            "jb .Lloop",
        ),
        "",
        _lines(
            *(
                each.format(32 * n)
                for n in range(4)
                for each in (
                    "vmovups {}(%rdi), %ymm0",
                    "vfmadd213ps {}(%rdx), %ymm1, %ymm0",
                    "vmovups %ymm0, {}(%rdx)",
                )
            ),
            "sub $-128, %rdi",
            "sub $-128, %rdx",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
    "scaling": Kernel(
        "f32",
        _lines("xor %eax, %eax", "shl $3, %rcx"),
        _lines(
            "vmovups (%rdi,%rax,4), %ymm0",
            "vmulps (%rsi), %ymm0, %ymm0",
            "vaddps (%rdi,%rax,4), %ymm0, %ymm0",
            "vmovups %ymm0, (%rdx,%rax,4)",
            "add $8, %rax",
            "cmp %rcx, %rax",
            "jb .Lloop",
        ),
        "",
        _lines(
            *(
                each.format(32 * n)
                for n in range(4)
                for each in (
                    "vmovups {}(%rdi), %ymm0",
                    "vfmadd213ps %ymm0, %ymm1, %ymm0",
                    "vmovups %ymm0, {}(%rdx)",
                )
            ),
            "sub $-128, %rdi",
            "sub $-128, %rdx",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
    "addition of arrays": Kernel(
        "int",
        _lines("xor %eax, %eax"),
        _lines(
            "mov (%rdi,%rax,8), %r8",
            "add (%rsi,%rax,8), %r8",
            "mov %r8, (%rdx,%rax,8)",
            "inc %rax",
            "cmp %rcx, %rax",
            "jne .Lloop",
        ),
        "",
        _lines(
            *(
                each.format(8 * n)
                for n in range(4)
                for each in ("mov {}(%rdi), %r8", "add {}(%rsi), %r8", "mov %r8, {}(%rdx)")
            ),
            "add $32, %rdi",
            "add $32, %rsi",
            "add $32, %rdx",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
    "product of sums": Kernel(
        "int",
        _lines("mov $1, %eax"),
        _lines("imul $3, (%rdi), %r8", "add %r8, %rax", "add $8, %rdi", "dec %rcx", "jnz .Lloop"),
        _STORE_R,
        _lines(
            *(
                each.format(8 * n, r, s)
                for n, (r, s) in enumerate((("r8", "rax"), ("r9", "r10"), ("r11", "rax"), ("rsi", "r10")))
                for each in ("imul $3, {}(%rdi), %{}", "add %{1}, %{2}")
            ),
            "add $32, %rdi",
            "sub $4, %rcx",
            "jnz .Lloop",
        ),
        4,
    ),
}
