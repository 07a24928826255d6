"""Summarises samples and results by microarchitecture and mode, by category, and by front-end source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cyclelens.analyzer.evaluation.categories import CATEGORIES
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.evaluation.metrics import Summary, relative_error, summarize
from cyclelens.analyzer.evaluation.predictions import PredictionResult
from cyclelens.analyzer.model.choices import Model
from msgspec import Struct

Pair = tuple[Sample, PredictionResult]
_Key = TypeVar("_Key")


class Evaluation(Struct, frozen=True):
    """All contents of a report."""

    source: str
    """The file, as the user named it."""
    total: Summary
    by_model: Mapping[tuple[str, str], Summary]
    """Summaries by microarchitecture and mode, in order of appearance."""
    by_category: Mapping[str, Summary]
    by_front_end: Mapping[str, Summary]
    by_width: Mapping[tuple[str, str], Summary]
    """Summaries by mode and vector width, if the file names widths."""
    by_application: Mapping[str, Summary]
    """Summaries by program or library, if the file names them."""
    worst: tuple[Pair, ...]
    """Worst predictions, largest relative error first."""
    problems: Mapping[str, int]
    """Number of unpredicted blocks by reason, most frequent first."""
    model: Model | None = None
    """The model that gave the predictions; None if unknown because they were read from a file."""


def evaluate(source: str, pairs: Sequence[Pair], *, worst: int, model: Model | None = None) -> Evaluation:
    """Evaluate samples and their results, listing up to ``worst`` blocks with an error.

    ``model`` is stored in the ``Evaluation``."""
    by_category = _grouped(pairs, lambda _, result: result.category)
    wrong = [
        (sample, result)
        for sample, result in pairs
        if result.cycles is not None and round(result.cycles, 2) != round(sample.cycles, 2)
    ]
    wrong.sort(key=lambda pair: -relative_error(pair[1].cycles or 0.0, pair[0].cycles))
    problems: dict[str, int] = {}
    for _, result in pairs:
        if result.problem:
            problems[result.problem] = problems.get(result.problem, 0) + 1
    return Evaluation(
        source=source,
        total=_summary(pairs),
        by_model=_grouped(pairs, lambda sample, _: (sample.microarchitecture, sample.mode)),
        by_category={
            name: by_category[name]
            for name in (*CATEGORIES, *sorted(by_category.keys() - set(CATEGORIES)))
            if name in by_category
        },
        by_front_end={
            name: summary
            for name, summary in sorted(_grouped(pairs, lambda _, result: result.front_end).items())
            if name
        },
        by_width={
            key: summary
            for key, summary in sorted(_grouped(pairs, lambda sample, _: (sample.mode, sample.width)).items())
            if key[1]
        },
        by_application={
            name: summary
            for name, summary in _grouped(pairs, lambda sample, _: sample.application).items()
            if name
        },
        worst=tuple(wrong[:worst]),
        problems=dict(sorted(problems.items(), key=lambda item: -item[1])),
        model=model,
    )


def _summary(pairs: Sequence[Pair]) -> Summary:
    return summarize(
        [(result.cycles, sample.cycles) for sample, result in pairs if result.cycles is not None],
        unpredicted=sum(result.cycles is None for _, result in pairs),
        reference_pairs=[
            (sample.reference, sample.cycles)
            for sample, result in pairs
            if sample.reference is not None and result.cycles is not None
        ],
        baseline_pairs=[
            (result.baseline, sample.cycles) for sample, result in pairs if result.baseline is not None
        ],
        counts=[sample.count for sample, result in pairs if result.cycles is not None],
    )


def _grouped(pairs: Sequence[Pair], key: Callable[[Sample, PredictionResult], _Key]) -> dict[_Key, Summary]:
    groups: dict[_Key, list[Pair]] = {}
    for sample, result in pairs:
        groups.setdefault(key(sample, result), []).append((sample, result))
    return {name: _summary(group) for name, group in groups.items()}
