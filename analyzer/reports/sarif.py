"""Renders hazards and problems as SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.insight.confidence import doubt, is_lower_bound
from cyclelens.analyzer.model.result import Analysis, Prediction
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Region, Severity, SourceLine
from msgspec import Struct

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "note"}
_FIGURE = "cycles-per-iteration"
_SLOW = "too-slow"


class ExceededLimit(Struct, frozen=True):
    """A region that exceeds its limit of cycles."""

    file: str
    region: Region
    message: str


def render(analysis: Analysis, file: str) -> str:
    """One run with a result for every problem, hazard and figure. Columns count code points."""
    return render_all([(analysis, file)])


def render_all(analyses: Sequence[tuple[Analysis, str]], slow: Sequence[ExceededLimit] = ()) -> str:
    """One run with the results of several files; regions in ``slow`` are errors."""
    results = [_result(_SLOW, "error", each.message, _place_of(each.region, each.file)) for each in slow] + [
        result for analysis, file in analyses for result in _results(analysis, file)
    ]
    rules = sorted({result["ruleId"] for result in results})
    run = {
        "tool": {
            "driver": {
                "name": "Cyclelens",
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [result | {"ruleIndex": rules.index(result["ruleId"])} for result in results],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _place_of(region: Region, file: str) -> dict[str, Any]:
    first = region.lines[0]
    return _location(file, region.first_line) if first.address is None else _location_of(first, file)


def _rule(rule: str) -> dict[str, Any]:
    words = rule.split("-")
    title = "".join(word.capitalize() for word in words)
    return {"id": rule, "name": title, "shortDescription": {"text": " ".join(words).capitalize()}}


def _results(analysis: Analysis, file: str) -> Iterator[dict[str, Any]]:
    for problem in analysis.problems:
        place = _location(file, problem.line, problem.column, problem.end_column)
        yield _result(problem.code, _LEVELS[problem.severity], problem.message, place)
    for region in analysis.regions:
        for prediction in region.predictions:
            name = f"{region.region.name}: " if region.region.name else ""
            core = wording.core(prediction, wording.default_of(analysis, region))
            message = (
                f"{name}{wording.figure_of(prediction)} cycles per iteration"
                f"{wording.elsewhere(prediction)} on {core}{doubt(prediction)}, "
                f"{wording.bound_of(prediction)}"
            )
            place = _place_of(region.region, file)
            yield _result(_FIGURE, "note", message, place) | {"properties": _figures(prediction)}
        for finding in region.findings:
            line = region.region.lines[region.instruction_lines[finding.instruction]]
            where = f" ({finding.microarchitecture})" if finding.microarchitecture else ""
            yield _result(
                finding.code, _LEVELS[finding.severity], finding.message + where, _location_of(line, file)
            )


def _figures(prediction: Prediction) -> dict[str, Any]:
    """Properties for programs, so that they need not parse the message."""
    figures: dict[str, Any] = {
        "microarchitecture": prediction.microarchitecture,
        "cyclesPerIteration": prediction.cycles_per_iteration,
        "lowerBound": is_lower_bound(prediction),
        "bottlenecks": list(prediction.bottlenecks),
    }
    if prediction.account is not None:
        words = vocabulary.of(prediction.microarchitecture)
        shares = {words.cause(cause): round(share, 4) for cause, share in prediction.account.causes()}
        figures["lostIssueSlots"] = shares
    return figures


def _location_of(statement: SourceLine, file: str) -> dict[str, Any]:
    place = _location(statement.file or file, statement.line, statement.column, statement.end_column)
    if statement.address is not None:
        place["address"] = {"absoluteAddress": statement.address}
    return place


def _location(file: str, line: int, column: int = 0, end_column: int = 0) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line != UNKNOWN_LINE:
        location["region"] = {"startLine": line + 1, "startColumn": column + 1}
        if end_column > column:
            location["region"]["endColumn"] = end_column + 1
    return location


def _result(rule: str, level: str, message: str, location: dict[str, Any]) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: str) -> str:
    return quote(file.replace("\\", "/"))
