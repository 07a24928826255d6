"""The value of an expression is the one that the assembler of its dialect computes: every pair of operators,
so that precedence and grouping show, and every operator with operands at the ends of its range."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, NASM, Dialect
from cyclelens.analyzer.frontend.statements.directives import leb128
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, evaluate
from cyclelens.analyzer.model.source import AssembledFile
from testkit.gnu_as import AS, assembled

OF_GNU = (*"*/%|&^!+-<>", "<<", ">>", "==", "!=", "<>", "<=", ">=", "&&", "||")
OF_NASM = (*"*/%+-&^|", "<<", ">>")
TRIPLES = ((1, 0, 0), (7, 2, 3), (0, 1, 3), (12, 5, 5))
ENDS = ("0", "1", "-1", "63", "64", "1000", "9223372036854775807", "-9223372036854775807 - 1")
PAIRS = [f"{a} {one} {b} {other} {c}" for one, other in product(OF_GNU, OF_GNU) for a, b, c in TRIPLES]
SINGLE = [
    f"({a}) {one} ({b})"
    for one in OF_GNU
    for a in ENDS
    for b in ENDS
    if b not in ("0", "-1") or one not in "/%"
]
UNARY = [
    f"{sign}{inner}{rest}"
    for sign in ("-", "~", "!", "+", "-~", "!!")
    for inner in ("5", "0", "(3 - 4)")
    for rest in ("", " * 2", " << 1", " - 1")
]

INNER = [f"({a} {one} {b}) * 3" for one in OF_GNU for a, b in ((7, 2), (1, 5), (12, 5))]


def value(text: str, dialect: Dialect) -> int:
    found = evaluate(text, lambda name: None, dialect=dialect)
    assert found.is_constant
    return found.constant % (1 << 64)


@pytest.mark.skipif(AS is None, reason="GNU as is not installed")
@pytest.mark.parametrize("texts", [PAIRS, SINGLE, UNARY, INNER], ids=["pairs", "ends", "unary", "inner"])
def test_values_are_those_of_gnu_as(texts: list[str]) -> None:
    known = assembled("att", [f".quad {text}" for text in texts])
    different = [
        (text, value(text, ATT), expected)
        for text, code in zip(texts, known.values(), strict=True)
        if (expected := int.from_bytes(code, "little")) != value(text, ATT)
    ]
    assert not different


@pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not installed")
def test_values_are_those_of_nasm(tmp_path: Path) -> None:
    texts = [f"{a} {one} {b} {other} {c}" for one, other in product(OF_NASM, OF_NASM) for a, b, c in TRIPLES]
    understood: dict[str, int] = {}
    for text in texts:
        try:
            understood[text] = value(text, NASM)
        except ExpressionError:
            continue  # such as a division by zero
    assert len(understood) > len(texts) / 2
    (tmp_path / "a.asm").write_text("".join(f"dq {text}\n" for text in understood))
    subprocess.run(["nasm", "-o", "a.bin", "a.asm"], cwd=tmp_path, check=True, capture_output=True)
    code = (tmp_path / "a.bin").read_bytes()
    for number, (text, found) in enumerate(understood.items()):
        assert found == int.from_bytes(code[8 * number : 8 * number + 8], "little"), text


@pytest.mark.parametrize(
    ("word", "sign"), [("mod", "%"), ("shl", "<<"), ("and", "&"), ("eq", "=="), ("le", "<=")]
)
def test_words_are_operators_in_intel_syntax_alone(word: str, sign: str) -> None:
    """``i386_operators`` of ``gas/config/tc-i386-intel.c``"""
    assert value(f"13 {word} 5", INTEL) == value(f"13 {sign} 5", ATT)
    for dialect in (ATT, NASM):
        with pytest.raises(ExpressionError, match=re.escape(f"'{word}' is not expected here.")):
            evaluate(f"13 {word} 5", lambda name: None, dialect=dialect)


@pytest.mark.parametrize(
    ("most", "more"),
    [
        ("(" * 50 + "1" + ")" * 50, "(" * 51 + "1" + ")" * 51),
        ("-" * 50 + "1", "-" * 51 + "1"),
        ("1" + " " * 997 + "+" + "1", "1" + " " * 997 + "+" + "12"),
    ],
    ids=["parentheses", "signs", "length"],
)
def test_an_expression_has_at_most_fifty_levels_and_a_thousand_characters(most: str, more: str) -> None:
    assert value(most, ATT) in (1, 2)
    with pytest.raises(ExpressionError, match="too"):
        value(more, ATT)


@pytest.mark.skipif(AS is None, reason="GNU as is not installed")
@pytest.mark.parametrize("name", ["uleb128", "sleb128"])
def test_numbers_in_groups_of_seven_bits_are_those_of_gnu_as(name: str) -> None:
    ends = [
        sign * ((1 << bits) + more)
        for bits in (0, 6, 7, 13, 14, 31, 62)
        for more in (-1, 0, 1)
        for sign in (1, -1)
    ]
    if name == "uleb128":
        ends = [end for end in ends if end >= 0] + [1 << 63, (1 << 63) + 1, (1 << 64) - 1]
    for text, expected in assembled("att", [f".{name} {end:#x}" for end in ends]).items():
        assert leb128(name, int(text.split()[1], 16)) == expected, text


@pytest.mark.parametrize("text", ["3 3", "y+", "(L", "-" * 51 + "1", "'ab"])
def test_a_jump_through_an_assignment_without_a_value_has_no_size(
    region: Callable[..., AssembledFile], text: str
) -> None:
    """The assignment comes later; GNU as refuses it."""
    (problem,) = region(f"L: jmp x\nnop\n.set x, {text}").problems
    assert (problem.line, problem.code) == (1, "unknown-size")


@pytest.mark.parametrize(
    "text",
    [
        "-0x80000000",
        "0x7fffffff",
        "0xffffffff80000000",
        "0xfffffffffffffff8",
        "0xffffffffffffff80",
        "~7",
        "-(1 << 7)",
    ],
)
def test_displacements_wrap_as_in_gnu_as(
    code: Callable[..., str], gnu_code: Callable[[str], bytes], text: str
) -> None:
    statement = f"mov {text}(%rsi), %eax\n"
    assert code(statement) == gnu_code(statement).hex()


@pytest.mark.parametrize("lines", [1, 200])
def test_a_condition_knows_the_distance_of_labels_far_above(
    code: Callable[..., str], gnu_code: Callable[[str], bytes], lines: int
) -> None:
    """The text is read in pieces of some lines; a condition asks for labels of an earlier one."""
    text = "a: nop\nnop\nb:\n" + lines * "mov %rax, %rbx\n" + ".if b - a == 2\nret\n.endif\nnop\n"
    assert code(text) == gnu_code(text).hex()
