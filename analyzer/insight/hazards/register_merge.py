"""``register-merge``: reading a full register after a write to AH, BH, CH or DH needs a merge uop."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "register-merge"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction that needs merge uops before it."""
    for index, template in enumerate(prediction.instructions):
        if not template.merge_uops:
            continue
        registers = ", ".join(dict.fromkeys(name.lower() for name in template.merge_uops))
        count = len(template.merge_uops)
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Partial register: the high byte of {registers} was written before and has to be merged "
                f"first, which costs {count} extra uop{'s' if count > 1 else ''} in an issue cycle of "
                f"{'their' if count > 1 else 'its'} own. Write the whole register, or keep the "
                "byte in a register of its own."
            ),
            label="register merge",
            microarchitecture=prediction.microarchitecture,
        )
