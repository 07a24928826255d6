"""Numbers for renaming: a set of registers fits into the bits of one integer."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.uops import ValueKind
from cyclelens.analyzer.uops.rename_keys import GPR_CLASS, NO_CLASS, SIMD_CLASS, RenameKeys

BITS = 64


@pytest.mark.parametrize(
    ("name", "register_class"),
    [("RAX", GPR_CLASS), ("R15", GPR_CLASS), ("XMM31", SIMD_CLASS), ("MM7", SIMD_CLASS), ("K7", NO_CLASS)],
)
def test_registers_whose_moves_are_eliminated_have_a_class(name: str, register_class: int) -> None:
    keys = RenameKeys()
    assert keys.classes[keys.register(name)] == register_class


@pytest.mark.parametrize("name", ["XMM0XMM0", "XMM99", "R99", "MM8"])
def test_a_register_that_no_core_has_is_in_no_class(name: str) -> None:
    """It would get a bit behind the last one, which is the bit of another register."""
    keys = RenameKeys()
    for number in range(BITS):
        keys.number((ValueKind.FLAGS, f"group {number}"))
    assert keys.classes[keys.number((ValueKind.REGISTER, name))] == NO_CLASS
    assert all(number < BITS for number, found in enumerate(keys.classes) if found != NO_CLASS)
