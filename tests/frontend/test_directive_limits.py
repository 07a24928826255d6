"""Where each limit of a directive lies: what it makes of the last value on one side, and what it says of the
first on the other."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.programs import build, macros
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directives import Alignment, fits
from cyclelens.analyzer.model.source import AssembledFile

DATA = {
    ".fill 3": "000000",
    ".fill 3, 2": "000000000000",
    ".fill 2, 1, 2": "0202",
    ".fill 2, 3, 0x11223344": "443322443322",
    ".fill 2, 4, -1": "ffffffffffffffff",
    ".fill 2, 5, -1": "ffffffff00ffffffff00",  # four bytes of the value
    ".fill 1, 8, 0x1122334455667788": "8877665500000000",
    ".fill 1, 9, 1": "0100000000000000",  # eight bytes at most
    ".zero 3": "000000",
    ".zero 3, 4": "040404",
    ".skip 2, 0x1ff": "ffff",
    ".dcb.b 2, 3": "0303",
    ".dcb.w 2": "00000000",
    ".dcb.w 1, 0x1122": "2211",
    ".dcb.l 1, 0x11223344": "44332211",
    ".nops 5": "0f1f440000",
    ".nops 5, 2": "6690669090",
    ".nops 5, 11": "0f1f440000",
    ".nops 12": "66662e0f1f84000000000090",
    ".uleb128 0, 127, 128, 16383, 16384": "007f8001ff7f808001",
    ".uleb128 -1": "ffffffffffffffffff01",
    ".sleb128 0, 63, 64, 8191, 8192": "003fc000ff3f80c000",
    ".sleb128 2+3": "05",
    ".sleb128 -1, -64, -65, -8192, -8193": "7f40bf7f8040ffbf7f",
    ".byte 255, 256, -1, -128, -256, -257": "ff00ff8000ff",
    ".word 65535, -65536": "ffff0000",
    ".byte '\\b, '\\f, '\\n, '\\r, '\\t, '\\\\, 'a": "080c0a0d095c61",
    ".octa 1, -1": "01" + "00" * 15 + "ff" * 16,
    ".octa 0xffffffffffffffff": "ff" * 8 + "00" * 8,
    ".octa 0x112233445566778899aabbccddeeff00": "00ffeeddccbbaa998877665544332211",
    ".octa -0x10000000000000000, 18446744073709551616": "00" * 8 + "ff" * 8 + "00" * 8 + "01" + "00" * 7,
    ".string \"a\" \"b\"": "616200",
    ".ascii \"a\\101\\x41\\n\\\"\"": "6141410a22",
    ".ascii \"\\x4g\\x\\x123\\X5\"": "0467002305",  # as many digits as there are, of which two count
    ".ascii \"\\7\\18\\9\\1234\\777\\400\"": "071009" + "5334" + "ff00",
    ".ascii \"\\b\\f\\n\\r\\t\\q\\\\\"": "080c0a0d09715c",
    ".string16 \"ab\"": "610062000000",
    ".float 1.5": "0000c03f",
    ".double 0d1": "000000000000f03f",
}  # fmt: skip

PADDING = {
    "nop\n.p2align 2": "900f1f00",
    "nop\n.p2align 4,,14": "90",  # fifteen are missing
    "nop\n.p2align 4,,15": "9066662e0f1f8400000000000f1f4000",
    "nop\n.balign 4, 0x11, 2": "90",
    "nop\n.balign 4, 0x11, 3": "90111111",
    "nop\n.balign 8, 0x11": "9011111111111111",
    ".org 4\nnop": "0000000090",
    # A symbol minus itself is known before the symbol is.
    "x = q - p\n.if x - x + 1\nnop\n.endif\np: nop\nq: nop": "909090",
    "nop\n.p2align 2\n.long 7\n.org 12, 0x11\nnop": "900f1f00" + "07000000" + "11111111" + "90",
    ".org 4, 0x111\nnop": "1111111190",
    ".macro m a\n.byte \\@\n.endm\nm\nm": "0001",
    ".macro m a=7 b:vararg\n.byte \\a, \\b\n.endm\nm , 1, 2, 3": "07010203",
    ".rept 3\nnop\n.endr": "909090",
    # Only .eqv means what its text means where it is used.
    "y = 1\n.eqv a, y+1\n.equ b, y+1\n.set c, y+1\n.equiv d, y+1\ny = 5\n.byte a, b, c, d": "06020202",
    "1: nop\n.equ x, 1f - 1b\nnop\n1: nop\nnop\n1: .byte x\n1: nop": "909090900290",
    "nop\n.skip a-b\na: nop\nb: nop": "909090",  # negative for good
    # A count has a sign, also if it is written as 2^63 or more.
    **{
        f".{name} {count}\nnop": "90"
        for name in ("dcb.w", "fill", "zero", "skip")
        for count in (-1, (1 << 64) - 1, 1 << 63)
    },
}

SETTLING = {
    # Elements of negative size do not end a pass.
    ".skip a-b\na: je b\nb: nop\nje t\n.fill 200, 1, 0x90\nt: nop": "7400900f84c8000000" + "90" * 201,
    # The space is wanted while the jump is short, and later because of itself: a jump that has grown is long
    # from the start of the next run, which does without.
    "a: .skip 10*-((c-a<5)|(c-a>8)), 0x90\nje d\nc: .fill 200, 1, 0x90\nd: nop": "0f84c8000000" + "90" * 201,
    # A number in LEB128 has a byte before its value is known: the space behind the first jump is never 10.
    "jmp t\n.skip 10-(b-a), 0x90\na: .uleb128 d-c\nb: .fill 117, 1, 0x90\nt: nop\nc: je e\n"
    "d: .fill 200, 1, 0x90\ne: nop": "eb7f" + "90" * 9 + "06" + "90" * 118 + "0f84c8000000" + "90" * 201,
}  # fmt: skip

CUT = {
    f".macro m {'1' * 60}\n.endm": 30,
    f".float {'x' * 60}": 30,
    f".long {'a' * 60}*b": 40,
    f".skip {'q' * 60}": 40,
    f"add (%rax,%rbx,1,{'1' * 60}), %eax": 42,  # with the parentheses, which the message adds
    f"add (%rax,%rbx,{'7' * 60}), %eax": 20,
    f"add ({'z' * 60},%rbx), %eax": 40,
    f"add %rax{{{'z' * 60}}}, %eax": 30,
    f"add %{'z' * 60}, %eax": 40,
    f"add {'{z}' * 20}, %eax": 30,
    f"mov $[{'z' * 60}], %eax": 20,
    f".intel_syntax noprefix; add eax, [rax*rbx*{'z' * 60}]": 30,
    f".p2align {'z' * 60}*2": 40,
    f".macro m x\n.if \\x\n.endif\n.endm\n.byte 1\njmp {'z' * 60}*2": 40,
    f".subsection {'z' * 60}*2": 40,
    f".org {'z' * 60}*2": 40,
    f"a = 1\n.set c, {'z' * 60}*b\nb = 2\n.byte c": 40,
}
"""Texts of which a message has the first letters, and how many."""

UNDECIDED = "This condition cannot be evaluated here: all of its branches are read."
REFUSED = {
    ".p2align 4,,3,1": ".p2align takes one to three numbers.",
    "nop\n.balign 3": "An alignment must be a power of two up to 1048576, not 3.",
    ".balign -1": "An alignment must be a power of two up to 1048576, not -1.",
    ".balign 0x200000": "An alignment must be a power of two up to 1048576, not 2097152.",
    ".p2align 65": "An alignment must be a power of two up to 1048576, not 18446744073709551616.",
    ".p2align 21": "An alignment must be a power of two up to 1048576, not 2097152.",
    ".fill 3, -1, 0": "The size of .fill is negative.",
    ".zero 3, 4, 5": ".zero takes a size and perhaps a byte to fill with.",
    ".skip": ".skip takes a size and perhaps a byte to fill with.",
    ".dcb.w 1, 2, 3": ".dcb.w takes a count and perhaps a number.",
    ".dcb.w": ".dcb.w takes a count and perhaps a number.",
    ".nops 5, 12": "The longest NOP of .nops is 11 bytes long.",
    ".nops 5, -1": "The longest NOP of .nops is 11 bytes long.",
    ".nops 5, 1, 2": ".nops takes a size and perhaps the longest NOP.",
    ".nops": ".nops takes a size and perhaps the longest NOP.",
    ".nops -1": ".nops of more than 4096 bytes is not supported.",
    ".nops 4097": ".nops of more than 4096 bytes is not supported.",
    ".sleb128 1-2": ".sleb128 of an expression that is negative is not supported.",
    ".ascii a": "A string in double quotes is expected.",
    ".ascii \"a\" b": "A string in double quotes is expected.",
    ".ascii \"abc": "A string is not closed.",
    ".float x": "'x' is not a floating-point number.",
    ".float 1e99": "'1e99' is not a floating-point number.",
    **dict.fromkeys(
        (f".{text}" for name in ("dcb.w {}", "fill {}, 8", "zero {}", "skip {}", "fill 4097, 1")
         for text in (name.format(4097), name.format((1 << 63) - 1))),
        "More than 4096 bytes of one statement are not supported inside of a region.",
    ),
    "nop\n.org 0\nnop": ".org cannot move backwards in GNU as.",
    ".macro\n.endm": "A macro needs a name.",
    ".macro m 1\n.endm": "'1' is not a macro parameter.",
    ".macro m a\n.byte \\a\n.endm\nm 1 2": "The macro 'm' takes at most 1 arguments.",
    ".macro m a:req\n.byte \\a\n.endm\nm": "The macro 'm' needs a value for 'a'.",
    ".if 1\nnop": ".if is never closed by .endif.",
    **{
        f"x = q - p\ny = r - p\n.if {text}\nnop\n.endif\np: nop\nq: nop\nr: nop": UNDECIDED
        for text in ("x - y", "x + x", "x + y")
    },
    ".ifc a b\nnop\n.endif": UNDECIDED,
}  # fmt: skip


@pytest.mark.parametrize("text", [*DATA, *PADDING])
def test_what_a_directive_makes(text: str, code: Callable[..., str]) -> None:
    assert code(text) == {**DATA, **PADDING}[text]


@pytest.mark.parametrize("text", SETTLING)
def test_sizes_that_depend_on_each_other_settle_as_with_gnu_as(
    text: str, code: Callable[..., str], gnu_code: Callable[[str], bytes]
) -> None:
    assert code(text) == SETTLING[text]
    assert gnu_code(f"{text}\n").hex() == SETTLING[text]


@pytest.mark.parametrize("text", CUT)
def test_messages_have_so_many_letters_of_a_long_text(
    text: str, region: Callable[..., AssembledFile]
) -> None:
    [problem] = region(text).problems
    assert len(re.findall("'(.*?)'", problem.message)[-1]) == CUT[text]


def test_gnu_as_makes_the_same(gnu_code: Callable[[str], bytes]) -> None:
    assert gnu_code("\n".join([*DATA, ""])).hex() == "".join(DATA.values())


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_directive_refuses(text: str, region: Callable[..., AssembledFile]) -> None:
    assert [problem.message for problem in region(text).problems] == [REFUSED[text]]


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_with_thousands_of_digits_is_too_long(
    region: Callable[..., AssembledFile], sign: str
) -> None:
    """Python itself converts no more than 4,300 decimal digits. The other statements are read."""
    result = region(f"nop\n.octa {sign}{'7' * 5000}\nnop")
    assert [(each.line, each.message) for each in result.problems] == [(2, "The expression is too long.")]
    assert len(result.regions[0].lines) == 2


def test_the_largest_alignment_and_the_most_nops_are_accepted(region: Callable[..., AssembledFile]) -> None:
    # What nops make is executed as a jump over them.
    for text, size in (("nop\n.p2align 20,,1", 1), ("nop\n.balign 0x100000,,1", 1), (".nops 4096", 5)):
        result = region(text)
        assert not result.problems
        assert sum(len(part.code) for part in result.regions) == size


@pytest.mark.parametrize(("limit", "made"), [("MAXIMUM_EXPANDED", 3), ("MAXIMUM_EXPANDED_TEXT", 2)])
def test_what_macros_make_in_all_parts_of_a_text_counts_together(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch, limit: str, made: int
) -> None:
    """At most three statements; or a use while those before it have at most three letters."""
    monkeypatch.setattr(build, limit, 3)
    between = "nop\n" * 300
    for uses in (made, made + 1):
        result = region(f".macro one\nnop\n.endm\n{between}" + between.join(["one\n"] * uses))
        assert len(result.problems) == uses - made


@pytest.mark.parametrize("text", [r'"", 5', r'"\\", 5', '"a b", 5', '"a, b" 5'])
def test_a_quoted_argument_ends_at_its_quote(text: str, code: Callable[..., str]) -> None:
    assert code(f".macro m a b\n.byte \\b\n.endm\nm {text}") == "05"


def test_a_repetition_that_makes_too_long_a_statement_ends_there(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements before and behind it stay. What was measured with its first round does not: where its
    last one would have ended is unknown."""
    monkeypatch.setattr(macros, "MAXIMUM_TEXT", 20)
    text = (
        f"a:\n.irp x, 1, {'2' * 20}\nnop\nb\\x: .if b\\x - a == 1\n.byte 7\n.endif\n.byte \\x\n.endr\nret\n"
    )
    result = region(f"{text}c: .if c - a == 4\n.byte 8\n.endif")
    assert [(problem.line, problem.message) for problem in result.problems] == [
        (2, "A statement becomes too long when macro parameters are replaced."),
        (10, "This condition cannot be evaluated here: all of its branches are read."),
    ]
    assert result.regions[0].lines[-2].code.hex() == "c3"


