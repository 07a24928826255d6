"""Every report says what a loop takes by where its data are."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import jsonschema
import pytest
from cyclelens.analyzer.agents.answers import of_analysis
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports.registry import render
from testkit.kernels import COPY_LOOP

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/report-2.schema.json").read_text())
COPY = f"\n# cyclelens-begin copy\n{COPY_LOOP}# cyclelens-end\n"
LINE = "1.00 in L1 · 2.0 L2 · 2.5 L3 · 6.9 memory"
"""Half a line is loaded and half a line is stored per iteration: 2 x 0.5 x 2.0, 2.45 and 6.5, and 0.5 x
0.8."""


def analysed(text: str, *cores: str) -> Analysis:
    return Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=cores)))


@pytest.fixture(scope="module")
def copy() -> Analysis:
    return analysed(COPY, "ZEN4")


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_a_report_for_people_has_the_line(copy: Analysis, name: str) -> None:
    shown = " ".join(unescape(render(copy, "a.s", name)).split())
    assert f"{LINE}: cycles per iteration by where the data are" in shown
    assert "Assumed: 1.00 in L1" not in shown


def test_the_hover_of_the_region_has_the_line(copy: Analysis) -> None:
    assert [hint for hint in hints(copy) if f"Data: {LINE}" in hint.tooltip]


def test_an_agent_is_told_the_line(copy: Analysis) -> None:
    assert f"data: {LINE}" in of_analysis(copy)


def test_json_has_the_levels_and_streams(copy: Analysis) -> None:
    document = json.loads(render(copy, "a.s", "json"))
    jsonschema.validate(document, SCHEMA)
    data = document["regions"][0]["predictions"][0]["data"]
    assert [(each["level"], each["cycles_per_iteration"]) for each in data["levels"]] == [
        ("L1", 1.0),
        ("L2", 2.0),
        ("L3", 2.45),
        ("memory", 6.9),
    ]
    assert [(each["pointer"], each["step"], each["stored"]) for each in data["streams"]] == [
        ("rsi", 32, False),
        ("rdi", 32, True),
    ]


def test_an_unknown_level_is_named_and_an_unknown_core_keeps_its_note() -> None:
    shown = analysed(COPY, "SKL", "GNR").regions[0].predictions
    client, unknown = (
        next(each.message for each in one.assumptions if each.code == "warm-caches") for one in shown
    )
    assert client.startswith("1.00 in L1 · 2.0 L2 · 5.0 L3 · memory not known: ")
    assert unknown == (
        "All data come from the first-level cache, although an iteration moves on by 64 bytes: the times of "
        "the other levels are not known for this core."
    )


def test_a_chased_pointer_has_a_latency_by_level() -> None:
    text = "# cyclelens-begin chase\n.loop: mov (%rax), %rax\n dec %rcx\n jnz .loop\n# cyclelens-end\n"
    (told,) = [
        each.message
        for each in analysed(text, "ZEN4").regions[0].predictions[0].assumptions
        if each.code == "warm-caches"
    ]
    assert told == (
        "4.00 in L1 · 14 L2 · 50 L3 · memory not known: cycles per iteration by where the data are; each "
        "iteration waits for a load whose address the data decide. Beyond 72 pages (288 KiB of 4 KiB pages) "
        "a load takes up to 7 cycles longer, for the translation of its address."
    )


def test_a_load_that_nothing_waits_for_has_a_latency_and_no_figure_by_level() -> None:
    text = """# cyclelens-begin gather
.loop: mov (%rsi), %eax
 add (%rdi,%rax,8), %rbx
 add $4, %rsi
 dec %rcx
 jnz .loop
# cyclelens-end
"""
    data = analysed(text, "ZEN4").regions[0].predictions[0].data
    assert data is not None
    assert (len(data.streams), data.scattered, data.chased) == (1, (1,), ())
    (told,) = [
        each.message
        for each in analysed(text, "ZEN4").regions[0].predictions[0].assumptions
        if each.code == "warm-caches"
    ]
    assert told.startswith("1.37 in L1 · at least 1.37 L2 · at least 1.37 L3 · at least 1.37 memory: ")
    assert told.endswith(
        "The data decide which addresses are touched: a load takes 4 cycles from L1 · 14 L2 · 50 L3, and the "
        "figure is for L1."
    )


def test_steps_beyond_a_page_have_no_figure_beyond_the_first_level() -> None:
    text = """# cyclelens-begin column
.loop: add (%rsi), %rax
 add $8192, %rsi
 dec %rcx
 jnz .loop
# cyclelens-end
"""
    data = analysed(text, "ZEN4").regions[0].predictions[0].data
    assert data is not None
    assert [each.cycles is None for each in data.figures] == [False, True, True, True]


def test_code_that_is_no_loop_has_no_levels() -> None:
    (region,) = analysed(
        "# cyclelens-begin a\nmov (%rsi), %rax\nadd $8, %rsi\n# cyclelens-end\n", "ZEN4"
    ).regions
    assert region.predictions[0].data is None
