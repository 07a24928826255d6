"""Turns loops of compiled sources into assembly texts, so that rewrites can be tried on them."""

from __future__ import annotations

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.result import RegionAnalysis
from msgspec.structs import replace

_LABEL = ".Lcyclelens_again"


def as_text(region: RegionAnalysis) -> str:
    """The loop in Intel syntax between markers; empty if the region is no loop or branches within itself."""
    place = region.region
    jumps = [line for line in place.lines if line.text.startswith("j")]
    if not place.ends_in_jump_to_start or len(jumps) != 1:
        return ""
    *body, back = (line.text for line in place.lines)
    return "\n".join(
        [
            ".intel_syntax noprefix",
            f"# cyclelens-begin {place.name}",
            f"{_LABEL}:",
            *(f"    {statement}" for statement in body),
            f"    {back.split()[0]} {_LABEL}",
            "# cyclelens-end",
            "",
        ]
    )


def rebuilt(
    analyzer: Analyzer, region: RegionAnalysis, options: AnalysisOptions, cancel: Cancel | None
) -> tuple[str, AnalysisOptions, RegionAnalysis] | None:
    """The text of a loop, its options, and its analysis.

    None unless the analysis has the same figure as the loop: otherwise advice about the text would not hold
    for the loop. Raises ``Cancelled`` once ``cancel`` returns True."""
    text = as_text(region)
    if not text:
        return None
    chosen = AnalysisOptions(
        replace(options.source, syntax=Syntax.INTEL, regions=Regions.MARKERS, profile=""),
        replace(options.target, alignment=region.region.placement.offset),
        options.detail,
    )
    found = analyzer.analyze(text, chosen, cancel).regions
    if len(found) != 1 or not found[0].predictions:
        return None
    mine, own = found[0].predictions[0], region.predictions[0]
    same = len(mine.instructions) == len(own.instructions)
    if not same or f"{mine.cycles_per_iteration:.2f}" != f"{own.cycles_per_iteration:.2f}":
        return None
    return text, chosen, found[0]
