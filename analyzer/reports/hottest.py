"""Lists the hottest loops of a profile: measured share, predicted cycles and the bottleneck of each, as a
table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cyclelens.analyzer.insight import absence, wording
from cyclelens.analyzer.insight.confidence import shows_at_least
from cyclelens.analyzer.model.hot_loops import HotLoop, HotLoops
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Severity

SCHEMA = 1
_DECIMALS = 4
_LEAST = 0.0005
_NO_FIGURE = "-"


def lines(found: HotLoops) -> Iterator[str]:
    """The table, then the samples outside of these loops by reason."""
    cores = list(dict.fromkeys(each.microarchitecture for loop in found.loops for each in _predictions(loop)))
    yield f"{found.samples:,.0f} samples{f' of {found.event}' if found.event else ''}"
    if cores:
        yield f"Predicted for {', '.join(cores)}; what limits a loop is for {cores[0]}."
    yield ""
    figures = [[_figure(loop, core) for core in cores] for loop in found.loops]
    heads = [f"{core} cycles/iter" for core in cores]
    widths = [max(len(each) for each in column) for column in zip(heads, *figures, strict=True)]
    limits = [_limit(loop) for loop in found.loops]
    width = max(map(len, (*limits, "limited by")))
    if found.loops:
        columns = (f"{head:>{size}}" for head, size in zip(heads, widths, strict=True))
        yield "  ".join([" share", *columns, f"{'limited by':{width}}", "loop"])
    for loop, cells, limit in zip(found.loops, figures, limits, strict=True):
        columns = (f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))
        yield "  ".join([_share(loop.share), *columns, f"{limit:{width}}", _place(loop)])
    if not found.loops:
        yield "No sample hits a loop whose code can be read."
    for remainder in found.rest:
        yield f"{_share(remainder.share)}  {remainder.reason}"
    for message in found.messages:
        yield f"note: {message}"


def render_json(found: HotLoops) -> str:
    """The same as one indented JSON object; docs/profiles.md describes it."""
    document = {
        "schema": SCHEMA,
        "event": found.event,
        "samples": round(found.samples, _DECIMALS),
        "loops": [_document(loop) for loop in found.loops],
        "rest": [{"share": round(each.share, _DECIMALS), "reason": each.reason} for each in found.rest],
        "messages": list(found.messages),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _document(loop: HotLoop) -> dict[str, Any]:
    first = loop.region.region.lines[0]
    return {
        "name": _name(loop),
        "file": loop.file,
        "address": first.address,
        "source": None if first.line == UNKNOWN_LINE else {"file": first.file, "line": first.line + 1},
        "samples": round(loop.samples, _DECIMALS),
        "share": round(loop.share, _DECIMALS),
        "predictions": [
            {
                "microarchitecture": each.microarchitecture,
                "cycles_per_iteration": _cycles(loop, each),
                "is_lower_bound": _is_lower_bound(loop, each),
                "bottlenecks": list(each.bottlenecks),
                "stalls": _stalls(loop, each),
            }
            for each in _predictions(loop)
        ],
        "missing": [each.reason for each in loop.region.missing],
    }


def _predictions(loop: HotLoop) -> tuple[Prediction, ...]:
    return loop.region.predictions


def _name(loop: HotLoop) -> str:
    return loop.region.region.name if loop.branching is None else loop.branching.branching.name


def _cycles(loop: HotLoop, prediction: Prediction) -> float | None:
    """The average over the paths, with the mispredicted branches of the profile; None if it does not tell
    the shares of the paths."""
    if loop.branching is None:
        return round(prediction.shown_cycles, _DECIMALS)
    core = prediction.microarchitecture
    average = loop.branching.averages.get(core)
    if average is not None and core in loop.branching.mispredictions:
        average = loop.branching.mispredictions[core].cycles
    return None if average is None else round(average, _DECIMALS)


def _is_lower_bound(loop: HotLoop, prediction: Prediction) -> bool:
    given = {} if loop.branching is None else loop.branching.mispredictions
    found = given.get(prediction.microarchitecture)
    return shows_at_least(prediction) or (found is not None and found.is_lower_bound)


def _figure(loop: HotLoop, core: str) -> str:
    prediction = next((each for each in _predictions(loop) if each.microarchitecture == core), None)
    if prediction is None:
        return _NO_FIGURE
    if loop.branching is None:
        return wording.figure_of(prediction)
    average = _cycles(loop, prediction)
    least = AT_LEAST if _is_lower_bound(loop, prediction) else ""
    return _NO_FIGURE if average is None else f"{least}{average:.2f}"


def _stalls(loop: HotLoop, prediction: Prediction) -> list[str]:
    """Labels of the hazards of a core, each once."""
    found = loop.region.findings
    return list(
        dict.fromkeys(
            each.label
            for each in found
            if each.label
            and each.microarchitecture == prediction.microarchitecture
            and each.severity is not Severity.INFORMATION
        )
    )


def _limit(loop: HotLoop) -> str:
    if not loop.region.predictions:
        return absence.sentence(loop.region.missing) if loop.region.missing else loop.region.note
    first = loop.region.predictions[0]
    stalls = _stalls(loop, first)
    return wording.bound_of(first, 0) + (f" ({', '.join(stalls)})" if stalls else "")


def _share(share: float) -> str:
    return f"{share:6.1%}" if share >= _LEAST else " <0.1%"


def _place(loop: HotLoop) -> str:
    first = loop.region.region.lines[0]
    return f"{_name(loop)} at {wording.place(first)} in {loop.file}"
