"""Shares from counts of blocks: of regions with paths, and of those that have too many."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight import weights
from cyclelens.analyzer.model.source import END, Branching, Counts, JumpPlace


def branching(
    passed: tuple[int | None, ...], taken: tuple[int | None, ...], paths: tuple[tuple[int, ...], ...] = ()
) -> Branching:
    names = tuple(f"k.{number}" for number in range(1, len(passed) + 1))
    jumps = tuple(JumpPlace(number, "jz x", number) for number in range(len(passed)))
    return Branching("k", 0, 9, {}, True, names, passed, taken, jumps, 0, paths)


def samples(*hits: float, instructions: int | None = None) -> dict[str, Counts]:
    return {f"k.{number}": Counts(0, 0, 0, each, instructions) for number, each in enumerate(hits, 1)}


IF = branching((1, 2, END), (2, None, None), ((0, 1, 2), (0, 2)))
IF_ELSE = branching((1, 3, 3, END), (2, None, None, None), ((0, 1, 3), (0, 2, 3)))
CYCLES = {"k.1": 1.0, "k.2": 4.0, "k.3": 2.0, "k.4": 1.0}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_samples_of_an_if_tell_how_often_it_is_skipped(share: float) -> None:
    counts = samples(100, 400 * (1 - share), 200)
    assert weights.shares(IF, counts, CYCLES) == (pytest.approx(share, abs=0.01),)


def test_samples_that_fell_too_late_move_the_share_little() -> None:
    # Half of what belongs to the first block is found in those behind it.
    counts = samples(50, 4 * 75 + 37.5, 2 * 25 + 12.5, 100)
    (share,) = weights.shares(IF_ELSE, counts, CYCLES)
    assert share == pytest.approx(0.25, abs=0.05)


def test_events_of_instructions_need_no_cycles() -> None:
    counts = {
        "k.1": Counts(0, 0, 0, 300, 3),
        "k.2": Counts(0, 0, 0, 20, 1),
        "k.3": Counts(0, 0, 0, 200, 2),
    }
    assert weights.shares(IF, counts, {}) == (pytest.approx(0.8, abs=0.01),)


def test_without_ways_what_goes_in_comes_out() -> None:
    # A loop within the loop: block 2 goes back to itself nine of ten times.
    nested = branching((1, 2, END), (None, 1, None))
    counts = samples(100, 4000, 200)
    assert weights.shares(nested, counts, CYCLES) == (pytest.approx(0.9),)


def test_what_samples_do_not_tell_is_left_open() -> None:
    # Between blocks 2 and 3 control may go around, and nothing says how often.
    tangled = branching((1, 2, 1), (2, 2, END))
    found = weights.shares(tangled, {"k.1": Counts(0, 0, 0, 100, None)}, CYCLES)
    assert None in found


def test_branches_are_counted_as_they_are() -> None:
    counts = {"k.1": Counts(100, 30, 70, 0, None), "k.2": Counts(70, 0, 70, 0, None)}
    assert weights.shares(IF, counts, CYCLES) == (0.3,)
    assert weights.shares(IF, {"k.2": Counts(1, 0, 1, 0, None)}, CYCLES) == (None,)
