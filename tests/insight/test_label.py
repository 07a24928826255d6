"""A region's label: its parts, what a narrow line shows of them, and how its figure changed."""

import pytest
from cyclelens.analyzer.insight.label import STALE, headline, of_prediction, of_region, render, status
from cyclelens.analyzer.insight.work import Pace, change
from cyclelens.analyzer.model.label import MeasuredFigure, Note, RegionLabel
from cyclelens.analyzer.model.result import Work
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from testkit.factories import prediction, region_analysis, template

FIGURES = st.floats(0.1, 999)
LINE = 60
PLAIN = RegionLabel(number="4.00", unit="cycles/iter", core="SKL", limits=("latency-bound",))
FULL = replace(PLAIN, stalls=("LCP",))
BY_WORK = replace(FULL, rate="0.500 cycles/float")
CHANGED = "3.42 -> 1.00, 3.4x"
ADVICE = (
    "two accumulators: 4.00, four: 2.00",
    "four accumulators: 2.00",
    "two accumulators: 4.00",
    "rewrite: 2.00",
)


def bytes_(amount):
    return Work(amount, "byte", "step of rsi")


def floats(amount):
    return Work(amount, "float", "step of rsi")


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (3.42, 1.0, "3.42 -> 1.00, 3.4x"),
        (1.0, 1.5, "1.00 -> 1.50, +50 % time"),
        (4.0, 4.01, "4.00 -> 4.01, +0.2 % time"),
        (4.0, 4.001, ""),
        (0.0, 1.0, "0.00 -> 1.00"),
    ],
)
def test_both_figures_and_the_difference(before, after, shown):
    assert change(Pace(before), Pace(after)) == shown


def test_figures_are_compared_by_their_work():
    assert change(Pace(4.0, floats(8)), Pace(1.0, floats(8))) == "0.500 -> 0.125 cycles/float, 4.0x"
    assert change(Pace(4.0, floats(8)), Pace(4.001, floats(8))) == ""
    assert change(Pace(4.0, floats(8)), Pace(4.002, floats(8))) == "", "the same to two decimals"
    assert change(Pace(4.0, floats(8)), Pace(4.01, floats(8))) == "0.500 -> 0.501 cycles/float, +0.2 % time"
    assert change(Pace(4.0, bytes_(96)), Pace(4.01, bytes_(96))) == "4.00 -> 4.01, +0.2 % time"
    assert change(Pace(40.0, floats(8)), Pace(2.0, floats(8))) == "5.00 -> 0.25 cycles/float, 20.0x"


def test_floats_and_bytes_are_compared_in_the_unit_of_the_second():
    assert change(Pace(4.0, bytes_(32)), Pace(4.0, floats(16))) == "0.500 -> 0.250 cycles/float, 2.0x"
    assert change(Pace(4.0, floats(8)), Pace(4.0, bytes_(64))) == "0.125 -> 0.062 cycles/byte, 2.0x"


def test_a_loop_that_is_unrolled_is_compared_by_its_work():
    """Twice the work in a little more time is a gain."""
    assert change(Pace(5.0, bytes_(32)), Pace(5.5, bytes_(64))) == "0.156 -> 0.086 cycles/byte, 1.8x"
    assert change(Pace(4.0, bytes_(32)), Pace(4.0, bytes_(64))) == "0.125 -> 0.062 cycles/byte, 2.0x"
    assert change(Pace(2.0, bytes_(32)), Pace(4.0, bytes_(64))) == "", "as long per byte as before"


def test_work_that_cannot_be_compared_is_left_aside():
    elements = Work(8, "element", "per=8")
    for work in (None, elements):
        assert change(Pace(5.0, bytes_(32)), Pace(2.5, work)) == "5.00 -> 2.50, 2.0x"


@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        (None, "4.00 cycles/iter · SKL · latency-bound (LCP)"),
        (44, "4.00 cycles/iter · SKL · latency-bound (LCP)"),
        (43, "4.00 cycles/iter · SKL · latency-bound"),
        (37, "4.00 cycles/iter · SKL"),
        (20, "4.00 cycles/iter"),
        (10, "4.00 cycl…"),
    ],
)
def test_a_narrow_line_shows_the_parts_that_fit(budget, shown):
    assert render(FULL, budget) == shown


