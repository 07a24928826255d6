"""Helpers that let a family file state a table as it is published."""

from __future__ import annotations


def unroll_table(*steps: tuple[int, int]) -> dict[int, int]:
    """LSD unroll counts from (largest loop size in IDQ uops, rounds placed at once), ascending.

    Sizes above the last step are not listed: they are not unrolled.
    """
    table: dict[int, int] = {}
    first = 1
    for last, count in steps:
        table.update(dict.fromkeys(range(first, last + 1), count))
        first = last + 1
    return table
