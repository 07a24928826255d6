"""The labels of a region with what its document adds to them: change, advice, measurement, age.

# cyclelens-begin dot        8.00 cycles/iter · two accumulators: 4.00, four: 2.00
"""

from __future__ import annotations

from cyclelens.analyzer.insight.work import Pace, change
from cyclelens.analyzer.model.label import MeasuredFigure, RegionLabel
from cyclelens.analyzer.rewrites.search import Advice
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from msgspec.structs import replace


def shown(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> RegionLabel:
    """The label of the primary core with the change of its figure since the last save or the pinned baseline,
    and with advice, as far as the settings want them. Empty if the region has no label."""
    result = region.result
    advice = advice_for(server, snapshot, region)
    return replace(
        region.label,
        change=_change(server, snapshot, region),
        advice=() if advice is None or result.unmarked else tuple(advice.sentences()),
    )


def measured(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> MeasuredFigure:
    """The region's figure on this machine; empty if it was not measured since the last edit."""
    found = server.measurements.get(snapshot, region.result.name)
    if found is None:
        return MeasuredFigure()
    predicted = found.rows[0][0]
    return MeasuredFigure(found.title, f"{predicted:.2f}" if isinstance(predicted, float) else "")


def advice_for(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> Advice | None:
    """The advice for a region; None if there is none, or if the settings do not want it."""
    return server.searches.advice(snapshot, region) if server.settings["advice"] else None


def told(advice: Advice, compiled: bool = False) -> str:
    """The whole advice, one rewrite per line. ``compiled``: the region is a source's machine code."""
    lines = [f"{fix.after:.2f}: {fix.proposal.title}" for fix in advice.fixes]
    heading = (
        "Rewrites that make the machine code faster, and perhaps the source written the same way "
        "(results are not checked):"
        if compiled
        else "Rewrites that make it faster (code actions; results are not checked):"
    )
    return "\n".join([heading, *lines])


def _change(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion) -> str:
    result = region.result
    before = server.baselines.before(snapshot, result)
    if before is None or result.cycles is None or region.stale or not server.settings["hints.change"]:
        return ""
    return change(before, Pace(result.cycles, result.work))
