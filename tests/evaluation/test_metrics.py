"""The error measures: worked figures, and Kendall's tau against counting all pairs of pairs."""

from itertools import combinations
from math import sqrt

import pytest
from cyclelens.analyzer.evaluation.metrics import (
    kendall_tau,
    mean_error,
    share_equal,
    share_within,
    summarize,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

small = st.integers(0, 6).map(float)


def counted_tau(pairs):
    """Tau-b by its definition."""
    concordant = discordant = tied_first = tied_second = 0
    for (a, b), (c, d) in combinations(pairs, 2):
        if a == c:
            tied_first += 1
        if b == d:
            tied_second += 1
        if (a - c) * (b - d) > 0:
            concordant += 1
        elif (a - c) * (b - d) < 0:
            discordant += 1
    total = len(pairs) * (len(pairs) - 1) // 2
    scale = sqrt((total - tied_first) * (total - tied_second))
    return (concordant - discordant) / scale if scale else None


# How fast a machine that others use makes the inputs says nothing about the measure.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(small, small), max_size=40))
def test_tau_is_what_counting_gives(pairs):
    expected = counted_tau(pairs)
    assert kendall_tau(pairs) == (None if expected is None else pytest.approx(expected))


def test_tau_of_same_and_opposite_order():
    assert kendall_tau([(1, 10), (2, 20), (3, 30)]) == pytest.approx(1)
    assert kendall_tau([(1, 30), (2, 20), (3, 10)]) == pytest.approx(-1)
    assert kendall_tau([(1, 5), (2, 5)]) is None
    assert kendall_tau([]) is None


def test_mean_error_is_relative_to_the_truth():
    assert mean_error([(1.0, 2.0), (3.0, 2.0), (2.0, 2.0)]) == pytest.approx(1 / 3)
    assert mean_error([]) is None


def test_a_figure_exactly_on_the_limit_is_within():
    pairs = [(1.01, 1.00), (1.02, 1.00), (3.00, 3.00)]
    assert share_within(pairs, 0.01) == pytest.approx(2 / 3)
    assert share_within(pairs, 0.02) == 1


def test_equal_means_equal_at_two_decimals():
    assert share_equal([(1.004, 1.0), (1.01, 1.0)]) == 0.5


def test_summary_counts_and_compares_with_a_second_prediction():
    summary = summarize([(1.0, 1.0), (2.2, 2.0)], unpredicted=3, reference_pairs=[(1.0, 1.0), (2.4, 2.0)])
    assert (summary.blocks, summary.unpredicted) == (2, 3)
    assert summary.mean_error == pytest.approx(0.05)
    assert summary.reference_mean_error == pytest.approx(0.1)
    assert summary.within == (0.5, 0.5, 0.5, 1.0)
