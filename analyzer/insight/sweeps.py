"""Sweeps a capacity, or the latency of loads or stores, and shows how the figure follows (as the UFS studies
do)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cyclelens.analyzer.insight.capacities import OPTIONAL, SIZES, ChangeError, least_value
from cyclelens.analyzer.insight.whatif import Experiment
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.upper_halves import fresh
from msgspec import Struct
from msgspec.structs import replace


class LatencySweep(Struct, frozen=True):
    """Cycles per iteration for each latency."""

    latencies: tuple[int, ...]
    cycles: tuple[float, ...]
    of: str = "load"
    """Whose latency it is: ``load`` or ``store``."""

    @property
    def slope(self) -> float:
        """Cycles that one more cycle of latency costs at the end of the sweep: 1 if every
        iteration waits for one load."""
        middle = len(self.latencies) // 2
        return self._rise(middle, len(self.latencies) - 1)

    @property
    def knee(self) -> int | None:
        """Largest latency that is hidden: its figure is within 5 % of the first
        one; None if all are hidden."""
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
    """The figure for each load latency, in cycles."""
    cycles = tuple(experiment.with_load_latency(value).cycles_per_iteration for value in latencies)
    return LatencySweep(tuple(latencies), cycles)


def store_latency(experiment: Experiment, latencies: Sequence[int]) -> LatencySweep:
    """The figure for each latency of stores: the cycles from dispatch of the data to the end of the store.

    Until then it does not retire, and keeps its entries, as in UFS; a load of the stored value does not wait
    for the end."""
    cycles = tuple(
        experiment.replaced_everywhere(
            partial(_with_store_latency, cycles=value), experiment.model
        ).cycles_per_iteration
        for value in latencies
    )
    return LatencySweep(tuple(latencies), cycles, "store")


def _with_store_latency(template: InstructionTemplate, cycles: int) -> InstructionTemplate:
    uops = list(template.uops)
    for number, uop in enumerate(uops):
        if uop.kind is UopKind.STORE_DATA:
            # A uop is finished when its last result is there; nothing reads this one.
            uops[number] = replace(uop, outputs=(*uop.outputs, (fresh(uops), cycles)))
    return replace(template, uops=tuple(uops))


OTHERS = "others"
"""In place of a second capacity: all others that limit the core, scaled together."""


class SizeSweep(Struct, frozen=True):
    """Cycles per iteration for scaled capacities; a grid if there are two."""

    names: tuple[str, ...]
    scales: tuple[float, ...]
    sizes: tuple[tuple[int, ...], ...]
    """The scaled capacities of each name; for ``OTHERS`` per cent of what they are."""
    cycles: tuple[tuple[float, ...], ...]
    """A row per factor of the second capacity (one row if there is only one), a column
    per factor of the first."""


def sizes(experiment: Experiment, names: Sequence[str], scales: Sequence[float]) -> SizeSweep:
    """The figure for one or two capacities (short names in ``capacities.SIZES``) scaled by each factor, or
    for one and ``OTHERS``.

    Raises ChangeError for unknown names and for capacities that do not limit this model.
    """
    unknown = [name for name in names if name not in SIZES and name != OTHERS]
    if unknown or names[0] == OTHERS or not 1 <= len(names) <= 2:
        what = f"there is no buffer '{unknown[0]}': " if unknown else ""
        raise ChangeError(f"{what}one or two of {', '.join(SIZES)} can be scaled")
    columns = [
        tuple(
            round(100 * factor) if name == OTHERS else _capacity(experiment, name, factor)
            for factor in scales
        )
        for name in names
    ]
    others = [name for name in SIZES if name not in names and _limits(experiment, name)]

    def cycles(*chosen: int) -> float:
        values: dict[str, Any] = {}
        for name, size in zip(names, chosen, strict=True):
            if name == OTHERS:
                values |= {SIZES[each]: _capacity(experiment, each, size / 100) for each in others}
            else:
                values[SIZES[name]] = size
        return experiment.with_model(replace(experiment.model, **values)).cycles_per_iteration

    if len(names) == 1:
        grid: tuple[tuple[float, ...], ...] = (tuple(cycles(size) for size in columns[0]),)
    else:
        grid = tuple(tuple(cycles(first, second) for first in columns[0]) for second in columns[1])
    return SizeSweep(tuple(names), tuple(scales), tuple(columns), grid)


def _limits(experiment: Experiment, name: str) -> bool:
    """Whether a capacity limits the model."""
    known = getattr(experiment.model, SIZES[name]) is not None
    return known and (name not in OPTIONAL or experiment.options.limited)


def _capacity(experiment: Experiment, name: str, factor: float) -> int:
    model = experiment.model
    size: int | None = getattr(model, SIZES[name])
    if size is None:
        raise ChangeError(f"'{name}': no size is known for {model.name}")
    if name in OPTIONAL and not experiment.options.limited:
        raise ChangeError(f"{name} is a limit only with --resources on")
    return max(round(size * factor), least_value(model, SIZES[name]))
