"""GNU as's conditions: the code that they leave out, and the values that they compare."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TEXTS = {
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
