"""Where each threshold of the insight lies: the last value on one side of it and the first on the other.

Which side the threshold itself belongs to is what the rule's own text says ("at least", "less than").
"""

from types import SimpleNamespace
from typing import Any

import pytest
from cyclelens.analyzer.insight import bottlenecks as limits
from cyclelens.analyzer.insight import (
    loop_steps,
    mispredictions,
    paths,
    pressure,
    prices,
    renaming,
    vocabulary,
    wording,
    work,
)
from cyclelens.analyzer.insight.capacities import ChangeError, changed
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.label import _cut
from cyclelens.analyzer.insight.memory_levels import wording as levels
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.simulation import FailedForward
from msgspec.structs import replace
from testkit.factories import prediction, simulation, template, usage


def of(code, name="ZEN3", **simulated):
    """The findings of a kind of a block of one instruction."""
    made = prediction([template()], microarchitecture=name)
    made = replace(made, simulation=replace(made.simulation, **simulated))
    return [finding for finding in find(made) if finding.code == code]


def waited(times, *, mistaken):
    return {"failed_forwards": (FailedForward(times=times, cycles=10.0, store=0, mistaken=mistaken),)}


@pytest.mark.parametrize(
    ("code", "with_times"),
    [
        ("partial-word-store", lambda times: {"merging_stores": (times,)}),
        ("load-word", lambda times: {"colliding_loads": (times,)}),
        ("failed-forwarding", lambda times: waited(times, mistaken=False)),
        ("false-renaming", lambda times: waited(times, mistaken=True)),
    ],
)
def test_what_happens_in_every_tenth_iteration_is_worth_a_word(code, with_times):
    assert not of(code, **with_times(0.099))
    (at_least,) = of(code, **with_times(0.1))
    assert "0.10 times" in at_least.message


@pytest.mark.parametrize(
    ("share", "label"),
    [(0.009, None), (0.01, "1% not eliminated"), (0.98, "98% not eliminated"), (1.0, "move not eliminated")],
)
def test_the_share_of_moves_that_are_not_eliminated(share, label):
    found = find(prediction([template("mov rax, rbx", eliminable_move=True)], elimination=(share,)))
    assert [finding.label for finding in found] == ([] if label is None else [label])


@pytest.mark.parametrize(
    ("bound", "value", "cycles", "named"),
    [
        ("Issue", 9.8, 10.0, True),  # at least 98 %
        ("Issue", 9.79, 10.0, False),
        ("Issue", 9.796, 10.0, True),  # rounded to two decimals
        ("Dependencies", 9.8, 10.0, True),
        ("Dependencies", 9.796, 10.0, False),  # an exact ratio
        ("Upper halves", 5.0, 10.0, True),  # half of the cycles
        ("Upper halves", 4.99, 10.0, False),
    ],
)
def test_a_limit_that_explains_enough_of_the_cycles_is_a_bottleneck(bound, value, cycles, named):
    expected = (bound,) if named else ("unknown",)
    assert limits.bottlenecks({bound: value}, simulation(cycles)) == expected


@pytest.mark.parametrize(("busy", "named"), [(9.9, True), (9.89, False)])
def test_a_divider_and_a_unit_that_is_kept_explain_99_per_cent(busy, named):
    divided = simulation(10.0, [usage(divider=busy / 2), usage(divider=busy / 2)])
    assert limits.bottlenecks({}, divided) == (("Divider",) if named else ("unknown",))
    assert limits.bottlenecks({}, simulation(10.0), busy) == (("Ports",) if named else ("unknown",))


@pytest.mark.parametrize(
    ("busiest", "ports", "names"),
    [
        (9.8, 5.0, ("Scheduling",)),
        (9.79, 5.0, ("unknown",)),
        (9.8, 9.8, ("Ports",)),  # the bound says it
        (9.8, 0.0, ("unknown",)),  # a block that uses no port
    ],
)
def test_scheduling_is_a_port_that_is_busy_beyond_its_bound(busiest, ports, names):
    assert limits.bottlenecks({"Ports": ports}, simulation(10.0, busiest_port=busiest)) == names
    held = limits.bottlenecks({"Ports": 5.0}, simulation(10.0, busiest_port=busiest), 9.9)
    assert held == ("Ports",)


@pytest.mark.parametrize(("uops", "full"), [(9.5, {"1"}), (9.49, set())])
def test_a_port_is_full_from_95_per_cent_on(uops, full):
    """Uops that merge or write back RSP count, too."""
    half = usage({"1": uops - 3, "0": 1.0})
    merge, sync = {0: usage({"1": 2.0})}, {0: usage({"1": 1.0})}
    made = prediction([template()], cycles=10.0, usages=[half], merge=merge, sync=sync)
    assert pressure.saturated_ports(made) == full
    assert pressure.port_pressure(made) == pytest.approx({"0": 1.0, "1": uops})


@pytest.mark.parametrize(("share", "label"), [(0.5, ["load renamed"]), (0.49, [])])
def test_a_load_that_is_renamed_in_half_of_the_iterations_is_said_to_be(share, label):
    made = prediction([template("mov rax, [rsp]")])
    made = replace(made, simulation=replace(made.simulation, renamed_loads=(share,)))
    assert [found for _, found, _ in renaming.renamings(made)] == label


