"""``cyclelens check``: checks that kernels are as fast as required, for continuous integration."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclelens.analyzer.cli.common import add_analysis_arguments, add_data_arguments, analyze_file, is_clean
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import AT_ONCE, read_given
from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser, output_path
from cyclelens.analyzer.model.source import Severity
from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.insight.work import Pace
    from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis

TOO_SLOW = 3
"""Exit code: everything could be predicted, but a region exceeds its limit."""

_ALLOW = "--allow-incomplete accepts it"
_ROUNDING = 0.005
"""Figures are rounded to two decimals."""

Key = tuple[str, str]
"""Region and microarchitecture."""


class _Baseline(Struct):
    """Figures of earlier reports."""

    figures: dict[str, dict[Key, Pace]] = field(default_factory=dict)
    """File -> figures."""
    bounds: dict[str, set[Key]] = field(default_factory=dict)

    def of(self, file: str, *, alone: bool) -> dict[Key, Pace]:
        """The figures for a file; a baseline of a single file applies to any file that is checked
        ``alone``."""
        return self.figures.get(self._name(file, alone), {})

    def bounds_of(self, file: str, *, alone: bool) -> set[Key]:
        """The regions for the same file that had only a lower bound, which cannot be compared."""
        return self.bounds.get(self._name(file, alone), set())

    def _name(self, file: str, alone: bool) -> str:
        if alone and file not in self.figures and len(self.figures) == 1:
            return next(iter(self.figures))
        return file


def main(arguments: list[str]) -> int:
    """Print a line for every region. Returns 0 if all is well, 1 for problems in the input, 3 if one is too
    slow."""
    parser = new_parser(
        "check",
        "Check that every region can be predicted and stays within its limit. Exit code: 0 all is "
        "well, 1 problems in the input, or no exact figure, 3 a region is too slow.",
    )
    add_analysis_arguments(parser, several=True)
    add_data_arguments(parser)
    parser.add_argument(
        "--max-cycles",
        type=_limit,
        action="append",
        default=[],
        metavar="REGION[@ARCH]=CYCLES",
        help="limit of a region in cycles per iteration, on one or every microarchitecture; may be repeated",
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
    parser.add_argument(
        "--summary",
        metavar="FILE.md",
        type=Path,
        help="append the figures as a Markdown table, for a CI summary",
    )
    parser.add_argument(
        "--sarif",
        metavar="FILE.sarif",
        type=output_path,
        help="write slow regions, hazards and problems at their lines, for code scanning",
    )
    parser.add_argument(
        "--allow-incomplete",
        action="store_true",
        help="accept regions without an exact figure because the tables lack instructions; one whose "
        "lower bound exceeds its limit is still too slow",
    )
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.insight import wording

    options.core_in_report = True
    baseline = _Baseline() if options.baseline is None else _read_baseline(options.baseline)
    limits: dict[Key, float] = dict(options.max_cycles)
    used: set[Key] = set()
    clean = True
    verdicts: list[_Verdict] = []
    analyses: list[tuple[Analysis, str]] = []
    for file in options.files:
        options.file = file
        analysis = analyze_file(options)
        _demand_core(analysis, options)
        analyses.append((analysis, file))
        allowed: bool = options.allow_incomplete
        clean = _report_problems(analysis, file, allowed) and is_clean(analysis, left_out=allowed) and clean
        earlier = baseline.of(file, alone=len(options.files) == 1)
        bounds = baseline.bounds_of(file, alone=len(options.files) == 1)
        seen: set[Key] = set()
        for region, prediction in _predictions(analysis):
            name = region.region.name
            key = (name, prediction.microarchitecture)
            seen.add(key)
            used |= {key, (name, "")}
            limit = limits.get(key, limits.get((name, "")))
            verdict = _judged(file, region, prediction, limit, earlier.get(key), options.tolerance)
            verdict = _completed(verdict, allowed)
            if not verdicts:
                verdict = replace(verdict, by_default=wording.default_of(analysis, region))
            if key in bounds:
                verdict = replace(verdict, remarks=(*verdict.remarks, "the baseline has only a lower bound"))
            print(verdict.line)
            verdicts.append(verdict)
            clean = clean and not verdict.incomplete
        for name, microarchitecture in _left_out(analysis):
            seen.add((name, microarchitecture))
            used |= {(name, microarchitecture), (name, "")} if allowed else set()
        if options.region is None and options.microarchitectures is None:
            for name, microarchitecture in sorted(set(earlier) - seen):
                print(f"{file}: {name} ({microarchitecture}) is in the baseline but not in the file")
                clean = False
    for name, microarchitecture in sorted(set(limits) - used):
        where = f" for {microarchitecture}" if microarchitecture else ""
        hint = did_you_mean(name, {each.region.region.name for each in verdicts} - {name})
        print(f"there is a limit for a region '{name}'{where}, but no prediction of it{hint}")
        clean = False
    slow = any(verdict.slow for verdict in verdicts)
    try:
        if options.summary is not None:
            with options.summary.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _summary(verdicts, clean=clean))
        if options.sarif is not None:
            options.sarif.write_text(_sarif(analyses, verdicts), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename} cannot be written: {error.strerror or error}") from None
    if not clean:
        return PROBLEMS
    return TOO_SLOW if slow else OK


def _demand_core(analysis: Analysis, options: argparse.Namespace) -> None:
    """In continuous integration a core must be named: the next machine may be another one. Raises
    InputError."""
    if not analysis.by_default or os.environ.get("CI", "").lower() in ("", "0", "false"):
        return
    if all("arch" in region.region.options for region in analysis.regions):
        return
    from cyclelens.analyzer.microarchitectures import registry

    default = registry.default()
    name, reason = default.names[0], default.reason
    raise InputError(
        f"{options.file}: in CI, name a core: a budget is for one core, and the next machine may have "
        f"another core than {name} ({reason}). Write --arch {name}, arch={name} behind the name "
        f'in a marker, microarchitectures = ["{name}"] in cyclelens.toml, or '
        f"{registry.DEFAULT_ARCH}={name} in the environment"
    )


class _Verdict(Struct, frozen=True):
    """Result of checking a region on a microarchitecture."""

    file: str
    region: RegionAnalysis
    prediction: Prediction
    slow: bool
    remarks: tuple[str, ...]
    """What the figure is compared with, and what it lacks."""
    incomplete: bool = False
    """The figure is a lower bound, and that is not allowed."""
    by_default: str = ""
    """Why this core was chosen, if it is a default that has not been reported yet."""

    @property
    def figure(self) -> str:
        from cyclelens.analyzer.insight import wording

        return f"{wording.figure_of(self.prediction)}{wording.elsewhere(self.prediction)}"

    @property
    def line(self) -> str:
        from cyclelens.analyzer.insight import wording

        remarks = (*self.remarks, *self._mixes())
        text = f" ({'; '.join(remarks)})" if remarks else ""
        word = "SLOW" if self.slow else "LACK" if self.incomplete else "ok  "
        return (
            f"{word} {self.file}: {self.region.region.name}: {wording.cycles_per(self.prediction)} "
            f"on {wording.core(self.prediction, self.by_default)}{text}"
        )

    def _mixes(self) -> Iterator[str]:
        """Mixes of SSE and AVX, which slow code down hundreds of times, whether or not the figure includes
        that."""
        lines = [
            self.region.region.lines[self.region.instruction_lines[finding.instruction]].line + 1
            for finding in self.region.findings
            if finding.code == "sse-avx-mix"
            and finding.severity is Severity.WARNING
            and finding.microarchitecture == self.prediction.microarchitecture
        ]
        if lines:
            numbers = ", ".join(map(str, dict.fromkeys(lines)))
            yield f"SSE/AVX mix in line{'s' * (len(set(lines)) > 1)} {numbers}"


def _summary(verdicts: Sequence[_Verdict], *, clean: bool) -> Iterator[str]:
    """Markdown summary, slow regions first."""
    from cyclelens.analyzer.common.escaping import code, prose
    from cyclelens.analyzer.insight import wording

    slow = sum(verdict.slow for verdict in verdicts)
    yield "### Cycles"
    yield ""
    yield f"{len(verdicts)} figures, {slow} too slow." + ("" if clean else " Not all was checked.")
    yield ""
    if verdicts:
        yield "| | region | CPU | cycles/iter | bound by | compared with |"
        yield "|---|---|---|---:|---|---|"
    for each in sorted(verdicts, key=lambda verdict: (not verdict.slow, not verdict.incomplete)):
        place = f"{each.file}:{each.region.region.first_line + 1}"
        mark = "❌ slow" if each.slow else "❌ incomplete" if each.incomplete else "✅"
        yield (
            f"| {mark} | {code(each.region.region.name)} ({prose(place)}) "
            f"| {each.prediction.microarchitecture} | {each.figure} | {wording.bound_of(each.prediction)} "
            f"| {prose('; '.join(each.remarks))} |"
        )
    yield ""


def _sarif(analyses: Sequence[tuple[Analysis, str]], verdicts: Sequence[_Verdict]) -> str:
    from cyclelens.analyzer.reports import sarif

    slow = [
        sarif.ExceededLimit(each.file, each.region.region, f"{each.line.removeprefix('SLOW ')}")
        for each in verdicts
        if each.slow
    ]
    return sarif.render_all(analyses, slow)


def _predictions(analysis: Analysis) -> Iterator[tuple[RegionAnalysis, Prediction]]:
    for region in analysis.regions:
        for prediction in region.predictions:
            yield region, prediction


def _left_out(analysis: Analysis) -> Iterator[Key]:
    """The regions without a figure because an essential instruction has no record."""
    for region in analysis.regions:
        for missing in region.missing:
            if missing.left_out:
                yield region.region.name, missing.microarchitecture


def _report_problems(analysis: Analysis, file: str, allowed: bool) -> bool:
    """Print what prevents regions from being checked; returns whether there are any regions. ``allowed``:
    regions may lack a figure."""
    from cyclelens.analyzer.insight import absence, wording

    for problem in analysis.problems:
        if problem.severity is not Severity.INFORMATION:
            print(f"{wording.problem_place(problem, file)}: {problem.severity}: {problem.message}")
    for region in analysis.regions:
        note = absence.sentence(region.missing) if region.missing else region.note
        if region.missing or not region.predictions:
            place = wording.region_place(region.region).removeprefix("line ")
            hint = f" {_ALLOW}." if not allowed and any(each.left_out for each in region.missing) else ""
            print(f"{file}:{place}: {region.region.name}: {note}{hint}")
    return bool(analysis.regions)


def _judged(
    file: str,
    region: RegionAnalysis,
    prediction: Prediction,
    limit: float | None,
    earlier: Pace | None,
    tolerance: float,
) -> _Verdict:
    """Compare a region with its limit and baseline. A baseline with another amount of work is scaled to the
    present one. A lower bound above the limit is too slow; below it, nothing follows."""
    from cyclelens.analyzer.insight.confidence import shows_at_least
    from cyclelens.analyzer.insight.work import Pace, difference, work_of

    work = work_of(region)
    now = Pace(prediction.shown_cycles, work)
    slow = False
    remarks = []
    if limit is not None:
        slow |= now.cycles > limit + _ROUNDING
        remarks.append(f"limit {limit:.2f}")
    if earlier is not None:
        slow |= now.cycles > earlier.cycles_for(work) * (1 + tolerance) + _ROUNDING
        change = "" if shows_at_least(prediction) and not slow else difference(earlier, now)
        remarks.append(", ".join(filter(None, (f"baseline {earlier.cycles:.2f}", change))))
    return _Verdict(file, region, prediction, slow, tuple(remarks))


def _completed(verdict: _Verdict, allowed: bool) -> _Verdict:
    """The verdict with a remark on what the figure lacks. ``allowed``: lower bounds pass."""
    from cyclelens.analyzer.insight import mispredictions
    from cyclelens.analyzer.insight.confidence import lacking, uncounted
    from cyclelens.analyzer.insight.memory_levels import wording as levels

    prediction = verdict.prediction
    missing = (
        lacking(prediction)
        or uncounted(prediction)
        or mispredictions.lacking(prediction)
        or levels.lacking(prediction)
    )
    if not missing:
        return verdict
    remark = missing if allowed else f"{missing}: {_ALLOW}"
    return replace(verdict, remarks=(*verdict.remarks, remark), incomplete=not allowed)


def _limit(text: str) -> tuple[Key, float]:
    region, equals, cycles = text.rpartition("=")
    name, _, microarchitecture = region.partition("@")
    try:
        figure = float(cycles)
    except ValueError:
        figure = math.nan
    if not equals or not math.isfinite(figure) or figure < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form REGION=4.0")
    return (name, microarchitecture.upper()), figure


def _percentage(text: str) -> float:
    try:
        figure = float(text.removesuffix("%"))
    except ValueError:
        figure = math.nan
    if not math.isfinite(figure) or figure < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage such as 2%")
    return figure / 100


def _read_baseline(path: Path) -> _Baseline:
    from cyclelens.analyzer.insight.work import Pace
    from cyclelens.analyzer.model.result import Work

    try:
        content = json.loads(read_given(path, AT_ONCE))
        documents: Sequence[Any] = content if isinstance(content, list) else [content]
        baseline = _Baseline()
        for document in documents:
            figures = baseline.figures.setdefault(str(document["file"]), {})
            for region in document["regions"]:
                work = Work(**region["work"]) if region.get("work") else None  # older reports have none
                for prediction in region["predictions"]:
                    key = (str(region["name"]), str(prediction["microarchitecture"]))
                    # Older reports have none of these.
                    placed = (prediction.get("data") or {}).get("chosen") or {}
                    shown = prediction.get("mispredictions") or placed or prediction
                    least = prediction.get("at_least", False) or shown.get("at_least", False)
                    if least or shown["cycles_per_iteration"] is None:
                        baseline.bounds.setdefault(str(document["file"]), set()).add(key)
                        continue
                    figures[key] = Pace(float(shown["cycles_per_iteration"]), work)
        return baseline
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(f"{path} is not a JSON report of cyclelens analyze") from None
