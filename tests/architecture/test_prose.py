"""``dev/prose.py``: what it reports in documents and code, and what it accepts."""

from __future__ import annotations

import prose
import pytest


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A port takes one uop a cycle.", "uop a cycle"),
        ("It takes 2 uops an iteration.", "uops an iteration"),
        ("There is one file a unit.", "one file a unit"),
        ("It costs 0.8 ms a run.", "8 ms a run"),
        ("That is 1.50 CPI.", "CPI"),
        ("The micro-op waits.", "micro-op"),
        ("A DSB window has 32 bytes.", "DSB window"),
        ("The fetch line ends here.", "fetch line"),
        ("That is invalid input.", "invalid input"),
        ("Write it in order to see it.", "in order to"),
        ("A stall is incurred.", "is incurred"),
        ("It is simply fast.", "simply"),
    ],
)
def test_a_word_that_has_a_better_one_is_found(text: str, found: str) -> None:
    assert [place.message.split("'")[1] for place in prose.words(text)] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "A port takes one uop per cycle.",
        "The field `CPI` is theirs.",
        'Others say "micro-op".',
        "Each takes a cycle.",
        "Two loads in a cycle meet.",
        "A new one is a file beside this one and a line here.",
        "With a note that says why.",
    ],
)
def test_what_is_right_passes(text: str) -> None:
    assert list(prose.words(text)) == []


def test_a_long_sentence_is_found_at_its_paragraph() -> None:
    long = "word " * (prose.LONGEST_SENTENCE + 1)
    text = f"# Title\n\nShort.\n\n{long}end.\n\n```text\n{long}\n```\n\n| {long} |\n"
    assert [place.line for place in prose.sentences(text)] == [4]
    assert list(prose.sentences("word " * prose.LONGEST_SENTENCE + "\n- " + "word " * 20)) == []


def test_comments_docstrings_and_messages_are_read() -> None:
    text = '"""One uop a cycle."""\nx = 1  # one load a cycle\nmessage = f"{x} uops a cycle"\n'
    assert [place.line for place in prose.code(text)] == [2, 1, 3]
