"""Tables of text with a line per key, sorted, which is searched and not cut into lines: to look for a few
hundred of them takes less time than to cut all apart."""

from __future__ import annotations

_SEARCHED = 4096
"""Bytes that are looked through without cutting them further: far more than a line has."""


def line_of(table: bytes, key: str) -> str:
    """What stands behind a key and a tab, empty if it is not there. The table's
    first line has none."""
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
