"""Readers of profiles take a bounded number of instructions per character, whatever the line holds."""

from __future__ import annotations

import shutil

import pytest
from instruction_counts import MOST_PER_CHARACTER, costs

needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="Valgrind, which counts instructions, is not installed"
)


@needs_valgrind
@pytest.mark.parametrize(
    "shape",
    ["|a|/", "|a/|", "|1 1.|:", "PERF_RECORD_MMAP /|[0x1(0x1) @ 0 |"],
    ids=["letters", "letters with slashes", "digits and spaces", "places in records"],
)
def test_the_instructions_to_read_a_line_grow_with_its_length(shape: str) -> None:
    short, long = costs(shape)
    assert long <= 1.15 * short + 10
    assert long < MOST_PER_CHARACTER
