"""Shows how a region's figure changed, with both figures in the label of its first line.

# cyclelens-begin dot        3.42 -> 1.00, 71 % faster · issue-bound
# cyclelens-begin sum        5.00 -> 5.50, 45 % faster per byte
"""

from __future__ import annotations

from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.insight.work import Pace, faster

_UNIT = " cycles/iter"
_SEPARATOR = " · "


def change(before: Pace, after: Pace) -> str:
    """Both figures, in cycles per iteration, and the difference: ``3.42 -> 1.00, 71 % faster``.

    Empty if the figures agree to two decimals and the work per iteration is the same.
    """
    first, second = f"{before.cycles:.2f}", f"{after.cycles:.2f}"
    difference = faster(before, after)
    if difference:
        return f"{first} -> {second}, {difference}"
    return "" if first == second else f"{first} -> {second}"


def label_with_change(label: str, before: Pace, after: Pace) -> str:
    """A region's label with the change in place of its figure.

    If the label is too long, the core is left out first, because it does not change, then the last parts.
    Returns the label unchanged if the figures are the same or if it does not start with a figure.
    """
    difference = change(before, after)
    figure, unit, rest = label.partition(_UNIT)
    if not difference or not unit:
        return label
    approximate = "~" if figure.startswith("~") else ""
    parts = rest.split(_SEPARATOR)
    while True:
        text = approximate + difference + _SEPARATOR.join(parts)
        if len(text) <= LINE_BUDGET or len(parts) == 1:
            return text
        parts.pop(1)
