"""``failed-forwarding``: no single store in flight holds all bytes of a load, so the
load waits for the cache."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "failed-forwarding"
_WORTH_A_WORD = 0.1
"""Smallest number of failed loads per iteration that is reported."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction with such loads."""
    for index, failed in enumerate(prediction.simulation.failed_forwards):
        if failed is None or failed.mistaken or failed.times < _WORTH_A_WORD:
            continue
        store = prediction.instructions[failed.store].instruction.text
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                f"Failed store forwarding, {failed.times:.2f} times per iteration: the load needs bytes that "
                f"no single store in flight holds, the last one was '{store}'. It waits until that store has "
                f"reached the cache, and has its data {failed.cycles:.0f} cycles after the store has "
                "retired. Load what was stored, in the same size and from the same place, store it in one "
                "piece, or put other work in between."
            ),
            label="failed forwarding",
            microarchitecture=prediction.microarchitecture,
        )
