"""Shares from counts of blocks: of regions with paths, and of those that have too many."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight import weights
from cyclelens.analyzer.model.paths import BlockFigure, BranchingAnalysis, Weight
from cyclelens.analyzer.model.source import END, Branching, Counts, JumpPlace
from msgspec.structs import replace
from testkit.factories import analysis, prediction, region_analysis, template


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


def test_a_block_without_a_figure_and_without_samples_says_nothing() -> None:
    known = {"k.1": 1.0, "k.2": 4.0}
    for counts in (samples(100, 300, 0), {**samples(100, 300), "k.3": Counts(0, 0, 0, 0, 0)}):
        assert weights.shares(IF, counts, known) == (pytest.approx(0.25, abs=0.01),)


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


def test_what_follows_from_later_blocks_is_known_in_the_earlier_ones() -> None:
    """Only the first two blocks of an if with else were seen: what did not go into the second went around."""
    without_ways = branching((1, 3, 3, END), (2, None, None, None))
    assert weights.shares(without_ways, samples(100, 4 * 30), {"k.1": 1.0, "k.2": 4.0}) == (
        pytest.approx(0.7),
    )


def test_what_samples_do_not_tell_is_left_open() -> None:
    # Between blocks 2 and 3 control may go around, and nothing says how often.
    tangled = branching((1, 2, 1), (2, 2, END))
    found = weights.shares(tangled, {"k.1": Counts(0, 0, 0, 100, None)}, CYCLES)
    assert None in found


def test_a_fork_that_was_never_reached_never_jumps() -> None:
    two = branching((1, 2, END), (2, END, None), ((0, 1, 2), (0, 1), (0, 2)))
    counts = {"k.1": Counts(8, 8, 0, 0, None), "k.2": Counts(0, 0, 0, 0, None)}
    assert weights.shares(two, counts, CYCLES) == (1.0, 0.0)


def test_branches_are_counted_as_they_are() -> None:
    counts = {"k.1": Counts(100, 30, 70, 0, None), "k.2": Counts(70, 0, 70, 0, None)}
    assert weights.shares(IF, counts, CYCLES) == (0.3,)
    assert weights.shares(IF, {"k.2": Counts(1, 0, 1, 0, None)}, CYCLES) == (None,)


def test_the_shares_of_regions_are_those_of_their_cycles() -> None:
    one, other = (
        region_analysis(prediction([template()], cycles=cycles), name=name)
        for name, cycles in (("one", 2.0), ("other", 5.0))
    )
    silent = region_analysis(name="silent")
    counts = {"one": Counts(300, 0, 0, 7, None), "other": Counts(40, 0, 0, 9, None)}
    found = weights.weighed(analysis(one, other, silent), counts).regions
    assert [each.weight for each in found] == [
        Weight(300, 7, 0.75),  # 600 of 800 cycles
        Weight(40, 9, 0.25),
        Weight(0, 0, 0.0),
    ]
    nothing = weights.weighed(analysis(one), {}).regions
    assert nothing[0].weight == Weight(0, 0, 0.0)


def test_a_region_with_branches_took_the_cycles_of_its_blocks() -> None:
    blocks = tuple(BlockFigure(f"k.{at}", 0, 0, {"SKL": CYCLES[f"k.{at}"]}, None) for at in (1, 2, 3))
    through = BranchingAnalysis(IF, "", (None,), (), 0, blocks, {})
    plain = region_analysis(prediction([template()], cycles=5.0), name="plain")
    part = region_analysis(prediction([template()], cycles=4.0), name="k.2")
    counts = {
        "k.1": Counts(100, 30, 70, 11, None), "k.2": Counts(70, 0, 70, 22, None),
        "k.3": Counts(100, 100, 0, 0, None),
        "plain": Counts(116, 0, 0, 5, None),
    }  # fmt: skip
    subject = replace(analysis(plain, part), branchings=(through,))
    found = weights.weighed(subject, counts)
    # 100 + 70 * 4 + 100 * 2 = 580 cycles beside 116 * 5 = 580.
    assert found.branchings[0].weight == Weight(100, 33, 0.5)
    assert [each.weight for each in found.regions] == [Weight(116, 5, 0.5), None]
