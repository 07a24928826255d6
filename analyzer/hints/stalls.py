"""Shows each hazard at the end of the line that causes it.

add $0x1234, %ax                     LCP stall
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "stalls"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint per finding on the primary core."""
    primary = region.predictions[0].microarchitecture if region.predictions else ""
    for finding in region.findings:
        # If no core has a figure, findings of all cores are shown.
        if (
            finding.label
            and finding.is_likely
            and (finding.microarchitecture in ("", primary) or not primary)
        ):
            statement = statement_of(region, finding.instruction)
            yield Hint(
                line=statement.line,
                column=statement.end_column,
                label=finding.label,
                tooltip=finding.message,
                kind=KIND,
            )
