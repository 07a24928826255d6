"""``cyclelens check``: whether kernels are as fast as they should be, for continuous integration."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclelens.analyzer.commands.common import (
    OK,
    PROBLEMS,
    InputError,
    add_analysis_arguments,
    analyze_file,
    is_clean,
    new_parser,
)

if TYPE_CHECKING:
    from cyclelens.analyzer.insight.work import Pace
    from cyclelens.analyzer.model.result import Analysis, Prediction, Work

TOO_SLOW = 3
"""Exit code: everything could be predicted, and some region takes longer than it may."""

_ROUNDING = 0.005
"""Figures have two decimals."""

Key = tuple[str, str]
"""Region and microarchitecture."""


@dataclass(slots=True)
class _Baseline:
    """Figures of earlier reports."""

    figures: dict[str, dict[Key, Pace]] = field(default_factory=dict)
    """By file."""

    def of(self, file: str, *, alone: bool) -> dict[Key, Pace]:
        """The figures for a file; a baseline of a single file is taken for whatever is checked ``alone``."""
        if alone and file not in self.figures and len(self.figures) == 1:
            return next(iter(self.figures.values()))
        return self.figures.get(file, {})


def main(arguments: list[str]) -> int:
    """Print a line for every region; 0 all is well, 1 problems in the input, 3 too slow."""
    parser = new_parser(
        "check",
        "Check that every region can be predicted and takes no longer than it may. Exit code: 0 all is "
        "well, 1 problems in the input, 3 a region is too slow.",
    )
    add_analysis_arguments(parser, several=True)
    parser.add_argument(
        "--max-cycles",
        type=_limit,
        action="append",
        default=[],
        metavar="REGION[@ARCH]=CYCLES",
        help="most cycles per iteration of a region, on one or every microarchitecture; may be repeated",
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE.json",
        type=Path,
        help="earlier figures: a report of `cyclelens analyze --format json`, or a list of such reports",
    )
    parser.add_argument(
        "--tolerance",
        type=_percentage,
        default=0.0,
        metavar="P%",
        help="how much slower than the baseline a region may be (default: 0%%)",
    )
    options = parser.parse_args(arguments)
    baseline = _Baseline() if options.baseline is None else _read_baseline(options.baseline)
    limits: dict[Key, float] = dict(options.max_cycles)
    used: set[Key] = set()
    clean, slow = True, False
    for file in options.files:
        options.file = file
        analysis = analyze_file(options)
        clean = _report_problems(analysis, file) and is_clean(analysis) and clean
        earlier = baseline.of(file, alone=len(options.files) == 1)
        seen: set[Key] = set()
        for name, prediction, work in _predictions(analysis):
            key = (name, prediction.microarchitecture)
            seen.add(key)
            used |= {key, (name, "")}
            limit = limits.get(key, limits.get((name, "")))
            slow |= _report(file, name, prediction, work, limit, earlier.get(key), options.tolerance)
        if options.region is None and options.arch is None:
            for name, microarchitecture in sorted(set(earlier) - seen):
                print(f"{file}: {name} ({microarchitecture}) is in the baseline but not in the file")
                clean = False
    for name, microarchitecture in sorted(set(limits) - used):
        where = f" for {microarchitecture}" if microarchitecture else ""
        print(f"there is a limit for a region '{name}'{where}, but no prediction of it")
        clean = False
    if not clean:
        return PROBLEMS
    return TOO_SLOW if slow else OK


def _predictions(analysis: Analysis) -> Iterator[tuple[str, Prediction, Work | None]]:
    """Every prediction with the name of its region and what an iteration does."""
    from cyclelens.analyzer.insight.work import work_of

    for region in analysis.regions:
        work = work_of(region)
        for prediction in region.predictions:
            yield region.region.name, prediction, work


def _report_problems(analysis: Analysis, file: str) -> bool:
    """Print what keeps regions from being checked; whether there is nothing."""
    from cyclelens.analyzer.insight import absence, wording

    for problem in analysis.problems:
        if problem.severity != "information":
            print(f"{wording.problem_place(problem, file)}: {problem.severity}: {problem.message}")
    for region in analysis.regions:
        note = absence.sentence(region.missing) if region.missing else region.note
        if region.missing or not region.predictions:
            place = wording.region_place(region.region).removeprefix("line ")
            print(f"{file}:{place}: {region.region.name}: {note}")
    return bool(analysis.regions)


def _report(
    file: str,
    name: str,
    prediction: Prediction,
    work: Work | None,
    limit: float | None,
    earlier: Pace | None,
    tolerance: float,
) -> bool:
    """Print a region's line; whether it is too slow. A baseline of another amount of work counts for as much
    as an iteration does now."""
    from cyclelens.analyzer.insight import wording
    from cyclelens.analyzer.insight.work import Pace, faster

    now = Pace(prediction.cycles_per_iteration, work)
    slow = False
    remarks = []
    if limit is not None:
        slow |= now.cycles > limit + _ROUNDING
        remarks.append(f"limit {limit:.2f}")
    if earlier is not None:
        slow |= now.cycles > earlier.cycles_for(work) * (1 + tolerance) + _ROUNDING
        remarks.append(", ".join(filter(None, (f"baseline {earlier.cycles:.2f}", faster(earlier, now)))))
    core, elsewhere = prediction.microarchitecture, wording.elsewhere(prediction)
    text = f" ({'; '.join(remarks)})" if remarks else ""
    state = "SLOW" if slow else "ok  "
    print(f"{state} {file}: {name}: {now.cycles:.2f} cycles/iter{elsewhere} on {core}{text}")
    return slow


def _limit(text: str) -> tuple[Key, float]:
    region, equals, cycles = text.rpartition("=")
    name, _, microarchitecture = region.partition("@")
    try:
        figure = float(cycles)
    except ValueError:
        figure = math.nan
    if not equals or not math.isfinite(figure) or figure < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not like REGION=4.0")
    return (name, microarchitecture.upper()), figure


def _percentage(text: str) -> float:
    try:
        figure = float(text.removesuffix("%"))
    except ValueError:
        figure = math.nan
    if not math.isfinite(figure) or figure < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage such as 2%")
    return figure / 100


def _read_baseline(path: Path) -> _Baseline:
    from cyclelens.analyzer.insight.work import Pace
    from cyclelens.analyzer.model.result import Work

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        documents: Sequence[Any] = content if isinstance(content, list) else [content]
        baseline = _Baseline()
        for document in documents:
            figures = baseline.figures.setdefault(str(document["file"]), {})
            for region in document["regions"]:
                work = Work(**region["work"]) if region.get("work") else None  # reports of before have none
                for prediction in region["predictions"]:
                    key = (str(region["name"]), str(prediction["microarchitecture"]))
                    figures[key] = Pace(float(prediction["cycles_per_iteration"]), work)
        return baseline
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is no JSON report of cyclelens analyze") from None
