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


def free_integer_registers(size: int) -> int:
    """Of a register file of this size, those that instructions in flight can hold: an estimate.

    The UFS paper measured 144 of Haswell's 168 (table 3); the rest holds architectural state.
    """
    return size - 24


def free_vector_registers(size: int) -> int:
    """The same for vector registers, of which it measured 138 of 168."""
    return size - 30
