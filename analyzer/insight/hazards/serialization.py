"""``serializing``: the instruction issues only after everything before it has retired."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "serializing"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per serializing instruction."""
    for index, template in enumerate(prediction.instructions):
        if not template.serializing or template.switches_upper_halves or template.follows_switch:
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                "Serializing: it waits until every earlier instruction has retired, so nothing overlaps "
                "across it."
            ),
            label="serializing",
            microarchitecture=prediction.microarchitecture,
        )
