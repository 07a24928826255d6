"""Macros, repetitions and conditions expand as in GNU as, at the line of use."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.programs import build, macros
from cyclelens.analyzer.model.source import AssembledFile

TEXTS = {
    "altmacro": r"""
.set K, 3
.macro step reg, n, op=add
  LOCAL again
again:
  op $0x10, reg
  dec %r&n
  jnz again
  .ascii "n op", "reg&n"
.endm
.altmacro
step <%rax>, %K+5
step <%rbx>, 9, <sub>
.macro text t, u
  .ascii t
  .ascii "u"
.endm
text <"a, b">, <c!>d>
.noaltmacro
.macro plain a
  mov $a, %eax
  mov $\a, %eax
.endm
.set a, 9
plain 5
""",
    "labels in front of the directives": r"""
1: .rept 2
nop
.endr
2: .irp r, %rax, %rbx
push \r
.endr
.macro one
3: .rept 2
incl %ecx
.endr
behind: .endm
4: one
jne behind
jne 4b
a: b: .irpc n, 12
mov $\n, %eax
.endr
.rept 1
.Lc: .rept 2
dec %edx
.endr
.endr
jmp .Lc
""",
    "blanks between arguments and within them": r"""
.macro m a b c d e
  .ascii "\a|\b|\c|\d|\e;"
.endm
m 8*3 +8(%rsp), 2
m 8*3 -8(%rsp), 2
m 8 - 3
m 8* 3
m (a b) c
m ( a  b ) c
m x [a b]
m x) y
m a +b & c | d
m a % b
m %rdx %rcx $5 -6
m a @b
m a : b
""",
    "defaults of parameters with brackets": r"""
.macro m a:req b=((( 3*32+21)) | (1 << 15)), c = 7
  .long \a, \b, \c
.endm
m 1
m 1 2 3
""",
    "expressions of altmacro behind blanks": r"""
.set i, 5
.macro label prefix n
\prefix\n\():
.endm
1: nop
.altmacro
label crc_ %i
.noaltmacro
dec %rcx
jnz crc_5
""",
    "numeric labels": r"""
1: jmp 1f
10: dec %rcx
1: jnz 1b
jz 10b
jmp 1f
.rept 2
2: dec %rax
jnz 2b
jmp 3f
3:
.endr
1: jmp 2b
.macro m
1: dec %rdx
jnz 1b
jmp 1f
.endm
m
1: m
1: 01: jmp 1b
""",
    "local labels": r"""
kernel:
.Lloop: dec %rcx
jnz .Lloop
jmp .Lend
.set here, .Lloop
jmp here
a$b: _c.d: jmp a$b
"quoted": jmp quoted
jmp .Lend
.Lend: ret
jmp .
""",
    "arguments": r"""
.macro m a, b=3, c
.ascii "[\a][\b][\c]"
.endm
m 1
m 1,,2
m x y z
m %rax %rbx
m 8(%rsi,%rcx), q
m a + b, c
m -1 -2
m b=5, a=3
m "x, y", z
m dword[rax + 8], xmm0
m (1 + 2)*3
m 1 , 2 , 3
m
""",
    "vararg": r"""
.macro m p, q:vararg
.ascii "{\p|\q}"
.endm
m a, b , c d
m a
m
""",
    "nested": r"""
.macro in x
add $\x, %eax
.endm
.macro out x, y
in \x
in \y
.endm
out 1, 2
""",
    "recursive": r"""
.macro sum from, to
.byte \from
.if \to-\from
sum "(\from+1)", \to
.endif
.endm
sum 0, 5
""",
    "number": r"""
.macro m
.ascii "\@"
.endm
m
m
m
""",
    "labels": r"""
.macro spin r
l\@:
dec \r
jnz l\@
.endm
spin %eax
spin %rcx
""",
    "glue": r"""
.macro m p, q
.ascii "\p\().\q\()x"
.endm
m v, w
""",
    "case": r"""
.macro Twice x
add \x, \x
.endm
TWICE %rax
twice %rbx
""",
    "irp": r"""
.irp r, %rax, %rbx
push \r
.endr
.irp r
.ascii "<\r>"
.endr
.irpc c, abc
.ascii "\c"
.endr
""",
    "irp in a macro": r"""
.macro m p
.irp q, 1, 2
.ascii "(\p\q)"
.endr
.endm
m 5
m 6
""",
    "rept in a macro": r"""
.macro pad n
.rept \n
nop
.endr
.endm
pad 3
pad 1
""",
    "exitm": r"""
.macro m x
nop
.if \x
.exitm
.endif
ret
.endm
m 0
m 1
ret
""",
    "exitm in repetitions": r"""
.macro m x
.rept 3
nop
.if \x
.exitm
.endif
hlt
.endr
ret
.endm
m 0
m 1
.irp n, 1, 2, 3
.byte \n
.if \n == 2
.exitm
.endif
leave
.endr
.rept 2
.rept 2
nop
.exitm
.endr
ret
.endr
""",
    "purgem": r"""
.macro ret
nop
.endm
ret
.purgem ret
ret
""",
    "text": r"""