def test_a_condition_that_a_macro_leaves_open_is_unknown_to_later_ones(
    region: Callable[..., AssembledFile],
) -> None:
    text = "a: nop\n.macro m x\n.if b-a == 1\n.byte \\x\n.endm\nb: m 1\nc: .if c-a == 2\n.byte 8\n.endif"
    assert [(problem.line, problem.message) for problem in region(text).problems] == [
        (6, ".if is never closed by .endif."),
        (7, "This condition cannot be evaluated here: all of its branches are read."),
    ]


@pytest.mark.parametrize("boundary", [1, 2, 16])
@pytest.mark.parametrize("maximum", [None, 0, 1, 14, 15, 16])
def test_padding_is_all_that_is_missing_or_nothing(boundary: int, maximum: int | None) -> None:
    subject = Alignment(boundary, maximum=maximum)
    sizes = {offset: subject.size(offset) for offset in range(2 * boundary)}
    for offset, size in sizes.items():
        missing = -offset % boundary
        assert size == (missing if maximum is None or missing <= maximum else 0)
        assert subject.padding(offset, is_code=False) == bytes(size)
    assert subject.most == max([0, *([boundary - 1] if maximum is None else [min(boundary - 1, maximum)])])
    assert subject.is_certain is (maximum is None or maximum >= boundary - 1)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_late_numbers_have_as_many_bits_as_their_bytes_and_a_sign(size: int) -> None:
    """A number that GNU as learns late may lack its sign, or have it beside all of its bits."""
    most = 1 << 8 * size
    assert [fits(number, size) for number in (-most, 1 - most, most - 1, most)] == [False, True, True, False]
    half = most // 2
    signed = [fits(number, size, is_signed=True) for number in (-half - 1, -half, half - 1, half)]
    assert signed == [False, True, True, False]
    assert fits(1 << 70, 8)


def test_every_data_directive_has_the_size_that_gnu_as_gives_it(
    gnu_code: Callable[[str], bytes], code: Callable[..., str]
) -> None:
    lines = [f".{name} 0x{'7b' * size}" for name, size in directives._INTEGERS.items()]
    lines += [f".{name} 1.5" for name in directives._FLOATS]
    lines += [f'.{name} "ab"' for name in directives._STRINGS]
    lines += [f".{name} 3" for name in (*directives._SPACES, *directives._REPEATED)]
    lines += [f".{name} 2, 5" for name in (*directives._SPACES, *directives._REPEATED)]
    lines += [f".{name} 300" for name in directives._LEB128]
    for name in directives.ALIGNMENTS:
        boundary = 4 if name.startswith("p2") else 16
        fill = {"w": "0x1122", "l": "0x11223344"}.get(name[-1], "0x11")
        padding = f".{name} {boundary}, {fill}"
        lines += [".p2align 4", ".octa 1", padding, ".long 7", padding]
    assert code("\n".join(lines)) == gnu_code("\n".join([*lines, ""])).hex()
