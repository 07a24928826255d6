"""Series of what-ifs: how the figure follows a capacity or the latency of loads (the studies of UFS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cyclelens.analyzer.insight.whatif import SIZES, ChangeError, Experiment


@dataclass(frozen=True, slots=True)
class LatencySweep:
    """Cycles per iteration for each latency of loads."""

    latencies: tuple[int, ...]
    cycles: tuple[float, ...]

    @property
    def slope(self) -> float:
        """Cycles that one more cycle of latency costs in the end: 1 if every iteration waits for one load."""
        middle = len(self.latencies) // 2
        return self._rise(middle, len(self.latencies) - 1)

    @property
    def knee(self) -> int | None:
        """Latency up to which loads are hidden: the last one whose figure is within 5 % of the first. None if
        all are."""
        most = 1.05 * self.cycles[0]
        hidden = [cycles <= most for cycles in self.cycles]
        if all(hidden):
            return None
        return self.latencies[max(hidden.index(False) - 1, 0)]

    def _rise(self, begin: int, end: int) -> float:
        if begin == end:
            return 0.0
        run = self.latencies[end] - self.latencies[begin]
        return (self.cycles[end] - self.cycles[begin]) / run


def load_latency(experiment: Experiment, latencies: Sequence[int]) -> LatencySweep:
    """The figure for each latency of loads, in cycles."""
    cycles = tuple(experiment.with_load_latency(value).cycles_per_iteration for value in latencies)
    return LatencySweep(tuple(latencies), cycles)


@dataclass(frozen=True, slots=True)
class SizeSweep:
    """Cycles per iteration for capacities times a factor; a grid if there are two capacities."""

    names: tuple[str, ...]
    scales: tuple[float, ...]
    cycles: tuple[tuple[float, ...], ...]
    """By the second capacity's factor (a single row if there is only one), then by the first one's."""


def sizes(experiment: Experiment, names: Sequence[str], scales: Sequence[float]) -> SizeSweep:
    """The figure for one or two capacities (``rob rs idq iq``) times every factor. Raises ChangeError for
    other names."""
    unknown = [name for name in names if name not in SIZES]
    if unknown or not 1 <= len(names) <= 2:
        raise ChangeError(f"one or two of {', '.join(SIZES)} can be scaled")
    return SizeSweep(
        tuple(names),
        tuple(scales),
        tuple(
            tuple(_scaled(experiment, names, (first, second)) for first in scales)
            for second in (scales if len(names) == 2 else scales[:1])
        ),
    )


def _scaled(experiment: Experiment, names: Sequence[str], factors: Sequence[float]) -> float:
    model = experiment.model
    least = {"idq": model.dsb_width + model.issue_width, "iq": model.predecode_width}
    values: dict[str, Any] = {
        # Below these nothing moves any more.
        SIZES[name]: max(round(getattr(model, SIZES[name]) * factor), least.get(name, model.issue_width))
        for name, factor in zip(names, factors, strict=False)
    }
    return experiment.with_model(replace(model, **values)).cycles_per_iteration
