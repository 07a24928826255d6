"""``load-word``: a third load waits because all three read the same word of their cache lines (Z6)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "load-word"
_WORTH_A_WORD = 0.1
"""Smallest number of waiting loads per iteration that is reported."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction whose loads collide."""
    for index, loads in enumerate(prediction.simulation.colliding_loads):
        if loads < _WORTH_A_WORD:
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=f"The load waits {loads:.2f} times per iteration, because two others read the same four"
            " bytes of their cache lines: three start together only if they have no word in common. Other"
            " offsets avoid that.",
            label="load collides",
            microarchitecture=prediction.microarchitecture,
        )