@pytest.mark.parametrize(
    ("cycles", "text"), [(9.94, "9.9"), (9.95, "10"), (2.14, "2.1"), (11.4, "11"), (0.04, "0.0")]
)
def test_cycles_of_a_level_have_two_digits(cycles, text):
    assert levels.rough(cycles) == text


@pytest.mark.parametrize(("more", "bound"), [(0.0, False), (0.005, False), (0.006, True)])
def test_transfers_bind_what_they_make_longer_than_by_rounding(more, bound):
    made: Any = SimpleNamespace(placed_cycles=more, cycles_per_iteration=0.0)
    assert levels.is_transfer_bound(made) is bound


@pytest.mark.parametrize(
    ("count", "text"),
    [(0.0, "0.00"), (0.0099, "0.0099"), (0.01, "0.01"), (0.234, "0.23"), (0.00012, "0.00012")],
)
def test_rare_mispredictions_keep_two_digits(count, text):
    assert mispredictions._count(count) == text


@pytest.mark.parametrize(("now", "cost"), [(1.0, 0.0), (2.0, 0.0), (0.996, 0.0), (0.99, 0.01), (0.5, 0.5)])
def test_a_price_below_half_a_hundredth_is_none_and_none_is_negative(now, cost):
    result: Any = SimpleNamespace(cycles_per_iteration=now)
    assert prices._difference(1.0, result) == pytest.approx(cost)


@pytest.mark.parametrize(("value", "text"), [(0.0049, ""), (-0.0049, ""), (0.005, "0.01"), (-0.5, "-0.50")])
def test_a_figure_that_rounds_to_zero_stands_nowhere(value, text):
    assert wording.figure(value) == text


@pytest.mark.parametrize(("share", "text"), [(0.0049, "DSB"), (0.005, "DSB+MITE")])
def test_a_source_of_no_uops_is_not_named(share, text):
    assert wording.sources(vocabulary.of("SKL"), {"MITE": share, "DSB": 1.0}) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([0], "0"),
        ([0, 16], "0, 16"),
        ([4, 5], "4 to 5"),
        ([0, 1, 2, 9], "0 to 2, 9"),
        ([0, 2, 3], "0, 2 to 3"),
    ],
)
def test_adjacent_offsets_are_a_range(numbers, text):
    assert wording.offsets(numbers) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (3.0, 2.0, "1.5x"),  # from one and a half times as fast
        (3.0, 2.01, "-33 % time"),
        (1.0, 1.05, "+5 % time"),
        (100.0, 100.9, "+0.9 % time"),
        (100.0, 101.0, "+1 % time"),
        (2.0, 2.001, ""),  # equal to two decimals
        (0.0, 1.0, ""),
        (1.0, 0.0, "-100 % time"),
    ],
)
def test_how_two_paces_compare(before, after, text):
    assert work.difference(Pace(before), Pace(after)) == text


@pytest.mark.parametrize(
    ("figures", "texts"),
    [
        ((0.999,), ["0.999"]),
        ((1.0,), ["1.00"]),
        ((0.1, 2.0), ["0.10", "2.00"]),
        ((0.099, 2.0), ["0.099", "2.000"]),
    ],
)
def test_small_figures_have_three_decimals(figures, texts):
    assert work.written(*figures) == texts


@pytest.mark.parametrize(
    ("text", "share"), [("0", 0.0), ("1", 1.0), ("0%", 0.0), ("100%", 1.0), ("90%", 0.9)]
)
def test_a_share_is_zero_to_one(text, share):
    assert paths.share_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["-0.01", "1.01", "101%", "-1%", "nan", "often", ""])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(paths.SharesError, match="is not a share: write 0 to 1, or 0% to 100%"):
        paths.share_of(text)


@pytest.mark.parametrize(("field", "least", "most"), [("idq_size", 10, 10_000), ("issue_width", 1, 4)])
def test_a_parameter_takes_its_least_and_its_largest_value(field, least, most):
    """An IDQ has room for what the DSB delivers beside what is issued: six and four uops."""
    core = registry.get("SKL")
    for value in (least, most):
        assert getattr(changed(core, field, str(value)), field) == value
    for value in (least - 1, most + 1):
        with pytest.raises(ChangeError, match=f"from {least} to {most}"):
            changed(core, field, str(value))


@pytest.mark.parametrize(("room", "text"), [(8, "decoders"), (7, "decode…"), (5, "deco…")])
def test_a_text_that_just_fits_is_not_cut(room, text):
    assert _cut("decoders", room) == text


@pytest.mark.parametrize(
    ("amount", "times", "made"),
    [
        (8, 4, ("add", 32)),
        (-8, 4, ("sub", 32)),
        (32, 4, ("sub", -128)),  # 128 fits no byte, -128 does
        (-32, 4, ("add", -128)),
        (127, 1, ("add", 127)),
        (129, 1, ("add", 129)),
    ],
)
def test_steps_made_at_once(amount, times, made):
    step = loop_steps.PointerStep(register="RSI", index=0, amount=amount)
    assert loop_steps.together(step, times) == made
