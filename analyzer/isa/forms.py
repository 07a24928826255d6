"""Names of encoding forms in the fact tables' spelling, by decoder code (``spelling.described``).

``dev/forms_generator.py`` makes the table ``forms.txt``. An instruction whose code is missing there has no
form in the fact tables, so it is unknown.
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
    """Forms of a decoder code. Keys are ``reg`` or ``mem``, followed by a prefix that has its own form (``mem
    lock``). Empty if the fact tables do not have the instruction."""
    line = line_of(_table(), code)
    return dict(item.split("=", 1) for item in line.split("\t")) if line else {}
