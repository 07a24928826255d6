"""Steady states of a loop: figures that runs reach repeatedly, with gaps in between."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

SAME = 0.02
"""Largest relative gap between neighbouring figures of one state."""
SMALLEST = 0.1
"""Least share of the runs in a state; smaller groups were disturbed or in transition."""
_FEWEST = 2
"""Fewest figures of a state: a single one may be an outlier."""


class State(Struct, frozen=True):
    """One steady state."""

    cycles: float
    """The median of its figures."""
    share: float
    """Share of all runs, weighting each process equally. The shares of all states may sum to less than 1."""


def steady_states(processes: Sequence[Sequence[float]]) -> tuple[State, ...]:
    """The states that the figures of several processes show, the fastest first.

    The sorted figures are cut wherever two neighbours are further apart than ``SAME``. A group between two
    cuts is a state if it has at least ``SMALLEST`` of the runs, and two figures. A continuum without gaps is
    one state, so a loop without distinct states shows a wide spread instead.
    """
    weighted = sorted((figure, 1 / len(figures)) for figures in processes for figure in figures)
    groups: list[list[tuple[float, float]]] = []
    for figure, weight in weighted:
        if groups and figure - groups[-1][-1][0] <= SAME * abs(figure):
            groups[-1].append((figure, weight))
        else:
            groups.append([(figure, weight)])
    shared = [(group, sum(weight for _, weight in group) / len(processes)) for group in groups]
    return tuple(
        State(_median(group), share) for group, share in shared if share >= SMALLEST and len(group) >= _FEWEST
    )


def _median(weighted: Sequence[tuple[float, float]]) -> float:
    """Weighted median of the sorted figures."""
    half = sum(weight for _, weight in weighted) / 2
    up_to = accumulate(weight for _, weight in weighted)
    return next(figure for (figure, _), sum_ in zip(weighted, up_to, strict=True) if sum_ >= half)


def described(states: Sequence[State]) -> str:
    """Text such as ``1.00 in 70 % of the runs, 1.33 in 30 %``; empty unless there are several states."""
    if len(states) < 2:
        return ""
    first, *others = (f"{state.cycles:.2f} in {state.share:.0%}".replace("%", " %") for state in states)
    return ", ".join((f"{first} of the runs", *others))
