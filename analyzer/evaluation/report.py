"""Formats an evaluation as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.evaluation.metrics import WITHIN, Summary, relative_error
from cyclelens.analyzer.evaluation.predictions import PredictionResult
from cyclelens.analyzer.evaluation.summary import Evaluation
from cyclelens.analyzer.isa.decoder import decode
from msgspec.structs import asdict

_PROBLEMS_SHOWN = 10


def as_text(evaluation: Evaluation) -> str:
    """The whole report; errors and shares in per cent, cycles per iteration."""
    groups: list[tuple[str, Mapping[str, Summary]]] = [
        ("microarchitecture and mode", {" ".join(key): value for key, value in evaluation.by_model.items()}),
        ("kind of block", evaluation.by_category),
        ("front end", evaluation.by_front_end),
        ("mode and vector width", {" ".join(key): value for key, value in evaluation.by_width.items()}),
        ("application", evaluation.by_application),
    ]
    compared = evaluation.total.reference_mean_error is not None
    based = evaluation.total.baseline_mean_error is not None
    counted = evaluation.total.weighted_error is not None
    model = "" if evaluation.model is None else f", model {evaluation.model}"
    lines = [f"{evaluation.source}: {evaluation.total.blocks} blocks{model}", ""]
    for title, summaries in groups:
        if summaries:
            lines += [*_table(title, summaries, compared, based, counted), ""]
    lines += [*_table("all", {"": evaluation.total}, compared, based, counted), ""]
    if evaluation.problems:
        lines.append("Blocks without a prediction:")
        shown = list(evaluation.problems.items())[:_PROBLEMS_SHOWN]
        lines += [f"{count:7}  {problem}" for problem, count in shown]
        rest = len(evaluation.problems) - len(shown)
        lines += [f"         and {rest} more reasons"] * (rest > 0) + [""]
    if evaluation.worst:
        lines.append("Largest errors:")
        for sample, result in evaluation.worst:
            lines += _block(sample, result)
    return "\n".join(lines).rstrip() + "\n"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def _table(
    title: str, summaries: Mapping[str, Summary], compared: bool, based: bool, counted: bool
) -> list[str]:
    width = max(len(title), *(len(name) for name in summaries))
    header = f"{title:{width}} {'blocks':>7} {'failed':>6} {'error %':>8} {'tau':>7}"
    header += "".join(f" {f'<={limit:.0%}':>7}" for limit in WITHIN) + f" {'equal':>7}"
    header += f" {'weighted %':>10}" * counted
    header += f" {'baseline %':>10} {'tau':>7}" * based + f" {'ref. error %':>13} {'ref. tau':>9}" * compared
    lines = [header]
    for name, summary in summaries.items():
        line = f"{name:{width}} {summary.blocks:7} {summary.unpredicted:6} {_percent(summary.mean_error):>8}"
        line += f" {_tau(summary.kendall_tau):>7}"
        line += "".join(f" {_percent(share):>7}" for share in (*summary.within, summary.equal))
        if counted:
            line += f" {_percent(summary.weighted_error):>10}"
        if based:
            line += f" {_percent(summary.baseline_mean_error):>10} {_tau(summary.baseline_kendall_tau):>7}"
        if compared:
            line += f" {_percent(summary.reference_mean_error):>13}"
            line += f" {_tau(summary.reference_kendall_tau):>9}"
        lines.append(line)
    return lines


def _tau(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _assembly(sample: Sample) -> str:
    return "; ".join(instruction.text or "(bad)" for instruction in decode(bytes.fromhex(sample.code)))


def _block(sample: Sample, result: PredictionResult) -> list[str]:
    assert result.cycles is not None, "only predicted blocks have an error"
    error = relative_error(result.cycles, sample.cycles)
    where = f"{sample.microarchitecture} {sample.mode}"
    if sample.alignment:
        where += f" at offset {sample.alignment}"
    first = f"{result.cycles:.2f} instead of {sample.cycles:.2f} ({error:.0%})"
    if sample.reference is not None:
        first += f", reference {sample.reference:.2f}"
    kinds = [first, where, result.category, *[result.front_end] * bool(result.front_end)]
    name = f" {sample.name}" if sample.name else ""
    return [
        f"  {', '.join(kinds)}{name}",
        f"    {sample.code}",
        f"    {_assembly(sample)}",
    ]


def as_json(evaluation: Evaluation) -> str:
    """The report as one JSON object; shares and errors range from 0 to 1."""
    return json.dumps(
        {
            "source": evaluation.source,
            "model": evaluation.model,
            "total": _summary(evaluation.total),
            "by_microarchitecture_and_mode": [
                {"microarchitecture": microarchitecture, "mode": mode} | _summary(summary)
                for (microarchitecture, mode), summary in evaluation.by_model.items()
            ],
            "by_category": {name: _summary(value) for name, value in evaluation.by_category.items()},
            "by_front_end": {name: _summary(value) for name, value in evaluation.by_front_end.items()},
            "by_mode_and_width": [
                {"mode": mode, "width": width} | _summary(summary)
                for (mode, width), summary in evaluation.by_width.items()
            ],
            "by_application": {name: _summary(value) for name, value in evaluation.by_application.items()},
            "problems": dict(evaluation.problems),
            "worst": [
                asdict(sample)
                | {"predicted": result.cycles, "category": result.category}
                | {"front_end": result.front_end, "assembly": _assembly(sample)}
                for sample, result in evaluation.worst
            ],
        },
        indent=2,
    )


def _summary(summary: Summary) -> dict[str, object]:
    within = {f"{limit:g}": share for limit, share in zip(WITHIN, summary.within, strict=True)}
    return asdict(summary) | {"within": within}
