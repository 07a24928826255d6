"""A region with an instruction that the tables lack: formats say "at least", or why there is no figure."""

from __future__ import annotations

import json
from html import unescape

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.insight.label import headline, of_prediction
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports import source
from cyclelens.analyzer.reports.card import region_card
from cyclelens.analyzer.reports.registry import render

PART = "# cyclelens-begin part\n    imul %rax, %rax\n    imul %rax, %rax\n    clac\n# cyclelens-end\n"
TILES = """\
# cyclelens-begin tiles
.loop:
    tdpbssd %tmm2, %tmm1, %tmm0
    tileloadd (%rdi,%rsi), %tmm1
    dec %rcx
    jnz .loop
# cyclelens-end
"""
REASON = "SPR has no figures for tdpbssd and tileloadd (AMX is not modelled)"


def analysed(text: str, *cores: str) -> Analysis:
    return Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=cores)))


@pytest.mark.parametrize("form", ["text", "markdown", "html", "sarif"])
def test_the_figure_is_written_as_a_lower_bound(form: str) -> None:
    report = unescape(render(analysed(PART, "SKL"), "a.s", form))
    assert "at least 6.00" in report
    assert "no figures for clac" in report
    assert "latency-bound" not in report and "uncertain" not in report


@pytest.mark.parametrize("form", ["dot", "svg"])
def test_a_graph_names_what_it_lacks(form: str) -> None:
    assert "part (SKL, no figures for clac)" in render(analysed(PART, "SKL"), "a.s", form)


def test_programs_read_it_from_a_field() -> None:
    (region,) = json.loads(render(analysed(PART, "SKL"), "a.s", "json"))["regions"]
    (prediction,) = region["predictions"]
    assert (prediction["cycles_per_iteration"], prediction["at_least"]) == (6.0, True)
    exact = json.loads(render(analysed(PART.replace("clac", "nop"), "SKL"), "a.s", "json"))
    assert exact["regions"][0]["predictions"][0]["at_least"] is False
    (loop,) = json.loads(source.render_json(analysed(PART, "SKL")))["loops"]
    assert loop["at_least"] is True


def test_the_editor_writes_it_too() -> None:
    analysis = analysed(PART, "SKL")
    (region,) = analysis.regions
    labels = [hint.label for hint in hints(analysis) if hint.kind == "region"]
    assert labels[0].startswith("at least 6.00 cycles/iter · SKL · no figures for clac")
    assert "**at least 6.00 cycles/iter**" in region_card(region)
    assert headline([of_prediction(region.predictions[0])]).startswith("at least 6.00 cycles/iter")


def test_nothing_is_computed_from_it() -> None:
    """No rate, and no factor between it and the figure of another core."""
    text = PART.replace("part", "part per=8")
    report = render(analysed(text, "SKL", "HSW"), "a.s", "text")
    assert "cycles per element" not in report
    assert "1.00x" not in report


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json", "dot", "svg"])
def test_a_reason_replaces_the_figure_without_the_instructions_that_count(form: str) -> None:
    report = unescape(render(analysed(TILES, "SPR"), "a.s", form))
    assert REASON in report
    assert "1.00 cycles" not in report and "Dependencies" not in report


def test_the_reason_is_at_the_marker_and_at_each_instruction() -> None:
    analysis = analysed(TILES, "SPR")
    shown = {(hint.line, hint.label) for hint in hints(analysis)}
    assert shown == {
        (0, "SPR: no figure, AMX is not modelled"),
        (2, "unknown instruction"),
        (3, "unknown instruction"),
    }
    (region,) = analysis.regions
    assert REASON in region_card(region)
    assert all("there is no figure" in finding.message for finding in region.findings)
