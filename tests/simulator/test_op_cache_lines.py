"""Zen 4: what a line of the op cache holds, by loops whose cycles a real core took (docs/zen5.md, M37)."""

from __future__ import annotations

import pytest
from testkit.simulated import in_mode

MOVE = "4489e1"
"""A move that needs no unit and has no field."""


@pytest.mark.parametrize(
    ("entries", "contents", "code", "measured"),
    [
        (8, "five constants", "b805000000bb05000000ba05000000bf05000000bd05000000" + 2 * MOVE, 2.00),
        (8, "four", "41b805000000bb05000000ba05000000bf05000000" + 3 * MOVE, 1.33),
        (9, "four constants", "41b805000000bb05000000ba05000000bf05000000" + 4 * MOVE, 2.00),
        (9, "three", "41b805000000bb05000000ba05000000" + 5 * MOVE, 1.50),
        (9, "five constants of 8 bits", "4183c3054183c4054183c50583c30583c205" + 3 * MOVE, 1.50),
        (9, "six", "83c00583c30583c20583c70583c5054183c005" + 2 * MOVE, 2.00),
        (9, "four displacements", "8b86080100008b9e080100008b96080100008bbe08010000" + 4 * MOVE, 2.00),
        (9, "four of 8 bits", "8b46088b5e088b56088b7e08" + 4 * MOVE, 1.50),
        (8, "eight fields and the branch's", "837e0805837e0805837e080583c00583c305" + 2 * MOVE, 2.00),
        (8, "seven", "837e0805837e080583c00583c30583c205" + 2 * MOVE, 1.50),
        (8, "five EVEX", "62a17500fee262a17500feea62a17500fef262a17500fefa62217500fec2" + 2 * MOVE, 2.00),
        (8, "four EVEX", "62a17500fee262a17500feea62a17500fef262a17500fefa" + 3 * MOVE, 1.33),
        (9, "two EVEX", "62a17500fee262a17500feea" + 6 * MOVE, 2.00),
        (9, "one EVEX", "62a17500fee2" + 7 * MOVE, 1.50),
        (9, "an EVEX constant of 8 bits", "62b17d0072d103b805000000bb05000000b905000000" + 4 * MOVE, 1.50),
        (9, "a scaled displacement", "62e3750025460405b805000000bb05000000b905000000" + 4 * MOVE, 2.00),
    ],
)
def test_a_line_with_many_entries_holds_few_fields(
    entries: int, contents: str, code: str, measured: float
) -> None:
    """Where two lines are needed, the loop takes 2.0 cycles."""
    assert in_mode("ZEN4", code, "loop") == pytest.approx(measured, rel=0.03), (entries, contents)


def test_a_line_of_zen_3_has_room_for_fewer() -> None:
    """Eight entries and four fields fit into a line, the branch's included, and five do not (measured)."""
    three, four = ("".join(["b805000000bb05000000bf05000000", more]) for more in ("", "bd05000000"))
    assert in_mode("ZEN3", three + 4 * "4889c8", "loop") == pytest.approx(1.33, rel=0.03)
    assert in_mode("ZEN3", four + 3 * "4889c8", "loop") == pytest.approx(2.0, rel=0.03)
