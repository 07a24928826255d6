"""Helpers for tables in the form in which they are published."""

from __future__ import annotations


def unroll_table(*steps: tuple[int, int]) -> dict[int, int]:
    """LSD unroll counts from (largest loop size in IDQ uops, rounds placed at once), ascending.

    Sizes above the last step are absent: they are not unrolled.
    """
    table: dict[int, int] = {}
    first = 1
    for last, count in steps:
        table.update(dict.fromkeys(range(first, last + 1), count))
        first = last + 1
    return table


def free_integer_registers(size: int) -> int:
    """Estimates how many integer registers of a file of this size instructions in flight can hold.

    The UFS paper measured 144 of Haswell's 168 (table 3); the rest holds architectural state.
    """
    return size - 24


def free_vector_registers(size: int) -> int:
    """Estimates the same for vector registers: the paper measured 138 of 168."""
    return size - 30
