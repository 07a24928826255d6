"""The steady states in which a loop settles: figures that runs come to again and again, and none between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

SAME = 0.02
"""Two figures are of one state if they, or others between them, are no further apart than this share."""
SMALLEST = 0.1
"""The share of the runs that a state has at least; fewer were disturbed, or on their way to another."""
_FEWEST = 2
"""Figures of a state: a single one may be anything."""


@dataclass(frozen=True, slots=True)
class State:
    """One steady state."""

    cycles: float
    """The median of its figures."""
    share: float
    """Of all runs, in which each process counts the same. Shares of all states may come to less than 1."""


def steady_states(processes: Sequence[Sequence[float]]) -> tuple[State, ...]:
    """The states that the figures of several processes show, the fastest first.

    The figures are sorted and cut wherever two neighbours are further apart than ``SAME``. What lies between
    two cuts is a state if it has at least ``SMALLEST`` of the runs, and two figures. A smear without gaps is
    one state, so a loop without states that can be told apart shows a wide spread instead.
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
    """The first of the sorted figures up to which there is half of their weight."""
    half = sum(weight for _, weight in weighted) / 2
    up_to = accumulate(weight for _, weight in weighted)
    return next(figure for (figure, _), sum_ in zip(weighted, up_to, strict=True) if sum_ >= half)


def described(states: Sequence[State]) -> str:
    """``1.00 in 70 % of the runs, 1.33 in 30 %``; empty if there are not several."""
    if len(states) < 2:
        return ""
    first, *others = (f"{state.cycles:.2f} in {state.share:.0%}".replace("%", " %") for state in states)
    return ", ".join((f"{first} of the runs", *others))
