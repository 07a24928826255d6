"""The report for programs, whose field names are stable."""

import json

from cyclelens.analyzer.model.result import Assumption, Finding
from cyclelens.analyzer.model.simulation import Trace, TraceRow
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports.registry import render
from testkit.factories import analysis, prediction, region_analysis, template, usage


def document(*regions, problems=()):
    return json.loads(render(analysis(*regions, problems=problems), "kernel.s", "json"))


def test_an_assumption_names_its_lines_and_values():
    assumption = Assumption("no-denormals", "Nothing is denormal.", (0, 1), {"most": 2.0})
    block = prediction([template(), template()], assumptions=[assumption])
    (region,) = document(region_analysis(block, lines=[7, 8]))["regions"]
    assert region["predictions"][0]["assumptions"] == [
        {
            "code": "no-denormals",
            "message": "Nothing is denormal.",
            "instructions": [0, 1],
            "lines": [8, 9],
            "values": {"most": 2.0},
        }
    ]


def test_the_document_names_its_schema_and_file():
    assert document() == {
        "schema": 2,
        "file": "kernel.s",
        "dialect": "att",
        "regions": [],
        "branchings": [],
        "problems": [],
    }


def test_a_prediction_has_the_figure_and_its_reasons():
    block = prediction([template()], cycles=3.42, bottlenecks=("Predecoder",), bounds={"Predecoder": 3.4375})
    (region,) = document(region_analysis(block))["regions"]
    (result,) = region["predictions"]
    assert result["microarchitecture"] == "SKL"
    assert result["cycles_per_iteration"] == 3.42
    assert result["bottlenecks"] == ["Predecoder"]
    assert result["bounds"] == {"Predecoder": 3.4375}
    assert result["front_end"] == {"DSB": 1.0}


def test_rows_hold_lines_and_averages():
    block = prediction(
        [template("mul rcx", ports=["1", "5"])],
        usages=[usage({"1": 1.0, "5": 1.0})],
        merge={0: usage({}, {})},
    )
    (region,) = document(region_analysis(block, first_line=2))["regions"]
    merge, row = region["predictions"][0]["rows"]
    assert merge["kind"] == "merge"
    assert (row["kind"], row["line"], row["column"]) == ("instruction", 4, 5)
    assert row["text"] == "mul rcx"
    assert row["uops"] == ["1", "5"]
    assert row["ports"] == {"1": 1.0, "5": 1.0}


def test_findings_and_problems_have_one_based_places():
    hazard = Finding("lcp-stall", Severity.WARNING, 0, "It stalls.", "LCP stall", "SKL")
    problem = Problem(line=0, column=0, end_column=3, code="syntax-error", message="no")
    result = document(region_analysis(prediction([template()]), findings=[hazard]), problems=[problem])
    assert result["regions"][0]["findings"][0] | {"message": ""} == {
        "code": "lcp-stall",
        "severity": "warning",
        "microarchitecture": "SKL",
        "instruction": 0,
        "line": 4,
        "column": 5,
        "end_column": 17,
        "message": "",
        "cost": None,
    }
    assert result["problems"][0] == {
        "code": "syntax-error",
        "severity": "error",
        "line": 1,
        "column": 1,
        "end_column": 4,
        "message": "no",
    }


def test_the_trace_is_present_only_on_request():
    (region,) = document(region_analysis(prediction([template()])))["regions"]
    assert "trace" not in region["predictions"][0]
    row = TraceRow(0, 0, "uop", 0, 0, 0, 1, 2, "MITE", 3, 4, 5, 6, 7, 8, "1", "15")
    (region,) = document(region_analysis(prediction([template()], trace=Trace((row,), 500))))["regions"]
    trace = region["predictions"][0]["trace"]
    assert dict(zip(trace["columns"], trace["rows"][0], strict=True))["dispatched"] == 6
