"""The encodings of statements without any assembler are those of GNU as: every form that the instruction set
has, with operands at random, some of which do not fit. What GNU as rejects is rejected."""

from __future__ import annotations

import random

import pytest
from cyclelens.analyzer.frontend.encoding.choice import Asked, choose
from cyclelens.analyzer.frontend.encoding.instructions import prepare
from cyclelens.analyzer.frontend.encoding.requests import EncodingRequest
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    OperandError,
    Register,
    UnsupportedError,
)
from gnu_as import AS, assembled
from random_statements import statements

NOWHERE = StatementScope(Program([Statement(StatementKind.INSTRUCTION, 0, "", ATT, ".text")]), 0)
"""What symbols mean in a text of one statement."""

needs_gnu_as = pytest.mark.skipif(AS is None, reason="GNU as is not installed")


def code_of(text: str, dialect: str) -> bytes | None:
    """The bytes of a statement, empty if it is refused; None if no assembler is needed for it."""
    try:
        request = prepare(text, ATT if dialect == "att" else INTEL, NOWHERE)
    except (OperandError, UnsupportedError):
        return b""
    if not isinstance(request, EncodingRequest) or request.asked is None:
        return None
    chosen = choose(request.asked)
    return b"" if chosen is None else request.before + chosen.code


def _mnemonic(text: str) -> str:
    return next(word for word in text.split() if word[0] != "{")


@needs_gnu_as
@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_every_form_of_avx512_has_the_bytes_of_gnu_as(dialect: str) -> None:
    texts = statements(random.Random(f"evex {dialect}"), dialect, encodings={"evex"}, each=3)
    expected = assembled(dialect, texts)
    assert sum(map(bool, expected.values())) > 3000
    wrong = {text: (code_of(text, dialect), expected[text]) for text in texts}
    assert {text: pair for text, pair in wrong.items() if pair[0] is not None and pair[0] != pair[1]} == {}


@needs_gnu_as
@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_every_other_form_has_the_bytes_of_gnu_as_or_is_refused(dialect: str) -> None:
    texts = statements(random.Random(f"others {dialect}"), dialect, encodings={"legacy", "vex"}, each=2)
    expected = assembled(dialect, texts)
    known = {_mnemonic(text) for text, code in expected.items() if code}
    assert len(known) > 1000
    wrong = {}
    for text in texts:
        code = code_of(text, dialect)
        # What GNU as 2.40 does not know at all is newer than it.
        if code and code != expected[text] and _mnemonic(text) in known:
            wrong[text] = code.hex(), expected[text].hex()
    assert wrong == {}


@pytest.mark.parametrize(
    ("mnemonic", "operands", "expected"),
    [
        ("add", [Register("ebx"), Immediate(0x1234)], "81c334120000"),
        ("add", [Register("ax"), Immediate(1)], "6683c001"),
        ("add", [Register("eax"), Immediate(0x1234)], "0534120000"),
        ("add", [Register("rax"), Immediate(0x1_0000_0000)], ""),
        ("xchg", [Register("rax"), Register("rbx")], "4893"),
        ("xchg", [Register("rbx"), Register("rax")], "4893"),
        ("mov", [Register("rax"), Immediate(1)], "48c7c001000000"),
        ("mov", [Register("rax"), Immediate(0x1_0000_0000)], "48b80000000001000000"),
        ("vmovaps", [Register("ymm1"), Register("ymm9")], "c57c29c9"),
        ("vmovaps", [Register("ymm17"), Register("ymm9")], "62c17c2828c9"),
        ("vpdpbusd", [Register("ymm3"), Register("ymm2"), Register("ymm1")], "62f26d2850d9"),
        ("vpextrw", [Register("rsi"), Register("xmm11"), Immediate(0x6E)], "c4c179c5f36e"),
        ("shl", [Register("eax")], "d1e0"),
        ("imul", [Register("eax"), Immediate(3)], "6bc003"),
        ("add", [Register("eax"), Register("bx")], ""),
        ("lfs", [Register("rax"), Register("rbx")], ""),
    ],
)
def test_gnu_as_prefers(mnemonic: str, operands: list[Register | Immediate], expected: str) -> None:
    chosen = choose(Asked(mnemonic, operands, is_att=False))
    assert (chosen.code.hex() if chosen else "") == expected
