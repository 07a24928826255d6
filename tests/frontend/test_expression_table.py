"""What an expression is before all symbols are known: a number, an address plus a number, something that only
the whole text decides, or a mistake with its message. Numbers are compared with GNU as and NASM in
``test_expressions.py``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, MASM, NASM, Dialect
from cyclelens.analyzer.frontend.statements.expressions import (
    LATER,
    ExpressionError,
    ExpressionValue,
    evaluate,
    refuse_zero,
    without_characters,
)

KNOWN = {
    "k": ExpressionValue(7),
    "a4": ExpressionValue(4, "a"),
    "rel": ExpressionValue(3, "a", is_relative=True),
    "late": LATER,
    "one": ExpressionValue(2, "one", later=True),
    "two": ExpressionValue(5, "two", later=True),
}
"""A number, a name for a place, the same minus the place of use, and three that later text decides: of the
last two, only the names are known."""


def place(number: int, symbol: str = "x") -> ExpressionValue:
    return ExpressionValue(number, symbol)


def later(number: int) -> ExpressionValue:
    return ExpressionValue(number, "one", later=True)


def relative(number: int, symbol: str = "a") -> ExpressionValue:
    return ExpressionValue(number, symbol, is_relative=True)


VALUES: dict[str, int | ExpressionValue] = {
    "k": 7, "k-k": 0, "k*2": 14, "-k": -7,
    "x": place(0), "+x": place(0), "x+4": place(4), "4+x": place(4), "x-4": place(-4), "x+k": place(7),
    "a4+k": place(11, "a"), "k+a4": place(11, "a"), "a4-1": place(3, "a"), "x-(y-y)": place(0),
    "x-x": 0, "a4-a": 4, "a-a4": -4, "a4-a4": 0,
    **dict.fromkeys(("4-x", "x-y", "x+y", "x+x", "x*2", "2*x", "-x", "~x", "!x", "x/0"), LATER),
    **dict.fromkeys(("x|1", "x==x"), LATER),
    **dict.fromkeys(("late", "late+1", "1+late", "late-1", "1-late", "late-late", "late+x", "-late"), LATER),
    "one": later(2), "one+3": later(5), "3+one": later(5), "one-3": later(-1), "one-one": 0,
    "one+4-one": 4, "one-4-one": -4,
    **dict.fromkeys(("3-one", "one+one", "one-two", "one*2", "one-x", "x-one"), LATER),
    **dict.fromkeys(("one+late", "late-one"), LATER),
    "rel": relative(3), "rel+1": relative(4), "1+rel": relative(4), "rel-1": relative(2),
    "x-S": relative(0, "x"), "a4-S": relative(4), "x+5-S": relative(5, "x"), "S-S": 0, "S+2-S": 2,
    **dict.fromkeys(("rel-a", "a-rel", "rel-S", "rel-late", "S-x", "rel+x", "rel-rel"), LATER),
    "017": 15, "0": 0, "00": 0, "0x1F": 31, "0XaB": 171, "0b101": 5, "0B11": 3, "1f": place(0, "1f"),
    "2b": place(0, "2b"), "x@plt": place(0, "x@plt"), '"x y"': place(0, '"x y"'), '"k"': 7,
    "'a'": 97, "'a": 97, "'\\n": 10, "'\\n'": 10, "'\\t": 9, "'\\r": 13, "'\\b": 8, "'\\f": 12, "'\\0": 0,
    "'\\q": 113, "'\\\\": 92, "'a'+1": 98, "'\"": 34,
    "!5": 0, "!0": 1, "~0": -1, "~5": -6, "--5": 5, "- - 5": 5, "-~5": 6, "+5": 5, "(5)": 5,
    "((2)+(3))*2": 10,
    "18446744073709551615": (1 << 64) - 1, "18446744073709551616": 0, "18446744073709551617": 1,
    "-9223372036854775808": -(1 << 63), "-9223372036854775809": (1 << 63) - 1,
    "0xffffffffffffffff+1": 0, "0xffffffffffffffff*2": (1 << 64) - 2,
    "1<<63": 1 << 63, "1<<64": 0, "1<<-1": 0, "1>>0": 1, "-1>>1": (1 << 63) - 1, "-1>>63": 1, "-1>>64": 0,
    "5/0": 5, "5%0": 0, "-5/2": -2, "-5%2": -1, "5%-2": 1, "5/-2": -2, "-4/-2": 2,
    "1<2": -1, "1<1": 0, "2>1": -1, "1>1": 0, "1<=1": -1, "2<=1": 0, "1>=1": -1, "1>=2": 0, "1==1": -1,
    "1==2": 0, "1!=1": 0, "1!=2": -1, "1<>1": 0, "1<>2": -1, "2&&3": 1, "2&&0": 0, "0&&2": 0, "0||0": 0,
    "0||2": 1, "2||0": 1, "6!3": -2, "6|3": 7, "6&3": 2, "6^3": 5,
}  # fmt: skip
IN_INTEL: dict[str, int | ExpressionValue] = {
    "13 mod 5": 3, "5 shl 2": 20, "5 shr 1": 2, "6 and 3": 2, "6 or 3": 7, "6 xor 3": 5, "not 5": -6,
    "5 eq 5": -1, "5 ne 5": 0, "4 lt 5": -1, "5 lt 5": 0, "5 le 5": -1, "6 le 5": 0, "5 gt 5": 0,
    "6 gt 5": -1,
    "5 ge 5": -1, "5 GE 6": 0, "0+x": place(0), "x-0": place(0), "x-1": place(-1), "0*1": 0, "k==1": 0,
    **dict.fromkeys(("x*2", "2*x", "x&y", "x and 2", "2<x", "late*2"), LATER),
}  # fmt: skip
IN_NASM: dict[str, int | ExpressionValue] = {
    "0fh": 15, "12h": 18, "0x1f": 31, "1<<63": 1 << 63, "1>>63": 0, "1>>0": 1, "5/2": 2, "0/1": 0, "5%1": 0,
    "1|2^3&4<<1+2*3": 3, "7/2*2": 6, "1<<2+1": 8, "6&3|8": 10,
}  # fmt: skip
UNCLEAR = "Whether GNU as can evaluate this '{}' is unclear."
DIVISION = "Only NASM can evaluate a division with a negative number or zero."
REFUSED: dict[str, dict[str, str]] = {
    "ATT": {
        "(x": "A closing parenthesis is missing.", "(x 5": "A closing parenthesis is missing.",
        "x)": "')' is not expected here.", "()": "')' is not expected here.",
        "": "An operand is missing.", "5*": "An operand is missing.", "-": "An operand is missing.",
        "5 5": "'5' is not expected here.", "x y": "'y' is not expected here.",
        "*5": "'*' is not expected here.", "5+*5": "'*' is not expected here.",
        "08": "'08' begins with 0 and so is octal, but holds an 8 or 9.",
        "019": "'019' begins with 0 and so is octal, but holds an 8 or 9.",
        "12h": "'12h' is not a number to GNU as: write 0x12.", "[5]": "'[5]' is not understood.",
        "5 #": "'#' is not understood.", "#" * 30: f"'{'#' * 20}' is not understood.",
        "5 mod 2": "'mod' is not expected here.",
        '"%rax"': "The register '%rax' is one in quotes, too.",
        '"a@plt"': "GNU as takes '@plt' within quotes for a relocation.",
    },
    "INTEL": {
        **{f"0{sign}x": UNCLEAR.format(sign) for sign in (*"*/%&|^<", "==", "<<", "&&")},
        **{f"x{sign}1": UNCLEAR.format(sign) for sign in (*"*/%&|^<", "==", ">>", "||")},
        **{f"x{sign}x": UNCLEAR.format(sign) for sign in "&|^!"},
        "a4&a": UNCLEAR.format("&"), "late*0": UNCLEAR.format("*"), "5 not 3": "'~' is not expected here.",
        "0ch": "'0ch' is not a number to GNU as: write 0x0c.",
    },
    "NASM": {
        **{f"1{sign}{count}": f"Only NASM can evaluate a shift by {count}."
           for sign in ("<<", ">>") for count in (64, -1)},
        **dict.fromkeys(("-5/2", "5/-2", "5/0", "-5%2", "5%0", "5%-1"), DIVISION),
        "1<2": "'<' is not expected here.", "5!3": "'!' is not expected here.",
        '"ab"': "'\"ab\"' is not understood.",
    },
}  # fmt: skip
DIALECTS = {"ATT": ATT, "INTEL": INTEL, "NASM": NASM, "MASM": MASM}


def value(text: str, dialect: Dialect) -> ExpressionValue:
    return evaluate(text, KNOWN.get, dialect=dialect, section="S")


@pytest.mark.parametrize(
    ("name", "table"), [("ATT", VALUES), ("INTEL", IN_INTEL), ("MASM", IN_INTEL), ("NASM", IN_NASM)]
)
def test_an_expression_is_as_much_as_is_known(name: str, table: dict[str, int | ExpressionValue]) -> None:
    expected = {text: ExpressionValue(is_) if isinstance(is_, int) else is_ for text, is_ in table.items()}
    assert {text: value(text, DIALECTS[name]) for text in table} == expected


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_in_an_expression_has_its_message(name: str) -> None:
    said = {}
    for text in REFUSED[name]:
        with pytest.raises(ExpressionError) as refused:
            value(text, DIALECTS[name])
        said[text] = str(refused.value)
    assert said == REFUSED[name]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("x-y", 10),
        ("x-y+3", 13),
        ("3+x-y", 13),
        ("(x-y)*2", 20),
        ("x+2-y-1", 11),
        ("y-x", None),
        ("x-S", None),
    ],
)
def test_the_distance_of_two_places_is_a_number_if_it_is_known(text: str, result: int | None) -> None:
    def distance(first: str, second: str) -> int | None:
        return {("x", "y"): 10}.get((first, second))

    found = evaluate(text, KNOWN.get, distance, dialect=ATT)
    assert found == (LATER if result is None else ExpressionValue(result))


@pytest.mark.parametrize("text", ["5/0", "5%0", "(1-1)/0", "1/(3-3)"])
def test_a_division_by_zero_is_told(text: str) -> None:
    told: list[bool] = []
    evaluate(text, KNOWN.get, dialect=ATT, divided_by_zero=lambda: told.append(True))
    evaluate("0/5", KNOWN.get, dialect=ATT, divided_by_zero=lambda: told.append(True))
    evaluate("5*0", KNOWN.get, dialect=ATT, divided_by_zero=lambda: told.append(True))
    assert told == [True]
    with pytest.raises(ExpressionError, match=r"^This divides by zero\.$"):
        evaluate(text, KNOWN.get, dialect=ATT, divided_by_zero=refuse_zero)


def test_characters_become_numbers_outside_of_strings() -> None:
    read: Callable[[str], str] = without_characters
    assert read("1, 2") == "1, 2"
    assert read("',, '\\n', 'a") == "44, 10, 97"
    assert read("\"it's\", 'b'") == '"it\'s", 98'
