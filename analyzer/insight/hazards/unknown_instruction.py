"""``unknown-instruction``: the tables have no figures for an instruction: a less certain prediction."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "unknown-instruction"
_X87 = "FPU"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding for every instruction without figures."""
    unit = vocabulary.of(prediction.microarchitecture).unit
    for index, template in enumerate(prediction.instructions):
        if template.facts is not None:
            continue
        if any(name.startswith(_X87) for name in template.instruction.extensions):
            reason = (
                f"The x87 unit is not modelled: there are no figures for '{template.instruction.mnemonic}' on"
            )
        elif template.instruction.mnemonic:
            reason = f"There are no figures for '{template.instruction.mnemonic}' on"
        else:
            reason = f"The bytes {template.instruction.code.hex()} are no known instruction on"
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                f"{reason} {prediction.microarchitecture}. It is counted as one uop without a {unit} and "
                "without dependencies: what it costs on top of the figure is not known."
            ),
            label="unknown instruction",
            microarchitecture=prediction.microarchitecture,
        )
