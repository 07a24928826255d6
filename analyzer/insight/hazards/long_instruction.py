"""``long-instruction``: an instruction that the decoders accept only as the first of a cycle (docs/zen5.md,
M1).

Code from the op cache bypasses the decoders and is not affected.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "long-instruction"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per affected instruction that comes from the decoders."""
    rules = registry.get(prediction.microarchitecture).macro_ops
    if rules is None:
        return
    for index, template in enumerate(prediction.instructions):
        length = len(template.instruction.code)
        if length <= rules.long_instruction_bytes or prediction.simulation.first_sources[index] != "MITE":
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Long instruction: {length} bytes. Outside of the op cache the decoders take an instruction "
                f"of more than {rules.long_instruction_bytes} bytes only as the first of a cycle, so a "
                "cycle ends before it. A displacement of 8 bits, or a constant in a register, shortens it."
            ),
            label="long instruction",
            microarchitecture=prediction.microarchitecture,
        )
