"""Lists the regions that matter in a recorded profile, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.paths import Weight
from cyclelens.analyzer.model.result import Analysis

_MOST = 20
"""Most regions that are listed."""
_LEAST = 0.0005


def lines(analysis: Analysis) -> Iterator[str]:
    """The regions by their share of all cycles; nothing without a profile."""
    found: dict[str, tuple[Weight, str]] = {}
    for region in analysis.regions:
        if region.weight is not None:
            figure = wording.figure_of(region.predictions[0]) if region.predictions else "?"
            found[region.region.name] = region.weight, figure
    for each in analysis.branchings:
        if each.weight is not None:
            # The average over the paths, weighted by how often each one runs.
            sums = {name: found.cycles for name, found in each.mispredictions.items()}
            averages = [f"{cycles:.2f}" for cycles in (sums or each.averages).values()]
            found[each.branching.name] = each.weight, averages[0] if averages else "?"
    if not found:
        return
    ordered = sorted(found.items(), key=lambda item: -item[1][0].share)
    seen = [(name, item) for name, item in ordered if item[0].iterations or item[0].samples][:_MOST]
    if not seen:
        yield "The profile has none of these loops."
        return
    unit = "iterations" if any(weight.iterations for _, (weight, _) in seen) else "samples"
    yield "Share of each loop in the cycles of all these loops, from the profile"
    yield f" share {unit:>12}  cycles/iter  loop"
    for name, (weight, cycles) in seen:
        share = f"{weight.share:.1%}" if weight.share >= _LEAST else "<0.1%"
        yield f"{share:>6} {weight.iterations or weight.samples:12,.0f} {cycles:>12}  {name}"
    left = len(ordered) - len(seen)
    if left:
        yield f"and {left} more"
