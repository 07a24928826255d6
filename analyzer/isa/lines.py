"""Binary search in text tables of sorted ``key<tab>value`` lines, which is faster than splitting the table
for a few hundred lookups."""

from __future__ import annotations

_SEARCHED = 4096
"""Bytes that are searched linearly in the end; much more than a line has."""


def line_of(table: bytes, key: str) -> str:
    """The value of a key, empty if missing. The table's first line has no key."""
    wanted = f"\n{key}\t".encode()
    low, high, size = 0, len(table), len(wanted)
    while high - low > _SEARCHED:
        start = table.rfind(b"\n", low, (low + high) // 2)
        if table[start : start + size] <= wanted:
            low = start
        else:
            high = start + size
    start = table.find(wanted, low, high)
    return table[start + size : table.index(b"\n", start + size)].decode() if start >= 0 else ""
