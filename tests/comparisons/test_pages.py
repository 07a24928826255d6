"""Answers for editors that show pages, and the timeline for editors that colour text."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.comparisons.registry import table
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from testkit.blocks import store

KERNEL = """# cyclelens-begin chain
.loop:
    imul %rax, %rax
    add  %rax, %rbx
    dec %r15
    jnz .loop
# cyclelens-end
"""


def asked(
    kind: str, *, html: bool = False, region: str = "chain", names: tuple[str, ...] = ("SKL",)
) -> ComparisonTable:
    return table(
        kind,
        ComparisonRequest(
            Analyzer(Workspace(store())),
            KERNEL,
            AnalysisOptions(target=Target(microarchitectures=names)),
            region,
            html=html,
        ),
    )


def test_every_uop_of_a_timeline_has_its_line_and_its_waits() -> None:
    answer = asked("timeline")
    texts, about = answer.text.split("\n"), answer.extra["lines"]
    assert len(texts) == len(about)
    assert texts[0] == "SKL (Skylake): 3.00 cycles/iter, latency-bound"
    begin = next(line["iteration"] for line in about if line)
    iteration = [line for line in about if line.get("iteration") == begin + 1]
    assert [line["name"] for line in iteration] == [
        "imul %rax, %rax",
        "add %rax, %rbx",
        "dec %r15",
        "jnz .loop",
    ]
    assert [line["source"] for line in iteration] == [2, 3, 4, 5]
    assert "for rax, made by imul %rax, %rax (previous iteration)" in iteration[0]["waits"]
    for text, line in zip(texts, about, strict=True):
        if line.get("waits"):
            assert text[line["column"]] in "PQI"


def test_marks_lie_within_their_lines_and_name_the_chain() -> None:
    answer = asked("timeline")
    texts = answer.text.split("\n")
    kinds = set()
    for line, begin, end, kind in answer.extra["marks"]:
        kinds.add(kind)
        assert 0 <= begin < end
        assert begin < len(texts[line])
        if kind == "execution":
            assert texts[line][begin] == "D"
    assert kinds >= {"heading", "inputs", "execution", "done", "chain"}


def test_ports_and_buffers_stand_below() -> None:
    text = asked("timeline").text
    (port,) = [line for line in text.split("\n") if line.split()[:2] == ["port", "1"]]
    assert "0  1  2  3" in port
    assert "ROB" in text and "RS" in text


def test_a_timeline_of_several_microarchitectures_draws_each() -> None:
    answer = asked("timeline", names=("SKL", "HSW"))
    assert "SKL (Skylake)" in answer.text and "HSW (Haswell)" in answer.text
    assert len(answer.text.split("\n")) == len(answer.extra["lines"])


def test_a_region_that_is_gone_is_no_error() -> None:
    assert "no region 'other'" in asked("timeline", region="other").text


@pytest.mark.parametrize("kind", ["timeline", "microarchitectures", "alignments"])
def test_pages_are_made_only_for_who_shows_them(kind: str) -> None:
    assert "html" not in asked(kind).extra
    page = str(asked(kind, html=True).extra["html"])
    assert page.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in page


def test_pictures_of_all_microarchitectures_stand_side_by_side() -> None:
    page = str(asked("microarchitectures", html=True).extra["html"])
    assert page.count('class="name"') == page.count('<details class="prediction"') > 10
    charts = str(asked("alignments", html=True, names=("SKL", "ICL")).extra["html"])
    assert charts.count('aria-label="cycles per iteration') == 2


def test_a_chart_names_what_there_is_room_for_and_marks_where_the_file_puts_it() -> None:
    """Behind .p2align 4 a loop lies at four of the 64 offsets."""
    kernel = ".p2align 4\n" + KERNEL
    request = ComparisonRequest(
        Analyzer(Workspace(store())),
        kernel,
        AnalysisOptions(target=Target(microarchitectures=("SKL",))),
        "chain",
        html=True,
    )
    page = str(table("alignments", request).extra["html"])
    assert re.findall(r'<text class="muted".*?>(\d+)</text>', page) == [str(8 * n) for n in range(8)]
    assert page.count('<polygon class="mark"') == 4
    assert "\N{BLACK UP-POINTING TRIANGLE} where the file puts it" in page
    anywhere = str(asked("alignments", html=True).extra["html"])
    assert "<polygon" not in anywhere and "where the file puts it" not in anywhere
