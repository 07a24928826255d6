"""Error measures over pairs of predicted and true cycles per iteration."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

WITHIN = (0.01, 0.02, 0.05, 0.10)
"""Relative errors for which the share of blocks is reported."""

_TOLERANCE = 1e-9
"""Slack for binary rounding, so that 1.01 against 1.00 counts as "within 1 %"."""


def relative_error(predicted: float, truth: float) -> float:
    """Absolute error as a share of the true figure, which must be positive."""
    return abs(predicted - truth) / truth


def mean_error(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Mean absolute relative error of (predicted, truth) pairs (1.0 is 100 %); None without pairs."""
    errors = [relative_error(predicted, truth) for predicted, truth in pairs]
    return math.fsum(errors) / len(errors) if errors else None


def weighted_error(pairs: Iterable[tuple[float, float]], weights: Iterable[float]) -> float | None:
    """``mean_error`` with a weight for each pair; None without pairs or weight."""
    weighted = [
        (weight, relative_error(predicted, truth))
        for (predicted, truth), weight in zip(pairs, weights, strict=True)
    ]
    total = math.fsum(weight for weight, _ in weighted)
    return math.fsum(weight * error for weight, error in weighted) / total if total else None


def share_within(pairs: Sequence[tuple[float, float]], limit: float) -> float | None:
    """Share of pairs whose relative error is at most ``limit``; None without pairs."""
    if not pairs:
        return None
    good = sum(relative_error(predicted, truth) <= limit + _TOLERANCE for predicted, truth in pairs)
    return good / len(pairs)


def share_equal(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Share of pairs that agree when both are rounded to the two decimals of a report."""
    if not pairs:
        return None
    return sum(round(predicted, 2) == round(truth, 2) for predicted, truth in pairs) / len(pairs)


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Kendall's rank correlation tau-b, which allows for ties (Kendall 1945).

    None where it is undefined: fewer than two pairs, or one side all equal. A sorted list counts the
    discordant pairs, so 16,000 blocks take well under a second.
    """
    count = len(pairs)
    total = count * (count - 1) // 2
    tied_first = _tied(first for first, _ in pairs)
    tied_second = _tied(second for _, second in pairs)
    if total in (tied_first, tied_second):
        return None
    tied_both = _tied(pairs)
    # Sorted by first, then second: a later element with a smaller second is discordant, and elements
    # that tie in first never look discordant.
    seen: list[float] = []
    discordant = 0
    for _, second in sorted(pairs):
        discordant += len(seen) - bisect_right(seen, second)
        insort(seen, second)
    concordant = total - tied_first - tied_second + tied_both - discordant
    return (concordant - discordant) / math.sqrt((total - tied_first) * (total - tied_second))


def _tied(values: Iterable[object]) -> int:
    return sum(number * (number - 1) // 2 for number in Counter(values).values())


class Summary(Struct, frozen=True):
    """The usual figures of one group of blocks; shares are 0 to 1."""

    blocks: int
    """Number of predicted blocks, on which the figures are based."""
    unpredicted: int
    mean_error: float | None
    kendall_tau: float | None
    within: tuple[float | None, ...]
    """Share of blocks within each limit of ``WITHIN``."""
    equal: float | None
    reference_mean_error: float | None = None
    """Mean error of the file's reference figures on the same blocks."""
    reference_kendall_tau: float | None = None
    baseline_mean_error: float | None = None
    """Mean error of the baseline of uiCA's paper on the same blocks."""
    baseline_kendall_tau: float | None = None
    weighted_error: float | None = None
    """Mean error weighted by how often the blocks run; None if the file does not say."""


def summarize(
    pairs: Sequence[tuple[float, float]],
    *,
    unpredicted: int = 0,
    reference_pairs: Sequence[tuple[float, float]] = (),
    baseline_pairs: Sequence[tuple[float, float]] = (),
    counts: Sequence[float | None] = (),
) -> Summary:
    """All figures of one group of (predicted, truth) pairs.

    ``counts``: how often the block of each pair runs; empty or None if unknown."""
    known = [(pair, count) for pair, count in zip(pairs, counts, strict=bool(counts)) if count is not None]
    return Summary(
        blocks=len(pairs),
        unpredicted=unpredicted,
        mean_error=mean_error(pairs),
        kendall_tau=kendall_tau(pairs),
        within=tuple(share_within(pairs, limit) for limit in WITHIN),
        equal=share_equal(pairs),
        reference_mean_error=mean_error(reference_pairs),
        reference_kendall_tau=kendall_tau(reference_pairs),
        baseline_mean_error=mean_error(baseline_pairs),
        baseline_kendall_tau=kendall_tau(baseline_pairs),
        weighted_error=weighted_error((pair for pair, _ in known), (count for _, count in known)),
    )