@pytest.mark.parametrize(
    ("changes", "budget", "shown"),
    [
        ({}, None, "0.500 cycles/float · 4.00 cycles/iter · SKL · latency-bound (LCP)"),
        ({}, LINE, "0.500 cycles/float · 4.00 cycles/iter · SKL · latency-bound"),
        ({}, 57, "0.500 cycles/float · SKL · latency-bound (LCP)"),
        ({}, 43, "0.500 cycles/float · SKL · latency-bound"),
        ({}, 24, "0.500 cycles/float · SKL"),
        ({"advice": ADVICE}, LINE, "0.500 cycles/float · SKL · latency-bound · rewrite: 2.00"),
        ({"advice": ADVICE}, 44, "0.500 · SKL · latency-bound · rewrite: 2.00"),
        ({"advice": ADVICE}, 42, "0.500 cycles/float · SKL · latency-bound"),
        ({"approximate": True}, None, "~0.500 cycles/float · ~4.00 cycles/iter · SKL · latency-bound (LCP)"),
        ({"change": CHANGED}, LINE, f"{CHANGED} · SKL · latency-bound (LCP)"),
        (
            {"elsewhere": (Note(" (3.00 at 2)", " (3.00 at 2)"),)},
            72,
            "0.500 cycles/float · 4.00 cycles/iter (3.00 at 2) · SKL · latency-bound",
        ),
    ],
)
def test_the_figure_by_work_leads_and_takes_the_room_of_the_other_one(changes, budget, shown):
    assert render(replace(BY_WORK, **changes), budget) == shown


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"limits": ("issue-bound",)}, f"{CHANGED} · SKL · issue-bound"),
        (
            {"limits": ("decoder- and issue-bound", "decoder-bound and 1 more"), "stalls": ("LCP",)},
            f"{CHANGED} · SKL · decoder- and issue-bound (LCP)",
        ),
        (
            {"limits": ("predecoder- and issue-bound", "x"), "stalls": ("LCP stall",)},
            f"{CHANGED} · predecoder- and issue-bound (LCP stall)",
        ),
        ({"approximate": True, "limits": ()}, f"~{CHANGED} · SKL"),
        ({"average": "7.00", "limits": ()}, f"{CHANGED} · SKL"),
    ],
)
def test_a_changed_figure_takes_the_room_of_the_core_first(changes, shown):
    assert render(replace(PLAIN, change=CHANGED, **changes), LINE) == shown


@pytest.mark.parametrize(
    ("changes", "budget", "shown"),
    [
        ({}, None, "4.00 cycles/iter · SKL · latency-bound (LCP) · two accumulators: 4.00, four: 2.00"),
        ({}, 72, "4.00 cycles/iter · SKL · latency-bound (LCP) · four accumulators: 2.00"),
        ({}, LINE, "4.00 cycles/iter · SKL · latency-bound (LCP) · rewrite: 2.00"),
        (
            {"elsewhere": (Note(" (3.00 at 2)", " (3.00 at 2)"),)},
            55,
            "4.00 cycles/iter · SKL · latency-bound · rewrite: 2.00",
        ),
        ({}, 44, "4.00 · SKL · latency-bound · rewrite: 2.00"),
        ({}, 40, "4.00 cycles/iter · SKL · latency-bound"),
        ({"change": CHANGED}, LINE, f"{CHANGED} · SKL · latency-bound · rewrite: 2.00"),
        ({"stale": True}, 62, "4.00 cycles/iter · SKL · latency-bound · rewrite: 2.00 (stale)"),
    ],
)
def test_advice_stands_behind_the_core_and_what_limits_it(changes, budget, shown):
    assert render(replace(FULL, advice=ADVICE, **changes), budget) == shown


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, " · SKL · latency-bound (LCP)"),
        ({"number": "5.00"}, " · 5.00 cycles/iter · SKL"),
        ({"approximate": True}, " · ~4.00 cycles/iter · SKL"),
        ({"least": True}, " · at least 4.00 cycles/iter"),
        ({"change": CHANGED}, f" · {CHANGED}"),
        ({"advice": ADVICE}, " · SKL · latency-bound (LCP)"),
    ],
)
def test_a_measured_figure_is_not_cut_and_says_the_predicted_one_once(changes, shown):
    measured = MeasuredFigure("predicted 4.00, measured 4.02", "4.00")
    for budget in (40, LINE):
        assert render(replace(FULL, measured=measured, **changes), budget) == measured.text + shown


def test_behind_the_measurement_of_another_core_the_line_keeps_its_own():
    """Its figure, its core and what limits it, however narrow the line is."""
    measured = MeasuredFigure("ZEN4: predicted 4.00, measured 4.02")
    label = RegionLabel(
        number="4.00",
        unit="cycles/iter",
        rate="0.500 cycles/float",
        core="SKL",
        limits=("latency-bound",),
        measured=measured,
    )
    assert render(label, 60) == measured.text + " · 4.00 cycles/iter · SKL · latency-bound"


def test_a_stale_figure_keeps_whole_words():
    long = replace(BY_WORK, stale=True)
    assert render(long, LINE) == "0.500 cycles/float · SKL · latency-bound (LCP) (stale)"
    assert render(RegionLabel(reason="x" * 80, stale=True), LINE) == "x" * 51 + "… (stale)"


