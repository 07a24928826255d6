"""Hazards and problems as SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Severity

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "note"}
_FIGURE = "cycles-per-iteration"


def render(analysis: Analysis, file: str) -> str:
    """One run with a result for every problem, hazard and figure. Columns count code points."""
    results = list(_results(analysis, file))
    rules = sorted({result["ruleId"] for result in results})
    run = {
        "tool": {
            "driver": {
                "name": "Cyclelens",
                "rules": [{"id": rule, "name": _title(rule)} for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [result | {"ruleIndex": rules.index(result["ruleId"])} for result in results],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _title(rule: str) -> str:
    return "".join(word.capitalize() for word in rule.split("-"))


def _results(analysis: Analysis, file: str) -> Iterator[dict[str, Any]]:
    for problem in analysis.problems:
        place = (problem.line, problem.column, problem.end_column)
        yield _result(problem.code, _LEVELS[problem.severity], problem.message, file, *place)
    for region in analysis.regions:
        for prediction in region.predictions:
            name = f"{region.region.name}: " if region.region.name else ""
            message = (
                f"{name}{prediction.cycles_per_iteration:.2f} cycles per iteration on "
                f"{prediction.microarchitecture}, {wording.bound_by(prediction.bottlenecks)}"
            )
            yield _result(_FIGURE, "note", message, file, region.region.first_line, 0, 0)
        for finding in region.findings:
            line = region.region.lines[region.instruction_lines[finding.instruction]]
            where = f" ({finding.microarchitecture})" if finding.microarchitecture else ""
            place = (line.line, line.column, line.end_column)
            yield _result(finding.code, _LEVELS[finding.severity], finding.message + where, file, *place)


def _result(
    rule: str, level: str, message: str, file: str, line: int, column: int, end_column: int
) -> dict[str, Any]:
    region = {"startLine": line + 1, "startColumn": column + 1}
    if end_column > column:
        region["endColumn"] = end_column + 1
    location = {"artifactLocation": {"uri": _uri(file)}, "region": region}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file.replace("\\", "/"))
