"""Fits the labels of one line into a budget of characters."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.result import Hint, RegionAnalysis
from cyclelens.analyzer.model.source import SourceLine
from msgspec.structs import replace

LINE_BUDGET = 60
"""Most characters of all labels on one line: behind a line of code they still fit on a screen 1280 pixels
wide."""

END_OF_LINE = 1 << 20
"""A column past the end of any line; the editor's adapter moves the hint to the real end of the line."""

_GAP = len(" · ")
"""Characters between two labels."""


def statement_of(region: RegionAnalysis, instruction: int) -> SourceLine:
    """The statement that produced an instruction of the region."""
    return region.region.lines[region.instruction_lines[instruction]]


def fit(hints: Sequence[tuple[int, Hint]]) -> list[Hint]:
    """Returns the hints of one line, cut to the budget, in the same order.

    ``hints``: (rank, hint); the smallest rank is the most important. A hint that does not fit loses its
    label, and its text moves to the tooltip of the first hint that is shown.
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
