"""Instructions and uops per cycle of a prediction."""

from __future__ import annotations

from cyclelens.analyzer.model.result import Prediction
from msgspec import Struct


class Rates(Struct, frozen=True):
    """Averages over the measured iterations; all 0 if an iteration takes no time."""

    instructions: float
    """Instructions as written, per cycle (IPC): a macro-fused pair counts as two."""
    uops: float
    """Uops that take an issue slot, per cycle; a micro- or macro-fused uop counts as one."""


def rates(prediction: Prediction) -> Rates:
    """Instructions and uops per cycle."""
    simulation = prediction.simulation
    usages = (*simulation.usage, *simulation.merge_usage, *simulation.sync_usage)
    issued = sum(usage.issued for usage in usages if usage is not None)
    cycles = prediction.cycles_per_iteration
    if not cycles:
        return Rates(0.0, 0.0)
    return Rates(len(prediction.instructions) / cycles, issued / cycles)
