"""Finds how much a figure depends on the rule that binds uops to ports.

A uop is bound to a port when it issues, and no vendor publishes the rule. If nearly all ports are busy, rules
that fit measurements equally well give different figures for a short loop (docs/insight.md).
"""

from __future__ import annotations

from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.model.result import PortBinding, Prediction
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.variants import other_bindings, unbound
from msgspec.structs import replace

LEAST_FACTOR = 1.05
"""Smallest ratio of two figures that counts as a difference."""
NEAR = 0.9
"""Share of the largest bound at which the ports may be the limit."""


def port_binding(block: Block, prediction: Prediction, runs: Runs) -> PortBinding | None:
    """The smallest and largest figure of ``block``, whose prediction is ``prediction``, under other binding
    rules.

    Either end is the predicted figure itself if it is within five percent of it; None if both are. The
    smallest is never below the ports' bound, nor below the figure if uops with a choice of ports never wait
    for one. The largest comes from other rules, random choice among them. Raises like ``simulate``.
    """
    cycles = prediction.cycles_per_iteration
    largest = max(prediction.bounds.values(), default=0.0)
    ports = prediction.bounds.get("Ports", 0.0)
    unexplained = cycles > LEAST_FACTOR * largest
    if runs.options.port_seed is not None or is_lower_bound(prediction) or not _has_choice(block):
        return None
    if ports < NEAR * largest and not unexplained:
        return None
    least = most = cycles
    if unexplained:
        ideal = replace(runs, microarchitecture=unbound(runs.microarchitecture)).cycles(block)
        least = min(cycles, max(ideal, ports))
        if ports < NEAR * largest and cycles <= LEAST_FACTOR * least:
            return None
    for core, options in other_bindings(runs.microarchitecture, runs.options):
        other = replace(runs, microarchitecture=core, options=options).cycles(block)
        least, most = min(least, other), max(most, other)
    if cycles <= LEAST_FACTOR * least:
        least = cycles
    if most <= LEAST_FACTOR * cycles:
        most = cycles
    return PortBinding(least, most) if least < most else None


def _has_choice(block: Block) -> bool:
    """True if some uop can use one of several ports."""
    return any(
        use.units.mask.bit_count() > 1
        for template in block.instructions
        if not template.fused_with_previous
        for use in template.uses
    )
