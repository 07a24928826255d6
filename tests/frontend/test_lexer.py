"""The tokens of assembly text are the same for every caller."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.lexer import (
    TokenShape,
    cut_operands,
    is_empty,
    leading_labels,
    lexemes,
    without_comments,
)
from cyclelens.analyzer.frontend.source.scanner import scan
from hypothesis import given
from hypothesis import strategies as st

LETTERS = "ab1 ./*#;:%$\"'()\\🔥"


def pieces(line: str, *, semicolon_comments: bool = False) -> list[tuple[str, str]]:
    found, _ = lexemes(line, semicolon_comments=semicolon_comments, inside=False)
    return [(line[start:end], shape.value) for shape, start, end in found]


def code(line: str, *, semicolon_comments: bool) -> str:
    """Without comments, blanks and what separates statements, as the lexer cuts a line."""
    found, _ = lexemes(line, semicolon_comments=semicolon_comments, inside=False)
    left = list(line)
    for shape, start, end in found:
        if shape in (TokenShape.COMMENT, TokenShape.SEPARATOR):
            left[start:end] = " " * (end - start)
    return "".join("".join(left).split())


@given(st.text(LETTERS, max_size=30), st.booleans())
def test_the_scanner_and_the_lexer_of_lines_see_the_same_comments(line: str, comments: bool) -> None:
    found = scan(SourceText(line), comments, lambda: False)
    scanned = "".join("".join(raw.text.split()) for raw in found.statements())
    assert scanned == code(line, semicolon_comments=comments)


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        ("cmp $'#, %al  # one", "# one"),
        ('.ascii "a//b" // two', "// two"),
        ("a: b: / three", "/ three"),
        ("nop ; cyclelens-begin dot", "; cyclelens-begin dot"),
        ("nop /* four", "/* four"),
    ],
)
def test_a_comment_begins_where_no_text_in_quotes_goes_on(line: str, comment: str) -> None:
    assert [text for text, shape in pieces(line) if shape == "comment"] == [comment]


def test_labels_stand_in_front_of_every_statement() -> None:
    line = '"a b": c?: nop; 1: nop; x::y'
    assert [text for text, shape in pieces(line) if shape == "label"] == ['"a b"', "c?", "1"]
    found, end = leading_labels(line)
    assert [match[1] for match in found] == ['"a b"', "c?"]
    assert line[end:].startswith(" nop")


@given(st.text(LETTERS, max_size=30), st.booleans())
def test_blanking_keeps_every_column(line: str, strings: bool) -> None:
    blanked = without_comments(line, strings=strings)
    assert len(blanked) == len(line)
    assert all(new in (old, " ") for old, new in zip(line, blanked, strict=True))


def test_texts_in_quotes_are_blanked_on_request() -> None:
    line = '.ascii "a#b", "c" # d'
    assert without_comments(line).split() == [".ascii", '"a#b",', '"c"']
    assert without_comments(line, strings=False).split() == [".ascii", ","]


def test_a_line_with_nothing_but_a_comment_is_empty() -> None:
    assert all(map(is_empty, ("", "  ", "# a", " // b", "; c", "/* d */ ")))
    assert not any(map(is_empty, ("nop", "/* a */ nop", "a: # b")))


def test_operands_are_cut_at_commas_outside_of_brackets() -> None:
    assert cut_operands("8(%rdi,%rcx,4), %xmm0{%k1}") == (["8(%rdi,%rcx,4)", " %xmm0{%k1}"], True)
    assert cut_operands("[rdi") == (["[rdi"], False)
