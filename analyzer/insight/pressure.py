"""How busy the execution ports are, from a simulation."""

from __future__ import annotations

from collections import defaultdict

from cyclelens.analyzer.model.result import Prediction

_SATURATED = 0.95


def port_pressure(prediction: Prediction) -> dict[str, float]:
    """Uops per iteration by port, including merge and synchronisation uops."""
    simulation = prediction.simulation
    totals: defaultdict[str, float] = defaultdict(float)
    for usage in (*simulation.usage, *simulation.merge_usage, *simulation.sync_usage):
        if usage is not None:
            for port, uops in usage.ports.items():
                totals[port] += uops
    return dict(sorted(totals.items()))


def port_shares(prediction: Prediction) -> dict[str, float]:
    """Share of the cycles in which each port is busy, 0 to 1."""
    cycles = prediction.cycles_per_iteration
    return {port: uops / cycles if cycles else 0.0 for port, uops in port_pressure(prediction).items()}


def saturated_ports(prediction: Prediction) -> frozenset[str]:
    """Ports that are busy in at least 95 % of the cycles."""
    return frozenset(port for port, share in port_shares(prediction).items() if share >= _SATURATED)
