"""How a region's figure changed, in a few characters."""

import pytest
from cyclelens.analyzer.hints.change import change, label_with_change
from cyclelens.analyzer.hints.layout import LINE_BUDGET
from hypothesis import given
from hypothesis import strategies as st

FIGURES = st.floats(0.01, 9999)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (3.42, 1.0, "3.42 -> 1.00, -71 %"),
        (1.0, 1.5, "1.00 -> 1.50, +50 %"),
        (4.0, 4.01, "4.00 -> 4.01, +0.2 %"),
        (4.0, 4.001, ""),
        (0.0, 1.0, "0.00 -> 1.00"),
    ],
)
def test_both_figures_and_the_difference(before, after, shown):
    assert change(before, after) == shown


def test_the_label_keeps_what_fits():
    label = "1.00 cycles/iter · SKL · issue-bound"
    assert label_with_change(label, 3.42, 1.0) == "3.42 -> 1.00, -71 % · SKL · issue-bound"
    long = "1.00 cycles/iter · SKL · predecoder-bound (LCP stall)"
    assert label_with_change(long, 3.42, 1.0) == "3.42 -> 1.00, -71 % · SKL"


def test_an_approximate_figure_stays_marked_and_the_rest_unchanged():
    assert label_with_change("~1.00 cycles/iter · SKL", 2.0, 1.0) == "~2.00 -> 1.00, -50 % · SKL"
    assert label_with_change("no prediction", 2.0, 1.0) == "no prediction"
    assert label_with_change("1.00 cycles/iter · SKL", 1.0, 1.0) == "1.00 cycles/iter · SKL"


@given(FIGURES, FIGURES)
def test_no_change_is_longer_than_a_line(before, after):
    label = f"{after:.2f} cycles/iter · SKL · latency-bound"
    assert len(label_with_change(label, before, after)) <= LINE_BUDGET
