"""Marks branches that are macro-fused with the instruction before them.

dec %r15
jnz .loop                            fused with dec
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "fusion"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint at the branch of every macro-fused pair."""
    if not region.predictions:
        return
    templates = region.predictions[0].instructions
    for index, template in enumerate(templates):
        if not template.fused_with_previous:
            continue
        partner = templates[index - 1].instruction.mnemonic
        statement = statement_of(region, index)
        yield Hint(
            line=statement.line,
            column=statement.end_column,
            label=f"fused with {partner}",
            tooltip=f"Macro-fusion: this branch and the {partner} before it are one uop.",
            kind=KIND,
        )
