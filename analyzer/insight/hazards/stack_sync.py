"""``stack-sync``: code reads RSP directly while the stack engine holds an offset,
which takes an extra uop."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "stack-sync"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction with synchronisation uops before it."""
    for index, usage in enumerate(prediction.simulation.sync_usage):
        if usage is None or usage.issued <= 0:
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Stack synchronisation: {_number(usage.issued)} extra uops per iteration write the offset "
                "of earlier pushes and pops back to RSP. Use RSP directly either before or after all of them."
            ),
            label="stack sync",
            microarchitecture=prediction.microarchitecture,
        )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
