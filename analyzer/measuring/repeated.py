"""One figure out of several processes: a steady state often holds for the life of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cyclelens.analyzer.measuring.requests import Measurement, Request
from cyclelens.analyzer.measuring.states import steady_states

_MORE = 2
"""Times as many processes again where the first ones show several states, for the sake of their shares."""


class Measuring(Protocol):
    """Whatever measures a request in a process of its own."""

    def measure(self, request: Request) -> Measurement:
        """One figure."""


def repeated(harness: Measuring, request: Request, runs: int) -> Measurement:
    """The figure of ``runs`` processes, or of three times as many where they show several steady states and
    the machine is not too busy. Raises ``CannotMeasure``."""
    found = [harness.measure(request) for _ in range(runs)]
    undisturbed = all(each.cycles is not None for each in found)
    if runs > 1 and undisturbed and len(median_of(found).states) > 1:
        found += [harness.measure(request) for _ in range(_MORE * runs)]
    return median_of(found)


def median_of(measurements: Sequence[Measurement]) -> Measurement:
    """The measurement in the middle of several of the same code, with what they differ by as its spread, and
    the states that all of them show."""
    sound = sorted((m for m in measurements if m.cycles is not None), key=lambda m: m.cycles or 0.0)
    if not sound:
        return measurements[0]
    middle = sound[(len(sound) - 1) // 2]
    least, most, cycles = sound[0].cycles or 0.0, sound[-1].cycles or 0.0, middle.cycles or 0.0
    spread = max(middle.spread, (most - least) / cycles if cycles > 0 else 0.0)
    figures = [each.figures for each in sound if each.figures]
    return Measurement(
        cycles,
        spread=spread,
        states=steady_states(figures),
        figures=tuple(figure for each in figures for figure in each),
        pages=middle.pages,
        events=middle.events,
    )
