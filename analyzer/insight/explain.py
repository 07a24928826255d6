"""Turns a finished simulation into a prediction: the figure, its bounds and its bottlenecks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from cyclelens.analyzer.bounds.dependencies import critical_chains
from cyclelens.analyzer.bounds.registry import compute_bounds
from cyclelens.analyzer.insight.bottlenecks import bottlenecks
from cyclelens.analyzer.model.choices import Mode, Pointers
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import Block
from msgspec.structs import replace


def explain(
    block: Block,
    microarchitecture: Microarchitecture,
    simulation: Simulation,
    options: ModelOptions = DEFAULT,
) -> Prediction:
    """The simulation's figure with bounds, bottlenecks and front-end shares. Does not simulate."""
    simulation, held = _held_apart(block, simulation)
    apart = options.assume is Pointers.DIFFERENT
    critical = critical_chains(block, microarchitecture)
    bounds = compute_bounds(block, microarchitecture, simulation, critical, apart=apart)
    return replace(
        bare(block, simulation),
        bottlenecks=bottlenecks(bounds, simulation, held),
        bounds=_within(bounds, simulation),
        front_end=front_end_shares(simulation),
        chain=tuple(critical.cycles.items()),
        tied_chains=len(critical.chains),
    )


def _held_apart(block: Block, simulation: Simulation) -> tuple[Simulation, float]:
    """The simulation with the divider's own cycles, and those of the unit that is held the longest (M21)."""
    held: dict[int, float] = defaultdict(float)
    usages = list(simulation.usage)
    for position, (template, usage) in enumerate(zip(block.instructions, usages, strict=False)):
        if usage.divider and template.holds_unit:
            units = next(uop.units.mask for uop in template.uops if uop.divider_cycles)
            held[units] += usage.divider
            usages[position] = replace(usage, divider=0.0)
    if not held:
        return simulation, 0.0
    return replace(simulation, usage=tuple(usages)), max(held.values())


def _within(bounds: Mapping[str, float], simulation: Simulation) -> dict[str, float]:
    """Caps bounds at the figure unless the simulation found a period.

    Without a period, the figure is an average over a window of rounds and may fall short of the steady state
    by a fraction of a cycle.
    """
    if simulation.period is not None:
        return dict(bounds)
    return {name: min(value, simulation.cycles_per_iteration) for name, value in bounds.items()}


def bare(block: Block, simulation: Simulation) -> Prediction:
    """A prediction with the figure alone: no bounds, no bottlenecks."""
    return Prediction(
        microarchitecture=block.microarchitecture,
        mode=Mode.LOOP if block.loop else Mode.UNROLL,
        alignment=block.alignment,
        cycles_per_iteration=steady_state(simulation),
        bottlenecks=(),
        bounds={},
        front_end={},
        instructions=block.instructions,
        simulation=simulation,
        account=simulation.account,
        tracks_values=block.tracks_values,
    )


def steady_state(simulation: Simulation) -> float:
    """Cycles per iteration in the steady state, rounded to 2 decimals.

    Exact if the pipeline's state repeated; otherwise the average over the run's window, as in the published
    model (5.2).
    """
    if simulation.period is None:
        return simulation.cycles_per_iteration
    cycles, rounds = simulation.period
    return round(cycles / rounds, 2)


def front_end_shares(simulation: Simulation) -> dict[str, float]:
    """IDQ uops per iteration by front-end source; sources without uops are absent."""
    totals: defaultdict[str, float] = defaultdict(float)
    for usage in simulation.usage:
        for source, uops in usage.sources.items():
            totals[source] += uops
    return {source: uops for source, uops in sorted(totals.items()) if uops > 0}
