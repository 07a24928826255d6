"""Symbols that are set to the names of others, and places: the same as with GNU as."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.model.source import AssembledFile


@pytest.mark.parametrize(
    ("assignments", "use", "code"),
    [
        ("c0 = c2\nc2 = 3\n.set c2, -32767\nc0 = c0", "jne 1b + c0", "7501"),
        ("c0 = c2\nc2 = 3\n.set c2, -32767\nc1 = c0 + 1", "mov $c1, %rax", "48c7c004000000"),
        ("c0 = c2\nc2 = 3\nc1 = c0", "add $c1, %eax", "0503000000"),
        ("c0 = c2\nc2 = 3\nc1 = c0", "mov c1(%rax), %eax", "8b8003000000"),
        ("c0 = c2\nc2 = near\n.set c2, far", "jne c0", "7501"),
        ("c0 = c2\nc2 = near\n.set c2, far\nc1 = c0", "jne c1", "7501"),
        ("c0 = c2\nc2 = near\n.set c2, far\nc1 = c0", "lea c1(%rip), %rax", "488d0501000000"),
    ],
)
def test_a_symbol_keeps_the_first_value_of_one_that_was_not_set_yet(
    region: Callable[..., AssembledFile], assignments: str, use: str, code: str
) -> None:
    found = region(f"{assignments}\n1: {use}\nnop\nnear: nop\nfar: nop")
    assert found.regions[0].lines[0].code.hex() == code


def test_a_place_that_a_directive_moves_to_does_not_depend_on_a_condition_behind_it(
    region: Callable[..., AssembledFile],
) -> None:
    """A condition measures the text before it, where a jump whose label is not read yet is long."""
    text = "nop\njc .L2+3\nf1:\n.L0:\n.org .+8\nnop\n{}.L2: nop"
    plain, asked = (region(text.format(each)).regions[0] for each in ("", ".if f1-.L0 == 1\n.endif\n"))
    assert [line.code.hex() for line in asked.lines][:2] == ["90", "720c"]
    assert asked.code == plain.code
