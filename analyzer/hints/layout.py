"""How much of what the kinds have to say fits on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cyclelens.analyzer.model.result import Hint, RegionAnalysis
from cyclelens.analyzer.model.source import SourceLine

LINE_BUDGET = 60
"""Characters of all labels on one line: behind a line of code they still are on a screen of 1280 pixels."""

END_OF_LINE = 1 << 20
"""A column behind the last character of any line; whoever shows the hint moves it to the line's end."""

_GAP = len(" · ")
"""Between two labels."""


def statement_of(region: RegionAnalysis, instruction: int) -> SourceLine:
    """The statement that an instruction of a region comes from."""
    return region.region.lines[region.instruction_lines[instruction]]


def fit(hints: Sequence[tuple[int, Hint]]) -> list[Hint]:
    """Cut the hints of one line to the budget, keeping their order.

    ``hints``: (rank, hint), where the smallest rank is the most important. What does not fit loses its label
    and is told in the tooltip of the first hint that stays.
    """
    left = LINE_BUDGET
    kept: set[int] = set()
    for position in sorted(range(len(hints)), key=lambda i: (hints[i][0], i)):
        label = hints[position][1].label
        needed = len(label) + (_GAP if kept else 0)
        if needed <= left or not kept:
            kept.add(position)
            left -= needed
    shown = [hints[i][1] for i in sorted(kept)]
    dropped = [hints[i][1] for i in range(len(hints)) if i not in kept]
    first = shown[0]
    if not dropped and len(first.label) <= LINE_BUDGET:
        return shown
    label = first.label if len(first.label) <= LINE_BUDGET else first.label[: LINE_BUDGET - 1] + "…"
    tooltips = [first.tooltip, *(f"{hint.label}: {hint.tooltip}" for hint in dropped)]
    shown[0] = replace(first, label=label, tooltip="\n\n".join(text for text in tooltips if text))
    return shown
