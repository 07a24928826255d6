"""What the renamer does by itself: additions, loads of what was just stored, moves without a slot.

add $8, %rdi                         added at rename
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.insight.renaming import renamings
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "rename"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """One hint for every instruction that the renamer carries out, on the primary microarchitecture."""
    if not region.predictions:
        return
    for index, label, message in renamings(region.predictions[0]):
        statement = statement_of(region, index)
        yield Hint(
            line=statement.line,
            column=statement.end_column,
            label=label,
            tooltip=message,
            kind=KIND,
        )
