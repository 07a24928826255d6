"""Combines the figures of several processes, because a steady state often lasts as long as its process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cyclelens.analyzer.measuring.requests import Measurement, MeasurementRequest
from cyclelens.analyzer.measuring.states import steady_states
from msgspec.structs import replace

_MORE = 2
"""Additional processes per first one if these show several states, so that the shares are reliable."""
_NOTHING_RAN = 0.05
"""Cycles per iteration: no instruction takes as few on any core."""

_TOO_FAST = f"it took less than {_NOTHING_RAN} cycles per iteration, so that most of the code cannot have run"


class Measuring(Protocol):
    """Measures a request in a process of its own."""

    def measure(self, request: MeasurementRequest) -> Measurement:
        """Measure one block."""


def repeated(harness: Measuring, request: MeasurementRequest, runs: int) -> Measurement:
    """The median of ``runs`` processes. Raises ``CannotMeasure``.

    Uses three times as many if they show several steady states and the machine is not too busy."""
    found = [harness.measure(request) for _ in range(runs)]
    undisturbed = all(each.cycles is not None for each in found)
    if runs > 1 and undisturbed and len(median_of(found).states) > 1:
        found += [harness.measure(request) for _ in range(_MORE * runs)]
    return median_of(found)


def median_of(measurements: Sequence[Measurement]) -> Measurement:
    """The median of several measurements of the same code, with their spread and the states of all; a problem
    if it is too small for any code."""
    sound = sorted((m for m in measurements if m.cycles is not None), key=lambda m: m.cycles or 0.0)
    switched = sum(each.switched for each in measurements)
    faulted = sum(each.faulted for each in measurements)
    if not sound:
        return replace(measurements[0], switched=switched, faulted=faulted)
    middle = sound[(len(sound) - 1) // 2]
    least, most, cycles = sound[0].cycles or 0.0, sound[-1].cycles or 0.0, middle.cycles or 0.0
    if cycles <= _NOTHING_RAN:
        return Measurement(None, _TOO_FAST, switched=switched, faulted=faulted)
    spread = max(middle.spread, (most - least) / cycles if cycles > 0 else 0.0)
    figures = [each.figures for each in sound if each.figures]
    return Measurement(
        cycles,
        spread=spread,
        states=steady_states(figures),
        figures=tuple(figure for each in figures for figure in each),
        pages=middle.pages,
        huge=middle.huge,
        events=middle.events,
        switched=switched,
        faulted=faulted,
    )
