"""What loops of integer code took on a core by rules that the model lacks, and where that was measured."""

from __future__ import annotations

from cyclelens.analyzer.model.provenance import Certainty, Source

ZERO_COUNTS = Source(
    Certainty.MEASURED,
    "zero counts on a Zen 4",
    "A loop of a shift by CL and an instruction that reads its flags took 33.0 cycles on an EPYC 9004 with "
    "CL 0, 64 or 128, and 1.0 with 1, 5, 63 or 65; two such pairs 65.8, SHLD with ADC 36.0 (2.0)",
)
ZERO_COUNT_CYCLES = 32
"""Cycles by which an instruction that reads the flags of a shift by zero took longer (ZERO_COUNTS)."""
_ZERO_COUNTS = dict.fromkeys(("ZEN3", "ZEN4", "ZEN5"), "ZEN4")


def zero_counts_measured_on(name: str) -> str:
    """The core on which shifts by zero were measured that stands for this one; empty: none."""
    return _ZERO_COUNTS.get(name, "")
