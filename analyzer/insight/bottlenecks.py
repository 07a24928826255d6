"""Finds which limits of the machine a figure reaches.

A limit is named as a bottleneck when it explains at least 98 % of the predicted cycles per iteration (99 %
for the divider), as in the uiCA model. The limits are the analytic bounds of ``bounds``; two more, scheduling
and the divider, come from the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.simulation import Simulation

UNKNOWN = "unknown"

_TOUCHES = 0.98
_TOUCHES_DIVIDER = 0.99
_ADDS_MOST = 0.5
"""Cost of upper-half switches adds to everything else and hides nothing, so half of the cycles are enough."""


def bottlenecks(bounds: Mapping[str, float], simulation: Simulation, held: float = 0.0) -> tuple[str, ...]:
    """Names of the limits that the simulated figure reaches, alphabetical; ``("unknown",)`` if there are
    none.

    ``bounds``: cycles per iteration by name; bounds that do not apply are absent or zero.
    ``held``: cycles per iteration for which instructions keep a unit, which the bound does not know.
    """
    cycles = simulation.cycles_per_iteration
    names = {
        name
        for name, value in bounds.items()
        # Dependencies are not rounded: their figure is an exact ratio.
        if value > 0 and (value if name == "Dependencies" else round(value, 2)) >= _TOUCHES * cycles
    }
    if bounds.get("Ports", 0.0) > 0 and "Ports" not in names and simulation.busiest_port >= _TOUCHES * cycles:
        names.add("Scheduling")
    if bounds.get("Upper halves", 0.0) >= _ADDS_MOST * cycles:
        names.add("Upper halves")
    divider = sum(usage.divider for usage in simulation.usage)
    if divider > 0 and divider >= _TOUCHES_DIVIDER * cycles:
        names.add("Divider")
    if held > 0 and held >= _TOUCHES_DIVIDER * cycles:
        names.discard("Scheduling")
        names.add("Ports")
    return tuple(sorted(names)) or (UNKNOWN,)
