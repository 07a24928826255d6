"""Hazards at the end of the line that causes them.

add $0x1234, %ax                     LCP stall
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "stalls"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """One hint for every finding of the primary microarchitecture."""
    if not region.predictions:
        return
    primary = region.predictions[0].microarchitecture
    for finding in region.findings:
        if finding.label and finding.microarchitecture in ("", primary):
            statement = statement_of(region, finding.instruction)
            yield Hint(
                line=statement.line,
                column=statement.end_column,
                label=finding.label,
                tooltip=finding.message,
                kind=KIND,
            )
