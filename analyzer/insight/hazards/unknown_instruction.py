"""``unknown-instruction``: the tables have no figures for an instruction, so the prediction is less certain.
``estimated-figures``: they have some, but put together from published tables instead of measured."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "unknown-instruction"
CODE_ESTIMATED = "estimated-figures"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding for every instruction whose figures are absent or not measured."""
    for index, template in enumerate(prediction.instructions):
        facts = template.facts
        if facts is None:
            if template.instruction.mnemonic:
                reason = f"There are no figures for '{template.instruction.text}' on"
            else:
                reason = f"The bytes {template.instruction.code.hex()} are no known instruction on"
            yield Finding(
                code=CODE,
                severity=Severity.WARNING,
                instruction=index,
                message=(
                    f"{reason} {prediction.microarchitecture}. It is counted as one uop without a port and "
                    "without dependencies: the real loop may take longer than predicted."
                ),
                label="unknown instruction",
                microarchitecture=prediction.microarchitecture,
            )
        elif facts.constructed:
            yield Finding(
                code=CODE_ESTIMATED,
                severity=Severity.INFORMATION,
                instruction=index,
                message=(
                    f"The figures of {facts.name} on {prediction.microarchitecture} were put together from "
                    "published tables, not measured: read the prediction with some care."
                ),
                label="estimated",
                microarchitecture=prediction.microarchitecture,
            )
