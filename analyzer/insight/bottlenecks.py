"""Which of a machine's limits a figure touches.

A limit is named as a bottleneck when it explains at least 98 % of the predicted cycles per iteration (99 %
for the divider), as in the uiCA model. The limits themselves are the analytic bounds of ``bounds``; two more,
scheduling and the divider, are read off the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.result import Simulation

UNKNOWN = "unknown"

# Bound names that are bottlenecks by themselves, in the spelling that users see.
_BOUND_BOTTLENECKS = {
    "predecoder": "Predecoder",
    "decoder": "Decoder",
    "dsb": "DSB",
    "lsd": "LSD",
    "issue": "Issue",
    "ports": "Ports",
    "dependencies": "Dependencies",
}
_TOUCHES = 0.98
_TOUCHES_DIVIDER = 0.99


def bottlenecks(bounds: Mapping[str, float], simulation: Simulation) -> tuple[str, ...]:
    """Names of the limits that bound the simulated figure, alphabetical; ``("unknown",)`` if none does.

    ``bounds``: cycles per iteration by lower-case name; those that do not apply are absent or zero.
    """
    cycles = simulation.cycles_per_iteration
    applicable = applicable_bounds(bounds, simulation)
    names = {
        _BOUND_BOTTLENECKS[name]
        for name, value in applicable.items()
        # Dependencies are compared as they are: their figure is already an exact ratio.
        if value > 0 and (value if name == "dependencies" else round(value, 2)) >= _TOUCHES * cycles
    }
    ports = applicable.get("ports", 0.0)
    if ports > 0 and "Ports" not in names and simulation.busiest_port >= _TOUCHES * cycles:
        names.add("Scheduling")
    divider = sum(usage.divider for usage in simulation.usage)
    if divider > 0 and divider >= _TOUCHES_DIVIDER * cycles:
        names.add("Divider")
    return tuple(sorted(names)) or (UNKNOWN,)


def applicable_bounds(bounds: Mapping[str, float], simulation: Simulation) -> dict[str, float]:
    """The bounds of the units that the code really goes through, by lower-case name.

    A front-end bound says nothing about a loop that another front-end path delivers: the predecoder counts
    only if no instruction comes from the DSB or the LSD, the others if some instruction comes from them.
    """
    sources = set(simulation.first_sources)
    from_decoders = "MITE" in sources
    relevant = {
        "predecoder": from_decoders and not sources & {"DSB", "LSD"},
        "decoder": from_decoders,
        "dsb": "DSB" in sources,
        "lsd": "LSD" in sources,
    }
    return {
        name.lower(): value
        for name, value in bounds.items()
        if name.lower() in _BOUND_BOTTLENECKS and relevant.get(name.lower(), True)
    }
