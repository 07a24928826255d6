"""The published schema says what the JSON report is."""

import json
from pathlib import Path

import jsonschema
import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.reports.json import document
from testkit.factories import analysis, region_analysis

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/report-2.schema.json").read_text())


@pytest.fixture(scope="module")
def report():
    text = (ROOT / "examples/lcp_stall.s").read_text() + "\nsomething wrong %eax, %ebx, %ecx, %edx\n"
    analyzed = Analyzer().analyze(
        text,
        AnalysisOptions(
            target=Target(microarchitectures=("SKL", "HSW")), detail=Detail(trace=True, account=True)
        ),
    )
    return json.loads(json.dumps(document(analyzed, "a.s")))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_whole_report_fits(report):
    jsonschema.validate(report, SCHEMA)
    assert {"account", "trace"} <= report["regions"][0]["predictions"][0].keys()


def test_a_region_without_a_prediction_fits():
    jsonschema.validate(document(analysis(region_analysis(note="It is empty.")), "a.s"), SCHEMA)


@pytest.mark.parametrize("name", ["cycles_per_iteration", "rows", "dependencies"])
def test_a_missing_field_does_not_fit(report, name):
    broken = json.loads(json.dumps(report))
    del broken["regions"][0]["predictions"][0][name]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_every_field_of_the_report_is_described(report):
    """Fields may be added at any time, but not silently."""

    def undescribed(value, schema, path):
        schema = SCHEMA["$defs"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
        if isinstance(value, dict) and "properties" in schema:
            for key, item in value.items():
                if key not in schema["properties"]:
                    yield f"{path}.{key}"
                else:
                    yield from undescribed(item, schema["properties"][key], f"{path}.{key}")
        elif isinstance(value, list) and "items" in schema:
            for item in value[:3]:
                yield from undescribed(item, schema["items"], path)

    assert list(undescribed(report, SCHEMA, "")) == []
