"""Untrusted text stays text in a terminal, in JSON and in Markdown as GitHub reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.analyze import FORMATS
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.common.escaping import code, printable, prose, without_markdown
from cyclelens.analyzer.reports.card import instruction_card, region_card
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from testkit.factories import analysis, prediction, region_analysis, template
from testkit.narrowing import some

MARKDOWN = MarkdownIt("gfm-like")
# As GitHub: names of hosts are links only behind `www.`, which is looked for below.
some(MARKDOWN.linkify).set({"fuzzy_link": False})
NASTY = [
    "![x](https://evil.example/x.png)[a](command:evil)<b>`q`",
    "<img src=x onerror=alert(1)> &lt; &#60; <https://evil.example>",
    "https://evil.example www.evil.example http://a.b",
    "[a]: https://evil.example",
    "``` ~~~ `` ` | \\| **b** __c__ ~~d~~",
    "# heading",
    "1. list",
    "- list",
    "\x1b[1m\x1b]0;pwn\x07 \x9b31m \u202e \u2028 \r over",
]
PIECES = [*"\\`*_{}[]()<>#+-.!|~&:@ \t\n\r\x1b\x9b\u202e\u2028=1a", "https://", "www.", "&lt;", "```"]
PIECES += ["mailto:a@b.c", "a@b.c", "ftp://a.b"]
texts = st.one_of(
    st.sampled_from(NASTY), st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.text(max_size=30)
)


def inline(source: str) -> list[Token]:
    """All tokens within the lines of a text in Markdown, those within others too."""
    found = []
    for token in MARKDOWN.parse(source):
        found += token.children or []
    return found


def in_one_line(text: str) -> str:
    return " ".join(printable(text).split())


@given(texts)
def test_nothing_that_a_terminal_obeys_is_printable(text: str) -> None:
    shown = printable(text)
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    assert shown == text or not text.isprintable()
    assert json.loads(printable(json.dumps({text: text}, ensure_ascii=False))) == {text: text}


@given(texts)
@pytest.mark.parametrize("place", ["{}", "- {}", "| a | b |\n|---|---|\n| x | {} |", "**x** {}"])
def test_prose_is_read_as_the_text_that_it_is(place: str, text: str) -> None:
    tokens = inline(place.format(prose(text)))
    assert {token.type for token in tokens} <= {"text", "text_special", "strong_open", "strong_close"}
    words = "".join(token.content for token in tokens)
    assert words.endswith(in_one_line(text))
    assert "www." not in prose(text)


@given(texts)
@pytest.mark.parametrize("place", ["- {}", "| a | b |\n|---|---|\n| x | {} |"])
def test_code_is_read_as_the_text_that_it_is(place: str, text: str) -> None:
    tokens = [token for token in inline(place.format(code(text))) if token.type != "text"]
    assert [token.type for token in tokens] == ["code_inline"] * bool(in_one_line(text))
    # A reader of tables takes a backslash away before it looks for code, others do not.
    expected = in_one_line(text) if place.startswith("|") else in_one_line(text).replace("|", "\\|")
    assert "".join(token.content for token in tokens).strip() == expected


@given(texts)
def test_a_client_without_markdown_sees_the_text(text: str) -> None:
    assert without_markdown(prose(text)).replace("`", "") == in_one_line(text).replace("`", "")


@pytest.mark.parametrize("text", NASTY)
def test_cards_of_an_editor_hold_no_link_of_the_text(text: str) -> None:
    region = region_analysis(note=text, name=text)
    for card in (region_card(region), instruction_card(region, 0)):
        assert in_one_line(text) in "".join(token.content for token in inline(card))
        assert not {token.type for token in inline(card)} & {"link_open", "image", "html_inline"}


SOURCE = """\
# cyclelens-begin z\x1b[1m\x1b]0;pwn\x07\x9b31m\u202e![x](https://evil.example/x.png)
.L4: addps %xmm0,%xmm1 # \x1b[2J
 add $0x1234, %ax
 dec %ecx # \x1b[A
 jnz .L4
# cyclelens-end
# cyclelens-begin bad arch=\x1b[1m
 mov "s\x1b[31m"(%rip),%rax
 \x1b[A
# cyclelens-end
"""
COMMANDS = {
    **{f"analyze {name}": ["analyze", "FILE", "--format", name] for name in FORMATS},
    "analyze --trace": ["analyze", "FILE", "--trace"],
    "analyze --account": ["analyze", "FILE", "--account"],
    "loops": ["analyze", "FILE", "--regions", "loops"],
    "check": ["check", "FILE", "--max-cycles", "z\x1b[1m=1"],
    "compare": ["compare", "FILE", "--arch", "SKL,HSW"],
    "compare markdown": ["compare", "FILE", "--arch", "SKL,HSW", "--format", "markdown"],
    "whatif": ["whatif", "FILE"],
    "sweep": ["sweep", "FILE", "--resource", "rs", "--scale", "0.5..1.0"],
    "a region that is not there": ["analyze", "FILE", "--region", "\x1b[1m"],
    "a file that is not there": ["analyze", "FILE\x1b[1m"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_no_command_writes_what_a_terminal_obeys(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k\x1b[1m.s"
    file.write_text(SOURCE)
    main([argument.replace("FILE", str(file)) for argument in arguments])
    shown = capsys.readouterr()
    assert shown.out or shown.err
    assert {c for c in shown.out + shown.err if not c.isprintable()} <= {"\n", "\t"}


def test_the_report_for_a_pull_request_links_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.s"
    file.write_text(SOURCE)
    for arguments in (
        ["analyze", str(file), "--format", "markdown"],
        ["compare", str(file), "--format", "markdown"],
    ):
        main(arguments)
        shown = capsys.readouterr().out
        assert "evil" in shown
        assert not {token.type for token in inline(shown)} & {"link_open", "image", "html_inline"}


def test_every_region_is_a_row_for_any_name(capsys: pytest.CaptureFixture[str]) -> None:
    from cyclelens.analyzer.reports.registry import render

    region = region_analysis(prediction([template("a|b`c")]), name="a|b\x1b`c\nd")
    tokens = MARKDOWN.parse(render(analysis(region), "f|g", "markdown"))
    assert sum(token.type == "table_open" for token in tokens) == 2
    assert sum(token.type == "tr_open" for token in tokens) == 4
