"""GNU as's conditions: the code that they leave out, and the values that they compare."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TEXTS = {
    "distances, one after the other": r"""
first:
mov %eax, %ebx
.rept (. - first) + 1
nop
.endr
second: .if second - first == 5
.byte 5
.else
.byte 9
.endif
.data
here: .long 1, 2
.if . - here == 8
.subsection 1
late: .byte 1
.previous
.endif
.text
counter = %ecx
mov counter, %eax
third: .if third - second == 3
.byte 3
.endif
.if . - third == 1
add $third - first, %eax
fourth:
.endif
1: .irp word, a, b
.if (fourth - third) == 4
.byte fourth - third
.endif
1: .byte 1b - first
.endr
.data
.if . - here == 8
.byte . - here
.endif
""",
    "if": r"""
.set n, 3
.if n > 2
nop
.else
ret
.endif
.if n == 2
nop
.elseif n == 3
ret
.else
nop
.endif
""",
    "nested if": r"""
.if 0
.if 1
nop
.else
nop
.endif
nop
.else
.ifeq 0
ret
.endif
.endif
""",
    "comparisons": r"""
.ifeq -1
.byte -1
.else
.byte 9
.endif
.ifeq 0
.byte 0
.else
.byte 9
.endif
.ifeq 1
.byte 1
.else
.byte 9
.endif
.ifne -1
.byte -1
.else
.byte 9
.endif
.ifne 0
.byte 0
.else
.byte 9
.endif
.ifne 1
.byte 1
.else
.byte 9
.endif
.ifgt -1
.byte -1
.else
.byte 9
.endif
.ifgt 0
.byte 0
.else
.byte 9
.endif
.ifgt 1
.byte 1
.else
.byte 9
.endif
.ifge -1
.byte -1
.else
.byte 9
.endif
.ifge 0
.byte 0
.else
.byte 9
.endif
.ifge 1
.byte 1
.else
.byte 9
.endif
.iflt -1
.byte -1
.else
.byte 9
.endif
.iflt 0
.byte 0
.else
.byte 9
.endif
.iflt 1
.byte 1
.else
.byte 9
.endif
.ifle -1
.byte -1
.else
.byte 9
.endif
.ifle 0
.byte 0
.else
.byte 9
.endif
.ifle 1
.byte 1
.else
.byte 9
.endif
""",
    "defined": r"""
.set a, 1
.ifdef a
nop
.endif
.ifdef b
ret
.endif
.ifndef b
int3
.endif
.set b, 1
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_bytes_are_those_of_gnu_as(
    code: Callable[..., str], gnu_code: Callable[[str], bytes], name: str
) -> None:
    assert code(TEXTS[name]) == gnu_code(TEXTS[name]).hex()
