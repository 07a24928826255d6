"""How a region's figure changed, in a few characters."""

import pytest
from cyclelens.analyzer.hints.change import change, label_with_change
from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.result import Work
from hypothesis import given
from hypothesis import strategies as st

FIGURES = st.floats(0.1, 999)


def bytes_(amount):
    return Work(amount, "byte", "step of rsi")


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (3.42, 1.0, "3.42 -> 1.00, 71 % faster"),
        (1.0, 1.5, "1.00 -> 1.50, 50 % slower"),
        (4.0, 4.01, "4.00 -> 4.01, 0.2 % slower"),
        (4.0, 4.001, ""),
        (0.0, 1.0, "0.00 -> 1.00"),
    ],
)
def test_both_figures_and_the_difference(before, after, shown):
    assert change(Pace(before), Pace(after)) == shown
    assert change(Pace(before, bytes_(96)), Pace(after, bytes_(96))) == shown


def test_a_loop_that_is_unrolled_is_compared_by_its_work():
    """Twice the work in a little more time is a gain."""
    assert change(Pace(5.0, bytes_(32)), Pace(5.5, bytes_(64))) == "5.00 -> 5.50, 45 % faster per byte"
    assert change(Pace(4.0, bytes_(32)), Pace(4.0, bytes_(64))) == "4.00 -> 4.00, 50 % faster per byte"
    assert change(Pace(2.0, bytes_(32)), Pace(4.0, bytes_(64))) == "2.00 -> 4.00"


def test_work_that_cannot_be_compared_is_left_aside():
    elements = Work(8, "element", "per=8")
    for work in (None, elements):
        assert change(Pace(5.0, bytes_(32)), Pace(2.5, work)) == "5.00 -> 2.50, 50 % faster"


def test_the_label_keeps_what_fits():
    label = "1.00 cycles/iter · SKL · issue-bound"
    changed = "3.42 -> 1.00, 71 % faster"
    assert label_with_change(label, Pace(3.42), Pace(1.0)) == f"{changed} · SKL · issue-bound"
    longer = "1.00 cycles/iter · SKL · decoder- and issue-bound (LCP)"
    assert label_with_change(longer, Pace(3.42), Pace(1.0)) == f"{changed} · decoder- and issue-bound (LCP)"
    longest = "1.00 cycles/iter · SKL · predecoder- and issue-bound (LCP stall)"
    assert label_with_change(longest, Pace(3.42), Pace(1.0)) == changed


def test_an_approximate_figure_stays_marked_and_the_rest_unchanged():
    label = "~1.00 cycles/iter · SKL"
    assert label_with_change(label, Pace(2.0), Pace(1.0)) == "~2.00 -> 1.00, 50 % faster · SKL"
    assert label_with_change("no prediction", Pace(2.0), Pace(1.0)) == "no prediction"
    assert label_with_change("1.00 cycles/iter · SKL", Pace(1.0), Pace(1.0)) == "1.00 cycles/iter · SKL"


@given(FIGURES, FIGURES, st.sampled_from([16, 64]))
def test_no_change_is_longer_than_a_line(before, after, amount):
    label = f"{after:.2f} cycles/iter · SKL · latency-bound"
    paces = Pace(before, bytes_(16)), Pace(after, bytes_(amount))
    assert len(label_with_change(label, *paces)) <= LINE_BUDGET
