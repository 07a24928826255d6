"""Markdown, HTML, SARIF and the graphs: each is well-formed for any text, and all say the same."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from cyclelens.analyzer.cli.analyze import FORMATS as OFFERED
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Assumption, Finding, Position
from cyclelens.analyzer.model.simulation import Trace
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports.registry import FORMATS, render
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.factories import analysis, prediction, region_analysis, template

# imul rax, rax; add rbx, rax; dec r15; jnz
CHAIN = "480fafc04801c349ffcf75f4"
NASTY = 'a|b<script>`&"\\'


def chain_region(name="SKL", **fields):
    block = block_of(CHAIN, name)
    model = registry.get(name)
    return region_analysis(explain(block, model, simulate(block, model)), **fields)


def nasty():
    hazard = Finding("lcp-stall", Severity.WARNING, 0, NASTY, "", "SKL")
    problem = Problem(4, 2, 9, "syntax-error", NASTY)
    block = prediction([template(NASTY)], trace=Trace((), 500))
    region = region_analysis(block, findings=[hazard], name=NASTY)
    return analysis(region, region_analysis(note=NASTY, name=NASTY), problems=[problem])


def test_the_command_line_offers_every_format():
    assert tuple(FORMATS) == OFFERED


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_text_that_ends_in_a_newline(name):
    for example in (analysis(), nasty(), analysis(chain_region())):
        assert render(example, NASTY, name).endswith("\n")


@pytest.mark.parametrize("name", ["text", "markdown", "html", "sarif"])
def test_the_figures_of_other_positions_stand_beside_the_one_shown(name):
    places = (Position(0, 3.0, frozenset()), Position(16, 2.5, frozenset())) * 2
    shown = replace(prediction([template()], cycles=2.5), positions=places)
    assert "(or 3.00 at two of four positions in memory)" in render(
        analysis(region_analysis(shown)), "a.s", name
    )
    alone = replace(shown, positions=places[1:2])
    assert "positions)" not in render(analysis(region_analysis(alone)), "a.s", name)


@pytest.mark.parametrize("name", ["text", "json", "markdown", "html"])
def test_assumptions_of_a_figure_are_shown_with_their_code(name):
    assumption = Assumption("no-denormals", "Nothing is denormal.", (0,), {"most": 2.0})
    block = prediction([template()], assumptions=[assumption])
    report = render(analysis(region_analysis(block)), "a.s", name)
    assert "Nothing is denormal." in report
    assert "no-denormals" in report


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_balanced_and_runs_no_foreign_script():
    text = render(nasty(), NASTY, "html")
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert {"table", "svg", "pre"} <= parser.seen
    (nonce,) = re.findall(r"script-src 'nonce-(\w+)'", text)
    allowed = (f'<script nonce="{nonce}">', '<script type="application/json" id="t0-SKL">')
    assert set(re.findall(r"<script[^>]*>", text)) == set(allowed)


def test_html_needs_nothing_else():
    text = render(analysis(chain_region()), "k.s", "html")
    assert "default-src 'none'" in text
    assert re.findall(r'\ssrc=|href="(?!#)|url\(|@import|\sstyle="|\son\w+="', text) == []
    assert "3.00 cycles/iter" in text


def test_html_compares_microarchitectures_side_by_side():
    (one,), (other,) = chain_region().predictions, chain_region("HSW").predictions
    text = render(analysis(region_analysis(one, other)), "k.s", "html")
    assert [text.count(f'href="#p0-{name}"') for name in ("SKL", "HSW")] == [1, 1]
    assert text.count('<details class="prediction"') == 2


def test_a_markdown_row_has_as_many_cells_as_its_header():
    for line in render(nasty(), NASTY, "markdown").splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6


def test_markdown_marks_the_critical_chain():
    assert "on the critical chain, 3 cycles" in render(analysis(chain_region()), "k.s", "markdown")


def test_sarif_has_every_hazard_and_problem_at_its_place():
    document = json.loads(render(nasty(), "a b.s", "sarif"))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    assert set(results) == {"lcp-stall", "syntax-error", "cycles-per-iteration"}
    place = results["syntax-error"]["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 5, "startColumn": 3, "endColumn": 10}
    assert place["artifactLocation"]["uri"] == "a%20b.s"
    assert results["lcp-stall"]["level"] == "warning"
    properties = results["cycles-per-iteration"]["properties"]
    assert properties["cyclesPerIteration"] == 1.0
    assert properties["microarchitecture"] == "SKL"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_svg_has_a_box_for_every_instruction_and_an_arc_for_every_dependency():
    root = ElementTree.fromstring(render(analysis(chain_region()), "k.s", "svg"))
    elements = [(element.tag.split("}")[1], element.attrib) for element in root.iter()]
    assert sum(tag == "rect" for tag, _ in elements) == 4
    # rax to itself and to the addition, rbx and r15 to themselves, the flags to the jump
    assert sum(tag == "path" and found["fill"] == "none" for tag, found in elements) == 5


def test_the_critical_edges_of_a_picture_are_named_and_add_up():
    picture = render(analysis(chain_region()), "k.s", "svg")
    assert re.findall(r'class="label critical">([^<]*)<', picture) == ["rax 3"]
    assert "Red: the critical chain, 3.00 cycles per iteration." in picture


def test_dot_draws_what_the_next_iteration_reads_dashed():
    lines = render(analysis(chain_region()), "k.s", "dot").splitlines()
    assert '  i0 -> i1 [label="rax 3"];' in lines
    assert '  i0 -> i0 [label="rax 3", style=dashed, color="#c62828", penwidth=2];' in lines


INTELS_WORDS = re.compile(r"\b(DSB|MITE|IDQ|LSD|RS|ROB|ports?|[Ii]ssue slots?|p0)\b")


@pytest.mark.parametrize("name", ["ZEN2", "ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize("kind", ["text", "markdown", "html", "sarif"])
def test_reports_on_amd_cores_use_no_intel_words(name, kind):
    block = block_of(CHAIN, name)
    model = registry.get(name)
    simulation = simulate(block, model, request=RunRequest(trace=True, account=True))
    report = render(analysis(region_analysis(explain(block, model, simulation))), "a.s", kind)
    if kind == "html":
        # The script and the names of colours are the same for all; what it shows of the core is in the data.
        data = "".join(re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', report, re.DOTALL))
        words = json.loads(data)
        shown = [*words["causes"], *words["spans"].values(), words["sources"]["DSB"], words["unit"]]
        shown += [word for _, word in words["events"]] + [one["name"] for one in words["occupancy"]]
        body = re.sub(r"<(script|style)\b.*?</\1>", "", report, flags=re.DOTALL)
        report = " ".join([re.sub(r"<[^>]*>", " ", body), *shown])
    found = [report[max(0, m.start() - 60) : m.end() + 30] for m in INTELS_WORDS.finditer(report)]
    assert not found
    assert "op cache" in report or kind in ("markdown", "sarif")
