"""Results of comparisons, and how tables are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

_BARS = "▁▂▃▄▅▆▇█"
_BAR_LENGTH = 20
LEAST_DIFFERENCE = 0.005
"""Cycles per iteration below which figures agree to two decimals."""


class ComparisonProgress(Struct, frozen=True):
    """Progress of a comparison, in simulations."""

    done: int
    total: int


class ComparisonTable(Struct, frozen=True):
    """A table as rows for programs and as text for users."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | float | int | None, ...], ...] = ()
    text: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Additional plain JSON values for programs; ``docs/server.md`` lists them."""


class Rate(float):
    """Cycles per element or byte, shown with three decimals because they are small."""


class LowerBound(float):
    """A figure that does not include instructions without a record."""


def cell(value: object) -> str:
    """A value as displayed; figures have two decimals."""
    if value is None:
        return "-"
    if isinstance(value, Rate):
        return f"{value:.3f}"
    if isinstance(value, LowerBound):
        return f"at least {value:.2f}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def grid(columns: Sequence[str], rows: Sequence[Sequence[object]], *, bars: int | None = None) -> str:
    """A table in plain text, numbers right-aligned. ``bars``: index of a column that is also drawn as
    bars."""
    if not rows:
        return ""
    written = [list(columns), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in written) for column in range(len(columns))]
    numbers = [
        all(value is None or isinstance(value, int | float) for value in column)
        for column in zip(*rows, strict=True)
    ]
    lines = [
        "  ".join(
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(line, widths, numbers, strict=True)
        )
        for line in written
    ]
    if bars is not None:
        values = [value if isinstance(value := row[bars], int | float) else 0.0 for row in rows]
        most = max(values) or 1.0
        drawn = ["█" * max(round(value / most * _BAR_LENGTH), 1) if value else "" for value in values]
        lines = [lines[0], *(f"{line}  {bar}" for line, bar in zip(lines[1:], drawn, strict=True))]
    return "\n".join(line.rstrip() for line in lines)


def picture(values: Sequence[float]) -> str:
    """One bar per value, scaled from the smallest to the largest: ``▁▁▁█▁▁``."""
    low, high = min(values), max(values)
    if high - low < LEAST_DIFFERENCE:
        return _BARS[0] * len(values)
    return "".join(_BARS[round((value - low) / (high - low) * (len(_BARS) - 1))] for value in values)
