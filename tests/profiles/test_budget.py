"""Readers of profiles take a bounded number of instructions per character, whatever the line holds."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

import pytest
from testkit.instruction_counts import MOST_PER_CHARACTER, costs

SHAPES = {
    "letters": "|a|/",
    "letters with slashes": "|a/|",
    "digits and spaces": "|1 1.|:",
    "events": "|a: 1 |(",
    "symbols": "9.5: 1 cycles: 1 f|a (|",
    "places in records": "PERF_RECORD_MMAP /|[0x1(0x1) @ 0 |",
}


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[float]]:
    if shutil.which("valgrind") is None:
        pytest.skip("Valgrind, which counts instructions, is not installed")
    return costs(SHAPES.values(), tmp_path_factory.mktemp("counts"))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_instructions_to_read_a_line_grow_with_its_length(
    counted: Mapping[str, Sequence[float]], shape: str
) -> None:
    short, long = counted[shape]
    assert long <= 1.15 * short + 10
    assert long < MOST_PER_CHARACTER
