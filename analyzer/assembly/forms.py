"""Names of encoding forms, in the fact tables' spelling, by decoder code.

The table beside this module is made by ``dev/forms_generator.py``; a code that is not in it has no form in
the fact tables, so its instruction is unknown.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FORMS_PATH = Path(__file__).with_name("forms.txt")


@cache
def _lines() -> dict[str, str]:
    lines = FORMS_PATH.read_text(encoding="ascii").splitlines()
    return dict(line.split("\t", 1) for line in lines if not line.startswith("#"))


@cache
def forms_of(code_name: str) -> dict[str, str]:
    """The forms of a decoder code by name: keys ``reg`` or ``mem``, with a prefix behind if it has forms
    of its own (``mem lock``). Empty if the tables do not have the instruction.
    """
    line = _lines().get(code_name)
    return dict(item.split("=", 1) for item in line.split("\t")) if line else {}
