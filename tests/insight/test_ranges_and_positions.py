"""Which of several positions, rules and experiments a sentence goes by, and from what difference on."""

from __future__ import annotations

from typing import Any

import pytest
from cyclelens.analyzer.insight.addresses import accesses
from cyclelens.analyzer.insight.calls import carried_arguments
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.overlaps import overlaps
from cyclelens.analyzer.insight.port_binding import _widened
from cyclelens.analyzer.insight.sensitivity import Change, ChangeKind, TriedChange, helpful
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, PortBinding, Position
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.factories import prediction, template


class Figure:
    """Runs that all have one figure."""

    def __init__(self, cycles: float) -> None:
        self.figure, self.microarchitecture = cycles, registry.get("SKL")

    def cycles(self, block: object) -> float:
        return self.figure


def jump(*figures: tuple[float, bool], source: str = "DSB") -> Finding | None:
    """What is said of a jump with these figures by position, each with whether the erratum hits there."""
    made = prediction([template("jnz .loop", jcc_erratum=True, is_branch=True)], first_sources=(source,))
    places = [
        Position(16 * at, cycles, frozenset([0] if hit else [])) for at, (cycles, hit) in enumerate(figures)
    ]
    found = find(replace(made, positions=tuple(places)))
    return found[0] if found else None


SLOW, FAST = (2.0, True), (1.0, False)


@pytest.mark.parametrize(
    ("figures", "label", "likely", "severity", "cost"),
    [
        ((SLOW, FAST, FAST, FAST), "JCC erratum at 1 of 4", True, "warning", 1.0),
        ((SLOW, FAST, FAST, FAST, FAST), "JCC erratum at 1 of 5", False, "information", 1.0),
        ((SLOW, (3.0, True), FAST, (1.5, False)), "JCC erratum at 2 of 4", True, "warning", 2.0),  # at most
        (((1.006, True), FAST), "JCC erratum at 1 of 2", True, "warning", 0.006),
    ],
)
def test_the_jcc_erratum_at_other_positions(
    figures: tuple[tuple[float, bool], ...], label: str, likely: bool, severity: str, cost: float
) -> None:
    found = jump(*figures)
    assert found is not None
    assert (found.label, found.is_likely, found.severity) == (label, likely, severity)
    assert found.cost == pytest.approx(cost)
    assert f"; it costs up to {cost:.2f} cycles per iteration. Align" in found.message


def test_the_positions_are_named() -> None:
    found = jump(FAST, SLOW, SLOW, FAST)
    assert found is not None
    assert "erratum at 2 of 4 positions (16, 32 bytes into a line): the jump crosses" in found.message


@pytest.mark.parametrize("figures", [((1.004, True), FAST), (FAST, FAST), (SLOW, SLOW)])
def test_nothing_is_said_where_it_costs_nothing(figures: tuple[tuple[float, bool], ...]) -> None:
    assert jump(*figures) is None


@pytest.mark.parametrize(
    ("figures", "severity", "end"),
    [
        (((1.004, True), FAST), "information", "; it costs nothing here. Align"),
        ((SLOW, SLOW), "warning", "in every iteration. Align"),  # what it costs is not known
        ((SLOW, *[FAST] * 7), "warning", "; it costs up to 1.00 cycles per iteration. Align"),
    ],
)
def test_where_the_decoders_deliver_the_jump_it_is_always_said(
    figures: tuple[tuple[float, bool], ...], severity: str, end: str
) -> None:
    found = jump(*figures, source="MITE")
    assert found is not None
    assert found.severity == severity and found.label.startswith("JCC erratum")
    assert end in found.message


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (2.0, 2.1, None),  # five percent
        (2.0, 2.11, PortBinding(2.0, 2.11)),
        (1.9048, 2.0, None),
        (1.9, 2.0, PortBinding(1.9, 2.0)),
        (1.9, 2.05, PortBinding(1.9, 2.0)),  # each end by itself
        (1.95, 2.2, PortBinding(2.0, 2.2)),
        (2.2, 1.8, None),  # never narrower
    ],
)
def test_a_range_is_wider_by_more_than_five_percent(
    least: float, most: float, expected: PortBinding | None
) -> None:
    assert _widened(PortBinding(2.0, 2.0), least, most) == expected


@pytest.mark.parametrize(("before", "states"), [(False, True), (True, False), (False, False), (True, True)])
def test_a_range_of_steady_states_stays_one(before: bool, states: bool) -> None:
    found = _widened(PortBinding(2.0, 2.0, steady_states=before), 2.0, 3.0, states=states)
    assert found == PortBinding(2.0, 3.0, steady_states=before or states)


@pytest.mark.parametrize(("met", "said"), [(3.005, False), (3.006, True), (9.0, True), (2.0, False)])
def test_accesses_that_meet_are_mentioned_if_the_figure_shows_it(met: float, said: bool) -> None:
    # movzx eax, [rsi]; inc [rdi+rax*4]; inc rsi; dec rdx; jnz
    block = block_of("0fb606 ff0487 48ffc6 48ffca 75f2", "SKL", loop=True)
    runs: Any = Figure(met)
    found = overlaps(block, accesses(block.instructions), 3.0, runs)
    assert ("same-address" in [each.code for each in found]) is said
    for each in found:
        assert each.values == {"cycles_per_iteration": met}
        assert f" {met:.2f} cycles per iteration instead of 3.00." in each.message


@pytest.mark.parametrize(
    ("code", "anew", "words"),
    [
        (
            "4801f7",
            9.5,
            "in rdi what the call before left there. If the caller sets it anew, a call takes 9.50",
        ),
        ("4801f7", 9.51, None),  # more than 95 %
        ("4801f74801fe", 5.0, "in rdi and rsi what the call before left there. If the caller sets them anew"),
        ("4801f8", 5.0, None),  # add rax, rdi: the argument stays
    ],
)
def test_arguments_that_a_call_leaves_behind(code: str, anew: float, words: str | None) -> None:
    # add rdi, rsi; add rsi, rdi
    runs: Any = Figure(anew)
    build: Any = tuple
    found = carried_arguments(build, decode(bytes.fromhex(code)), 10.0, runs)
    if words is None:
        assert found == ()
    else:
        (only,) = found
        assert words in only.message and only.values == {"cycles": anew}


@pytest.mark.parametrize(("saves", "shown"), [(0.005, False), (0.006, True), (1.0, True), (-1.0, False)])
def test_a_change_helps_if_two_decimals_show_it(saves: float, shown: bool) -> None:
    tried = TriedChange(Change(ChangeKind.REMOVAL, "without it"), None, saves)
    assert helpful([tried]) == ([tried] if shown else [])
    assert tried.beyond(0.0).saves == (saves if shown else 0.0)
    assert replace(tried, saves=saves + 2.0).beyond(2.0).saves == (saves + 2.0 if shown else 0.0)


def test_of_changes_that_help_alike_the_simplest_and_of_others_the_best_is_first() -> None:
    def tried(words: str, saves: float, kind: ChangeKind = ChangeKind.REMOVAL) -> TriedChange:
        return TriedChange(Change(kind, words), None, saves)

    made = [tried("a", 0.5), tried("b", 0.75), tried("c", 0.1, ChangeKind.REWRITE), tried("d", 0.504)]
    assert [each.change.words for each in helpful(made)] == ["c", "b", "a", "d"]
