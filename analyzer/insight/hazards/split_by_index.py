"""``split-by-index``: the index in its address makes an instruction two macro-ops (M31 of docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "split-by-index"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction that would be one macro-op without its index."""
    for index, template in enumerate(prediction.instructions):
        if template.macro_ops is None or not template.macro_ops.split_by_index:
            continue
        what = (
            "store" if any(access.written for access in template.memory_operands) else "load with operation"
        )
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Split by its index: this {what} is two macro-ops because its address has an index "
                "register, and one macro-op without. A pointer of its own that advances with the loop avoids "
                "that."
            ),
            label="split by index",
            microarchitecture=prediction.microarchitecture,
        )
