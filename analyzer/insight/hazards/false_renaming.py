"""``false-renaming``: a load is mistaken for one that reads a store in flight, and is repeated (M26)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "false-renaming"
_WORTH_A_WORD = 0.1
"""Smallest number of repeated loads per iteration that is reported."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction with such loads."""
    for index, waited in enumerate(prediction.simulation.failed_forwards):
        if waited is None or not waited.mistaken or waited.times < _WORTH_A_WORD:
            continue
        rules = registry.get(prediction.microarchitecture).macro_ops
        assert rules is not None
        store = prediction.instructions[waited.store].instruction.text
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                f"False memory renaming, {waited.times:.2f} times per iteration: the core expects this load "
                f"to read what '{store}' stores, because both use the same registers and displacements that "
                f"differ by a multiple of {rules.false_renaming_bytes:,}. The load is then repeated. "
                "Measured pairs took 8 to 35 cycles, most of them 12 to 17; the model takes about 14. "
                "Another base register or another distance avoids it."
            ),
            label="false renaming",
            microarchitecture=prediction.microarchitecture,
        )
