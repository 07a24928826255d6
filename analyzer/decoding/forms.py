"""Names of encoding forms, in the fact tables' spelling, by decoder code (``spelling.described``).

The table beside this module is made by ``dev/forms_generator.py``; a code that is not in it has no form in
the fact tables, so its instruction is unknown.
"""

from __future__ import annotations

import os
from functools import cache

FORMS_PATH = os.path.join(os.path.dirname(__file__), "forms.txt")
_SEARCHED = 4096
"""Bytes of the table that are looked through without cutting them further: far more than a line has."""


@cache
def _table() -> bytes:
    with open(FORMS_PATH, "rb") as file:
        return file.read()


def _line(code: str) -> str:
    """What stands behind the code, empty if it is not there. The lines are sorted: to look for a few hundred
    of them takes less time than to cut all apart."""
    table, wanted = _table(), f"\n{code}\t".encode()
    low, high, size = 0, len(table), len(wanted)
    while high - low > _SEARCHED:
        start = table.rfind(b"\n", low, (low + high) // 2)
        if table[start : start + size] <= wanted:
            low = start
        else:
            high = start + size
    start = table.find(wanted, low, high)
    return table[start + size : table.index(b"\n", start + size)].decode() if start >= 0 else ""


def forms_of(code: str) -> dict[str, str]:
    """The forms of a decoder code: keys ``reg`` or ``mem``, with a prefix behind if it has forms
    of its own (``mem lock``). Empty if the tables do not have the instruction.
    """
    line = _line(code)
    return dict(item.split("=", 1) for item in line.split("\t")) if line else {}
