"""How a region's figure changed: the label of its first line with both figures.

# cyclelens-begin dot        3.42 -> 1.00, -71 % · SKL · issue-bound
"""

from __future__ import annotations

from cyclelens.analyzer.hints.layout import LINE_BUDGET

_UNIT = " cycles/iter"
_SEPARATOR = " · "


def change(before: float, after: float) -> str:
    """Both figures, in cycles per iteration, and the difference: ``3.42 -> 1.00, -71 %``.

    Empty if they are the same to two decimals.
    """
    first, second = f"{before:.2f}", f"{after:.2f}"
    if first == second:
        return ""
    if before <= 0:
        return f"{first} -> {second}"
    return f"{first} -> {second}, {percentage(before, after)}"


def percentage(before: float, after: float) -> str:
    """``-71 %``, ``+5 %``; with a decimal below one per cent."""
    share = (after / before - 1) * 100
    return f"{share:+.0f} %" if abs(share) >= 1 else f"{share:+.1f} %"


def label_with_change(label: str, before: float, after: float) -> str:
    """A region's label with the change in the place of the figure; the end that does not fit is left out.

    Unchanged if the figures are the same, or if the label does not start with a figure.
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
        parts.pop()
