"""The words of a line, classified."""

from __future__ import annotations

import pytest
from cyclelens.server.texts.tokens import TokenKind, WordCache, line_tokens
from hypothesis import given
from hypothesis import strategies as st


def words(line: str, *, semicolon_comments: bool = False) -> list[tuple[str, str]]:
    found, _ = line_tokens(line, False, semicolon_comments)
    return [(line[token.column : token.column + token.length], token.kind.name.lower()) for token in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "1: lock addq $0x12, 8(%rdi,%rcx,4) // x",
            "1=label lock=instruction addq=instruction 0x12=number 8=number %rdi=register %rcx=register "
            "4=number // x=comment",
        ),
        (
            "mov eax, dword ptr [rsi + 8*rcx - 0x10]",
            "mov=instruction eax=register dword=size ptr=size rsi=register 8=number rcx=register 0x10=number",
        ),
        ("a: b: jne 1b; jmp a", "a=label b=label jne=instruction 1b=label jmp=instruction a=label"),
        (".macro step reg", ".macro=directive step=symbol reg=label"),
        ("size = 64", "size=symbol 64=number"),
        ('.ascii "a#b"', '.ascii=directive "a#b"=string'),
        ("fld %st(1)", "fld=instruction %st(1)=register"),
        ("call puts@PLT", "call=instruction puts@PLT=label"),
        (".type dot, @function", ".type=directive dot=label"),
        (".intel_syntax noprefix", ".intel_syntax=directive"),
        ("%define count 3", "%define=directive count=symbol 3=number"),
    ],
)
def test_every_word_has_its_kind(line: str, expected: str) -> None:
    assert " ".join(f"{text}={kind}" for text, kind in words(line)) == expected


def test_a_semicolon_is_a_comment_only_where_it_is_one() -> None:
    assert words("nop ; dec", semicolon_comments=True)[1] == ("; dec", "comment")
    assert words("nop ; dec")[1] == ("dec", "instruction")


def test_a_block_comment_spans_lines_also_in_a_range_request() -> None:
    lines = ("nop /* one", "two */ dec", "nop")
    found = dict(WordCache().tokens(lines, 1, 1, semicolon_comments=False))
    assert [(token.kind, token.column) for token in found[1]] == [
        (TokenKind.COMMENT, 0),
        (TokenKind.INSTRUCTION, 7),
    ]


def test_markers_are_comments_of_their_own_kind() -> None:
    (token,), _ = line_tokens("# cyclelens-begin dot", False, False)
    assert token.marker


@given(st.text("ab1 ./*#;:%$\"'()\\🔥", max_size=30), st.booleans(), st.booleans())
def test_words_never_overlap_and_stay_within_their_line(line: str, inside: bool, comments: bool) -> None:
    end = 0
    for token in line_tokens(line, inside, comments)[0]:
        assert end <= token.column
        assert token.length > 0
        end = token.column + token.length
    assert end <= len(line)
