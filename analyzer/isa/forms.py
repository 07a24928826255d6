"""Names of encoding forms, in the fact tables' spelling, by decoder code (``spelling.described``).

The table beside this module is made by ``dev/forms_generator.py``; a code that is not in it has no form in
the fact tables, so its instruction is unknown.
"""

from __future__ import annotations

import os
from functools import cache

from cyclelens.analyzer.isa.lines import line_of

FORMS_PATH = os.path.join(os.path.dirname(__file__), "forms.txt")


@cache
def _table() -> bytes:
    with open(FORMS_PATH, "rb") as file:
        return file.read()


def forms_of(code: str) -> dict[str, str]:
    """The forms of a decoder code: keys ``reg`` or ``mem``, with a prefix behind if it has forms
    of its own (``mem lock``). Empty if the tables do not have the instruction.
    """
    line = line_of(_table(), code)
    return dict(item.split("=", 1) for item in line.split("\t")) if line else {}