def test_ranges_are_shown_as_far_as_they_fit_and_a_mean_has_none():
    elsewhere, once = (
        Note(" (3.00 at 2 of 4 positions)", " (3.00 at 2 of 4)"),
        Note(" (26 for one pass)", " (26 once)"),
    )
    label = replace(PLAIN, elsewhere=(elsewhere,), once=once)
    assert render(label, LINE) == "4.00 cycles/iter (3.00 at 2 of 4) (26 once) · SKL"
    assert render(label, 33) == "4.00 cycles/iter (3.00 at 2 of 4)"
    assert render(label).startswith("4.00 cycles/iter (3.00 at 2 of 4 positions) (26 for one pass) · SKL · ")
    assert render(replace(label, average="3.50"), LINE).startswith(
        "3.50 cycles/iter on average (26 once) · SKL"
    )
    assert (
        render(replace(label, share="84% of the profile"), LINE)
        == "4.00 cycles/iter · 84% of the profile · SKL"
    )


def test_the_reason_for_a_lower_bound_is_cut_rather_than_left_out():
    label = RegionLabel(
        number="3.00",
        least=True,
        unit="cycles/iter",
        core="SKL",
        lacks="no figures for clac, stac and vzeroall",
    )
    assert render(label, LINE) == "at least 3.00 cycles/iter · SKL · no figures for clac, stac…"
    assert render(label, 40) == "at least 3.00 cycles/iter · SKL"


def test_other_loops_of_a_source_line_stand_behind_the_figure():
    assert (
        render(replace(PLAIN, also=("2.00", "at least 3.00")), 40)
        == "4.00 cycles/iter (also 2.00, at least 3…"
    )
    assert render(replace(PLAIN, also=("2.00",)), 40) == "4.00 cycles/iter (also 2.00) · SKL"


def test_lists_and_status_bars_show_the_figure_of_every_core_or_of_the_first():
    labels = [FULL, replace(PLAIN, core="HSW", number="5.00")]
    both = "4.00 cycles/iter · SKL · latency-bound, 5.00 cycles/iter · HSW · latency-bound"
    assert headline(labels) == both
    assert headline(labels, stale=True) == both + STALE
    assert status(replace(FULL, advice=ADVICE, change=CHANGED)) == "4.00 cycles/iter · SKL"
    assert status(replace(FULL, stale=True)) == "4.00 cycles/iter · SKL (stale)"
    assert status(BY_WORK) == "0.500 cycles/float · 4.00 cycles/iter · SKL"
    assert headline([BY_WORK]) == "0.500 cycles/float · 4.00 cycles/iter · SKL · latency-bound"
    assert (
        headline([RegionLabel(reason="no prediction")]) == status(RegionLabel(reason="no prediction")) == ""
    )


def test_a_region_without_predictions_has_its_reason_for_a_label():
    region = region_analysis(prediction([template()], cycles=4.0))
    assert of_region(region)[0].number == of_prediction(region.predictions[0]).number
    assert of_region(replace(region, predictions=(), note="")) == ()
    assert of_region(replace(region, predictions=(), note="a line is bad")) == (
        RegionLabel(reason="no prediction"),
    )


BINDING = Note(*[" (to 1.07: depends on port binding)"] * 2)
PARTS = st.builds(
    RegionLabel,
    number=FIGURES.map("{:.2f}".format),
    approximate=st.booleans(),
    unit=st.sampled_from(["cycles/iter", "cycles/call", "cycles"]),
    elsewhere=st.sampled_from(
        [(), (BINDING,), (BINDING, Note(" (1.72 at 1 of 4 positions)", " (1.72 at 1 of 4)"))]
    ),
    once=st.sampled_from([Note(), Note(" (26 for one pass)", " (26 once)")]),
    average=st.sampled_from(["", "4.20"]),
    share=st.sampled_from(["", "84% of the profile"]),
    core=st.just("SKL"),
    limits=st.sampled_from(
        [("latency-bound",), ("decoder-, predecoder- and issue-bound", "decoder-bound and 2 more")]
    ),
    stalls=st.sampled_from([(), ("LCP", "JCC erratum at 2 of 4")]),
    rate=st.sampled_from(["", "0.500 cycles/float"]),
    change=st.sampled_from(["", CHANGED]),
    also=st.sampled_from([(), ("2.00", "3.00")]),
    advice=st.sampled_from([(), ADVICE]),
    stale=st.booleans(),
)


@given(PARTS, st.integers(40, 80))
def test_no_label_is_longer_than_its_budget_and_its_mark_is_whole(label, budget):
    text = render(label, budget)
    assert len(text) <= budget
    assert text.endswith(STALE) == label.stale
    assert text.startswith("~") == label.approximate or label.average
