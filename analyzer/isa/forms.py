"""Names of encoding forms in the fact tables' spelling, by decoder code (``spelling.described``).

``dev/forms_generator.py`` makes the table ``forms.txt``. An instruction whose code is missing there has no
form in the fact tables, so it is unknown.
"""

from __future__ import annotations

import os
from functools import cache

_SEARCHED = 4096
"""Bytes that are searched linearly in the end; much more than a line has."""
FORMS_PATH = os.path.join(os.path.dirname(__file__), "forms.txt")


@cache
def _table() -> bytes:
    with open(FORMS_PATH, "rb") as file:
        return file.read()


def forms_of(code: str) -> dict[str, str]:
    """Forms of a decoder code. Keys are ``reg`` or ``mem``, followed by a prefix that has its own form (``mem
    lock``). Empty if the fact tables do not have the instruction."""
    line = _line_of(_table(), code)
    return dict(item.split("=", 1) for item in line.split("\t")) if line else {}


def _line_of(table: bytes, key: str) -> str:
    """The value of a key in a table of sorted ``key<tab>value`` lines, whose first line has no key; empty if
    missing. A binary search is faster than splitting the table for a few hundred lookups."""
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
