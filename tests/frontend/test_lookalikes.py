"""A character that only looks like an ASCII one gets one message that names it, and never a figure."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import explained
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.lookalikes import folded
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.source import Severity

LOOP = "l: {}\n dec %rcx\n jnz l\n"
SEEN = [
    (LOOP.format("add (%rsi), %r\u0430x"), 0, "'\u0430' (U+0430), which only looks like 'a'"),
    (LOOP.format("\u0430dd (%rsi), %rax"), 0, "'\u0430' (U+0430), which only looks like 'a'"),
    (LOOP.format("add \u20138(%rsi), %rax"), 0, "'\u2013' (U+2013), which only looks like '-'"),
    (LOOP.format("add (%rsi)\uff0c %rax"), 0, "'\uff0c' (U+FF0C), which only looks like ','"),
    (LOOP.format("add (%rsi), %r\u200bax"), 0, "U+200B, which is invisible"),
    (LOOP.format("mov $\u03bf1, %eax"), 0, "'\u03bf' (U+03BF), which only looks like 'o'"),
    ("l: add rax, [rsi]\n dec r\u0441x\n jnz l\n", 1, "'\u0441' (U+0441), which only looks like 'c'"),
    ("l: add rax, \u0441\u0445\n dec rcx\n jnz l\n", 0, "'\u0441' (U+0441), which only looks like 'c'"),
]


@pytest.mark.parametrize(("text", "line", "said"), SEEN)
def test_a_character_that_looks_like_another_one_is_named(text: str, line: int, said: str) -> None:
    assembled = assemble(text)
    (region,) = assembled.regions
    assert region.incomplete
    (problem,) = [each for each in assembled.problems if each.severity is Severity.ERROR]
    assert (problem.line, problem.code) == (line, "syntax-error")
    assert said in problem.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("l: add (%rsi), %rax\n dec %rcx\n \u0458nz l\n", "syntax-error"),
        ("lo\u043ep: add (%rsi), %rax\n dec %rcx\n jnz loop\n", "undefined-label"),
        ("loop: add (%rsi), %rax\n dec %rcx\n jnz lo\u043ep\n", "undefined-label"),
    ],
)
def test_the_only_message_of_a_text_without_a_loop_names_the_character(text: str, code: str) -> None:
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    (problem,) = explained(Analyzer().analyze(text, options), options.source).problems
    assert (problem.code, problem.severity) == (code, Severity.ERROR)
    assert "which only looks like" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "\u043e\u0441\u044c: dec %rcx\n jnz \u043e\u0441\u044c\n",
        "1: call \u0444\u0443\u043d\u043a\u0446\u0438\u044f\n dec %rcx\n jnz 1b\n",
        "a\u0435: dec %rcx\n jnz a\u0435\n",
        '1: dec %rcx # \u2013 r\u0430x\n jnz 1b\n .ascii "r\u0430x"\n',
        "main\u00b7sum: dec %rcx\n jnz main\u00b7sum\n",
    ],
)
def test_names_and_comments_may_have_any_letters(text: str) -> None:
    assembled = assemble(text)
    assert not [each for each in assembled.problems if each.code == "syntax-error"]
    assert not any(region.incomplete for region in assembled.regions)
    assert assembled.regions


def test_letters_are_folded_to_those_that_they_look_like() -> None:
    assert folded("\u0440\u0430\u0445") == "pax"
    assert folded("\uff52\uff41\uff58\u2212\u200b1") == "rax-1"
    assert folded("rax") == "rax"
