"""Shows loops of compiled code with figures at their source lines, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cyclelens.analyzer.insight import wording, work
from cyclelens.analyzer.insight.confidence import doubt, is_lower_bound
from cyclelens.analyzer.insight.source_lines import LineFigures, by_line, home
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE
from cyclelens.analyzer.reports import paths, weights

SCHEMA = 1
Sources = Mapping[str, Sequence[str]]
"""Lines of the files that could be read, by the compiler's name of the file."""


def text(analysis: Analysis, sources: Sources, *, instructions: bool = False) -> Iterator[str]:
    """Every loop with its figure, then its lines; ``instructions`` adds those of each line."""
    weighed = list(weights.lines(analysis))
    yield from weighed
    if weighed:
        yield ""
    through = {each.branching.name: each for each in analysis.branchings}
    for region in analysis.regions:
        file, number = home(region.region.lines)
        yield f"== {_place(file, number)}: {region.region.name} =="
        yield ""
        if region.note:
            yield f"   {region.note}"
        for missing in region.missing:
            yield f"   No figure: {missing.reason}"
        for prediction in region.predictions:
            yield _headline(region, prediction, wording.default_of(analysis, region))
            yield ""
            yield from _table(by_line(region, prediction), sources, instructions)
            yield ""
        if (branching := through.get(region.region.name)) is not None and len(branching.paths) > 1:
            yield from (f"   {line}" for line in paths.lines(branching))
            yield ""
    for problem in analysis.problems:
        yield f"{problem.severity}: {problem.message} [{problem.code}]"


def _headline(region: RegionAnalysis, prediction: Prediction, by_default: str) -> str:
    mean = wording.on_average(prediction)
    return (
        f"   {work.leading(region, prediction)}{wording.cycles_per(prediction)} on "
        f"{wording.core(prediction, by_default)}{doubt(prediction)} · {wording.bound_of(prediction)}"
        f"{'' if mean is None else f' · {mean:.2f} on average over all paths'}"
    )


def _table(lines: Sequence[LineFigures], sources: Sources, instructions: bool) -> Iterator[str]:
    yield "     line  uops   lost  chain   source"
    file = None
    for line in lines:
        name, number = line.place
        if number != UNKNOWN_LINE and name != file:
            file = name
            yield f"   {name}"
        known = sources.get(name, ())
        source = known[number].strip() if 0 <= number < len(known) else ""
        yield (
            f"   {number + 1 if number != UNKNOWN_LINE else '?':>6} {wording.figure(line.issued):>5}"
            f" {wording.figure(line.lost):>6} {f'+{line.chain}' if line.chain else '':>6}   {source}"
            f"{''.join(f'  [{label}]' for label in line.labels)}"
        ).rstrip()
        if instructions:
            yield from (f"{'':31} {each}" for each in line.instructions)


def _place(file: str, line: int) -> str:
    return "(no line known)" if line == UNKNOWN_LINE else f"{file}:{line + 1}"


def render_json(analysis: Analysis) -> str:
    """The same loops as JSON for programs; lines are one-based."""
    document = {
        "schema": SCHEMA,
        "loops": [_loop(region, each) for region in analysis.regions for each in region.predictions],
        "without_figure": [
            {"name": region.region.name, "reason": each.reason}
            for region in analysis.regions
            for each in region.missing
        ],
        "problems": [
            {"code": each.code, "severity": str(each.severity), "message": each.message}
            for each in analysis.problems
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _loop(region: RegionAnalysis, prediction: Prediction) -> dict[str, Any]:
    file, line = home(region.region.lines)
    return {
        "name": region.region.name,
        "file": file,
        "line": _number(line),
        "microarchitecture": prediction.microarchitecture,
        "cycles_per_iteration": prediction.cycles_per_iteration,
        "at_least": is_lower_bound(prediction),
        "bottlenecks": list(prediction.bottlenecks),
        "lines": [
            {
                "file": each.place[0],
                "line": _number(each.place[1]),
                "uops": round(each.issued, 4),
                "lost_cycles": round(each.lost, 4),
                "chain_cycles": each.chain,
                "hazards": list(each.labels),
                "instructions": list(each.instructions),
            }
            for each in by_line(region, prediction)
        ],
    }


def _number(line: int) -> int | None:
    return None if line == UNKNOWN_LINE else line + 1
