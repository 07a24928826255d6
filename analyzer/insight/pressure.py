"""How busy the execution ports are."""

from __future__ import annotations

from collections import defaultdict

from cyclelens.analyzer.model.result import Prediction

_SATURATED = 0.95


def port_pressure(prediction: Prediction) -> dict[str, float]:
    """Uops an iteration by port, over all instructions, merge and synchronisation uops."""
    simulation = prediction.simulation
    totals: defaultdict[str, float] = defaultdict(float)
    for usage in (*simulation.usage, *simulation.merge_usage, *simulation.sync_usage):
        if usage is not None:
            for port, uops in usage.ports.items():
                totals[port] += uops
    return dict(sorted(totals.items()))


def saturated_ports(prediction: Prediction) -> frozenset[str]:
    """Ports that are busy in at least 95 % of the cycles."""
    least = _SATURATED * prediction.cycles_per_iteration
    return frozenset(port for port, uops in port_pressure(prediction).items() if uops > 0 and uops >= least)
