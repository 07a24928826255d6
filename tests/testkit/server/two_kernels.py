"""A text of two kernels, and its lines."""

from __future__ import annotations

TEXT = """\
# two kernels
# cyclelens-begin chain
.L1:
    /* 🔥 */ imul %rax, %rbx
    dec %r15
    jnz .L1
# cyclelens-end

# cyclelens-begin immediate mode=unroll
    add $0x1234, %ax
    dec %r14
# cyclelens-end
"""
CHAIN, IMUL, DEC, IMMEDIATE, ADD = 1, 3, 4, 8, 9
