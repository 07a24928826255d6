"""How much is done per cycle."""

from __future__ import annotations

from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.result import Prediction


class Rates(NamedTuple):
    """Averages over the figure's iterations; all 0 if an iteration takes no time."""

    instructions: float
    """As written, per cycle (IPC): the halves of a macro-fused pair are two."""
    uops: float
    """That take an issue slot, per cycle; a micro- or macro-fused one is one."""


def rates(prediction: Prediction) -> Rates:
    """Instructions and uops per cycle."""
    simulation = prediction.simulation
    usages = (*simulation.usage, *simulation.merge_usage, *simulation.sync_usage)
    issued = sum(usage.issued for usage in usages if usage is not None)
    cycles = prediction.cycles_per_iteration
    if not cycles:
        return Rates(0.0, 0.0)
    return Rates(len(prediction.instructions) / cycles, issued / cycles)
