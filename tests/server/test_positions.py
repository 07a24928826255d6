"""Columns are code points inside the server and use the agreed encoding outside."""

from __future__ import annotations

import re

import pytest
from cyclelens.server.documents.session import Session
from cyclelens.server.protocol.convert import Converter, from_client, to_client
from cyclelens.server.texts.text import split
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

ENCODINGS = ("utf-8", "utf-16", "utf-32")

encodings = st.sampled_from(ENCODINGS)
WIDTHS = "\0a \x7f\x80é\u07ff\u0800€\ud7ff\ue000\uffff\U00010000🔥\U0010ffff"
"""Characters at both ends of what takes one to four bytes, and usual ones between: no others differ in any
encoding. Drawing from all of Unicode takes seconds before the first example."""
one_line = st.text(WIDTHS)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 6), ("utf-16", 4), ("utf-32", 3)])
def test_an_emoji_before_the_code_counts_as_the_encoding_says(encoding: str, character: int) -> None:
    line = "🔥; nop"
    assert to_client(line, 3, encoding) == character
    assert from_client(line, character, encoding) == 3


@given(line=one_line, encoding=encodings, data=st.data())
def test_there_and_back_is_the_same_column(line: str, encoding: str, data: st.DataObject) -> None:
    column = data.draw(st.integers(0, len(line)))
    assert from_client(line, to_client(line, column, encoding), encoding) == column


@given(line=one_line, encoding=encodings)
def test_the_end_of_a_line_is_its_encoded_length(line: str, encoding: str) -> None:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    name = encoding if encoding == "utf-8" else f"{encoding}-le"
    assert to_client(line, 1 << 20, encoding) == len(line.encode(name)) // width


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_position_inside_a_character_is_its_start(encoding: str) -> None:
    assert from_client("a🔥b", 1, encoding) == 1
    assert from_client("a🔥b", 99, encoding) == 3
    if encoding != "utf-32":
        assert from_client("a🔥b", 2, encoding) == 1


def test_positions_behind_the_text_are_its_end() -> None:
    converter = Converter("utf-16")
    assert converter.offset(["ab", "c"], types.Position(7, 3)) == (1, 1)
    assert converter.position(["ab", "🔥"], 7, 0) == types.Position(1, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_the_protocol_ends_a_line(end: str) -> None:
    assert split(f"a{end}{end}b") == (("a", "", "b"), (end, end))


@given(st.text())
def test_a_text_has_the_same_lines_for_everybody(text: str) -> None:
    lines, ends = split(text)
    assert len(lines) == len(ends) + 1
    assert sum(map(len, lines + ends)) == len(text)
    assert all(len(line.splitlines()) <= 1 for line in lines)
    "\n".join(lines).encode("utf-8")


ODD = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_only_python_takes_for_a_line_end_keeps_its_size(encoding: str) -> None:
    for odd in ODD:
        ((line,), ends) = split(f"a{odd}b")
        assert ends == ()
        name = encoding if encoding == "utf-8" else f"{encoding}-le"
        assert len(line.encode(name)) == len(f"a{odd}b".encode(name))


pieces = st.sampled_from(["\r", "\n", "\r\n", "nop", ".L1:", " ", "é", "🔥", *ODD])
texts = st.lists(pieces, max_size=12).map("".join)


@given(text=texts, changes=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), texts), max_size=8))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_after_any_edits_the_text_is_that_of_the_client(
    encoding: str, text: str, changes: list[tuple[float, float, str]]
) -> None:
    session, converter = Session(), Converter(encoding)
    snapshot = session.open("a", 0, text)
    for one, other, inserted in changes:
        start, end = sorted(_expressible(text, int(share * len(text))) for share in (one, other))
        places = (_position(text, offset, encoding) for offset in (start, end))
        start_place, end_place = (converter.offset(snapshot.lines, place) for place in places)
        snapshot = snapshot.edited(None, start_place, end_place, inserted)
        text = text[:start] + inserted + text[end:]
        assert (tuple(snapshot.lines), snapshot.lines.ends) == split(text)


def _expressible(text: str, offset: int) -> int:
    """Whether an offset is a valid position: none lies within a line end."""
    return offset + 1 if text[max(offset - 1, 0) : offset + 1] == "\r\n" else offset


def _position(text: str, offset: int, encoding: str) -> types.Position:
    """The position of an offset for a client that keeps its text as one string."""
    before = re.split("\r\n|\r|\n", text[:offset])
    name, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return types.Position(len(before) - 1, len(before[-1].encode(name)) // width)