.macro m a
.ifc \a, x
nop
.endif
.ifnc \a, x
ret
.endif
.ifb \a
int3
.endif
.ifnb \a
leave
.endif
.ifeqs "\a", "y"
hlt
.endif
.endm
m x
m y
m
""",
    "skipped macro": r"""
.if 0
.macro m
.if 1
nop
.endif
.endm
.endif
ret
""",
    "counter": r"""
.set i, 0
.rept 4
.byte i
.set i, i + 1
.endr
""",
    "kernel": r"""
.macro fma acc, off
vmovups \off(%rdi), %ymm0
vfmadd231ps \off(%rsi), %ymm0, \acc
.endm
1:
.set o, 0
.irp n, 1, 2, 3, 4
fma %ymm\n, o
.set o, o + 32
.endr
add $128, %rdi
dec %rcx
jnz 1b
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_bytes_are_those_of_gnu_as(
    code: Callable[..., str], gnu_code: Callable[[str], bytes], name: str
) -> None:
    assert code(TEXTS[name]) == gnu_code(TEXTS[name]).hex()


def test_exitm_outside_of_a_macro_ends_nothing(region: Callable[..., AssembledFile]) -> None:
    """GNU as ignores it with a warning."""
    result = region("nop\n.exitm\nret")
    assert [(problem.line, problem.code) for problem in result.problems] == [(2, "not-supported")]
    assert [part.code.hex() for part in result.regions] == ["90c3"]


def test_a_statement_of_a_macro_is_at_the_line_of_its_use(region: Callable[..., AssembledFile]) -> None:
    text = (
        ".macro twice r\nadd \\r, \\r\n.endm\n.macro four r\ntwice \\r\ntwice \\r\n.endm\n  four %rax # twice"
    )
    lines = region(text).regions[0].lines
    assert [(line.line, line.column, line.end_column) for line in lines] == [(8, 2, 11)] * 2
    assert [line.text for line in lines] == ["add %rax, %rax"] * 2


def test_statements_of_a_repetition_stand_where_they_are_written(
    region: Callable[..., AssembledFile],
) -> None:
    lines = region(".irp r, %rax, %rbx\n  inc \\r # x\n.endr").regions[0].lines
    assert [(line.line, line.column, line.end_column, line.text) for line in lines] == [
        (2, 2, 8, "inc %rax"),
        (2, 2, 8, "inc %rbx"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (".macro m r\nfrobnicate \\r\n.endm\nnop\nm %rax", 5),
        (".macro m r:req\nnop\n.endm\nm", 4),
        (".macro m r\nnop\n.endm\nm 1, 2", 4),
        (".macro m\nm\n.endm\nm", 4),
        (".macro m\nnop", 1),
        (".if unknown\nnop\n.endif", 1),
        (".if 1\nnop", 1),
        (".irp x, a\nnop", 1),
        (".macro m a\nm \\a\\a\n.endm\nm xxxxxxxxxx", 4),
        (".endm", 1),
        (".endif", 1),
    ],
)
def test_what_cannot_be_followed_is_reported_at_its_line(
    region: Callable[..., AssembledFile], text: str, line: int
) -> None:
    result = region(text)
    assert {problem.line for problem in result.problems} == {line}
    assert result.regions[0].incomplete


def test_macros_that_grow_without_end_are_stopped(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "MAXIMUM_EXPANDED", 2000)
    result = region(".macro m\nm\nm\n.endm\nm")
    assert {(problem.line, problem.code) for problem in result.problems} == {(5, "not-supported")}


@pytest.mark.parametrize("uses", [3, 4, 5])
@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("MAXIMUM_EXPANDED", 8, "Macros would make more than 8 statements in this file."),
        ("MAXIMUM_EXPANDED_TEXT", 23, "The text that macros produce is too long."),
    ],
)
def test_the_last_expansion_that_fits_is_made(
    region: Callable[..., AssembledFile],
    monkeypatch: pytest.MonkeyPatch,
    uses: int,
    limit: str,
    most: int,
    message: str,
) -> None:
    """Two statements of six letters for each use: eight statements are four uses, and after four uses the
    text has grown beyond 23 letters, however far apart they stand."""
    monkeypatch.setattr(build, limit, most)
    between = "nop\n" * 300
    result = region(".macro two\nnop\nnop\n.endm\n" + between + between.join(["two\n"] * uses))
    assert [problem.message for problem in result.problems] == [message] * max(0, uses - 4)


@pytest.mark.parametrize("letters", [19, 20, 21, 24])
def test_a_statement_may_have_so_many_letters_when_names_are_replaced(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch, letters: int
) -> None:
    monkeypatch.setattr(macros, "MAXIMUM_TEXT", 20)
    number = "1".rjust(letters - len(".byte "), "0")
    result = region(f".macro m a\n.byte \\a\n.endm\nm {number}")
    too_long = "A statement becomes too long when macro parameters are replaced."
    assert [problem.message for problem in result.problems] == [too_long] * (letters > 20)


def test_a_macro_around_a_region_is_followed() -> None:
    text = ".macro two r\nadd \\r, \\r\n.endm\n.if 0\nret\n.endif\n"
    text += "# cyclelens-begin\ntwo %rax\n# cyclelens-end\n"
    result = assemble(text)
    assert result.problems == ()
    assert result.regions[0].code.hex() == "4801c0"
