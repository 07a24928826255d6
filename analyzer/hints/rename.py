"""Marks what the renamer does without an execution unit: additions, forwarded loads, eliminated moves.

add $8, %rdi                         added at rename
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.insight.renaming import renamings
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "rename"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint per instruction that the primary core carries out at rename."""
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
