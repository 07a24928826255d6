"""A region at every possible offset: which figure is shown, and that none is missed."""

from __future__ import annotations

from typing import Any

import pytest
from cyclelens.analyzer.engine import answers
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.positions import alone, positions, unknown_offset, usual
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Position
from cyclelens.analyzer.model.source import Placement
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.block import build_block
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.factories import prediction, template

NOTHING: frozenset[int] = frozenset()
LOOPS = {
    "an exit and a fused pair": "c5ed740407c5ed744c0720c5f5ebd8c5fdd7cb85c9750d4883c0404839f072df",
    "length-changing prefixes": "6605341266053512" + "66053612" + "49ffcf75ef",
    "microcode": "fc4801d8" + "49ffcf75f7",
    "long": "0f1f8400000000004801d84801c3" * 6 + "49ffcf75a7",
    "a jump alone": "ebfe",
    "stack synchronisation": "b8e802630055482de802630048c1f8034889e54889c248c1ea3f4801d048d1f849ffcf75db",
}


def at(*figures: float, erratum: frozenset[int] = NOTHING) -> tuple[Position, ...]:
    step = 64 // len(figures)
    return tuple(Position(step * number, cycles, erratum) for number, cycles in enumerate(figures))


@pytest.mark.parametrize("arch", ["SNB", "HSW", "SKL", "ICL", "ZEN4"])
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("loop", [True, False], ids=["loop", "unrolled"])
def test_what_is_simulated_once_is_the_same_everywhere(
    name: str, arch: str, loop: bool, request: pytest.FixtureRequest
) -> None:
    if arch == "ZEN4" and name == "an exit and a fused pair" and not loop:
        reason = "2.23 to 2.26 by offset with transfers that occupy an ALU (M34), as on Zen 3"
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    model = registry.get(arch)
    blocks = [block_of(LOOPS[name], arch, loop=loop, alignment=offset) for offset in range(64)]
    found = positions(blocks.__getitem__, range(64), Runs(model))
    assert [each.offset for each in found] == list(range(64))
    wanted = [steady_state(simulate(block, model)) for block in blocks]
    assert [each.cycles_per_iteration for each in found] == wanted


def test_a_region_of_macro_ops_is_expanded_once_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their entries do not depend on the place, so that expanding them 64 times is wasted."""
    for code in LOOPS.values():
        here, there = (block_of(code, "ZEN4", loop=True, alignment=offset) for offset in (0, 37))
        assert here.entries == there.entries
    expanded: list[int] = []

    def counting(*arguments: Any, **named: Any) -> Block:
        expanded.append(named["alignment"])
        return build_block(*arguments, **named)

    monkeypatch.setattr(answers, "build_block", counting)
    text = "# cyclelens-begin\n1: addw $0x1234, %ax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    options = AnalysisOptions(target=Target(microarchitectures=("ZEN4",)))
    (region,) = Analyzer().analyze(text, options).regions
    assert [len(each.positions) for each in region.predictions] == [64]
    assert len(expanded) == 1


def test_only_places_that_differ_are_simulated() -> None:
    model = registry.get("SKL")
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        return False

    code = LOOPS["an exit and a fused pair"]
    runs = Runs(model, cancel=cancel)
    found = positions(lambda offset: block_of(code, "SKL", loop=True, alignment=offset), range(64), runs)
    once = len(asked)
    positions(lambda _: block_of(code, "SKL", loop=True), [0], runs)
    assert once < 30 * (len(asked) - once)
    assert {each.erratum for each in found} == {NOTHING, frozenset([4]), frozenset([7])}


@pytest.mark.parametrize(
    ("offset", "known", "offsets"),
    [(16, 64, (16,)), (80, 64, (16,)), (48, 16, (0, 16, 32, 48)), (70, 32, (6, 38))],
)
def test_a_place_in_a_section_is_known_to_its_alignment(
    offset: int, known: int, offsets: tuple[int, ...]
) -> None:
    assert Placement.in_section(offset, known).offsets == offsets


@pytest.mark.parametrize("alignment", [0, 1, 3])
def test_a_section_without_a_usable_alignment_may_lie_anywhere(alignment: int) -> None:
    assert Placement.in_section(5, alignment).offsets == tuple(range(64))


def test_the_figure_of_most_places_is_shown() -> None:
    assert usual(at(3.0, 2.0, 3.0, 3.0)) == 0
    assert usual(at(2.0, 3.0, 3.0, 3.0)) == 16
    # As frequent: the smallest.
    assert usual(at(3.0, 2.0, 3.0, 2.0)) == 16
    assert usual(at(3.0, 9.0, 2.0, 4.0, 2.0, 3.0, 5.0, 6.0)) == 16
    # Where the erratum strikes at no cost, what is shown is where it does not.
    assert usual((Position(0, 2.0, frozenset([1])), *at(2.0, 2.0, 2.0, 2.0)[1:])) == 16


@pytest.mark.parametrize(
    ("figures", "shown", "brief"),
    [
        ((2.0, 2.0), "", ""),
        ((2.0, 3.0, 2.0, 2.0), " (or 3.00 at one of four positions in memory)", " (to 3.00 by position)"),
        ((2.0, 1.5, 2.0, 2.0), " (or 1.50 at one of four positions in memory)", " (from 1.50 by position)"),
        (
            (2.0, 3.0, 2.0, 1.0),
            " (or 1.00 to 3.00 at two of four positions in memory)",
            " (1.00 to 3.00 by position)",
        ),
        (
            (2.0, 3.0, 4.0, 1.0),
            " (or 1.00 to 4.00 at three of four positions in memory)",
            " (1.00 to 4.00 by position)",
        ),
    ],
)
def test_other_figures_stand_beside_the_one_shown(figures: tuple[float, ...], shown: str, brief: str) -> None:
    loop = replace(prediction([template()], cycles=2.0), positions=at(*figures))
    assert (wording.elsewhere(loop), wording.by_position(loop)) == (shown, brief)


def test_a_place_that_matters_and_is_not_known_is_an_assumption() -> None:
    loop = replace(prediction([template()], cycles=2.0), positions=at(2.0, 3.0, 2.0, 2.0))
    (assumption,) = unknown_offset(loop, Placement(0, 16))
    assert assumption.code == "unknown-offset"
    assert assumption.message == (
        "The section is aligned to 16 bytes only: the code takes 2.00 at 0, 32, 48; 3.00 at 16 bytes into a "
        "64-byte line. The rest of the report is for 0."
    )
    assert assumption.values == {"least": 2.0, "most": 3.0, "positions": 4}
    same = replace(loop, positions=at(2.0, 2.0))
    assert list(unknown_offset(same, Placement(0, 32))) == []
    (gap,) = unknown_offset(same, Placement(0, 32, "A line before it is wrong"))
    assert gap.message.startswith("A line before it is wrong: the code takes 2.00 at 0, 32 bytes")


def test_offsets_are_summarized_in_few_words() -> None:
    assert wording.offsets([0, 1, 2, 27, 60, 61]) == "0 to 2, 27, 60 to 61"


def test_a_single_place_is_a_position_too() -> None:
    entries = (template("jnz .loop", jcc_erratum=True, is_branch=True),)
    simulation = prediction(entries, cycles=2.0).simulation
    assert alone(Block(entries, "SKL", True), simulation) == (Position(0, 2.0, frozenset([0])),)
    assert alone(Block(entries, "SKL", False, 16), simulation) == (Position(16, 2.0, NOTHING),)


def test_the_erratum_is_reported_where_it_may_strike_and_costs_something() -> None:
    hit = frozenset([0])
    loop = replace(
        prediction([template("jnz .loop", is_branch=True)], cycles=2.0),
        positions=(Position(0, 3.0, hit), *at(2.0, 2.0, 2.0, 2.0)[1:]),
    )
    (finding,) = find(loop)
    assert (finding.code, finding.severity) == ("jcc-erratum", "warning")
    assert "at 1 of 4 positions (0 bytes into a line)" in finding.message
    assert "1.00 cycles per iteration" in finding.message
    assert finding.cost == 1.00
    assert finding.label == "JCC erratum at 1 of 4"
    harmless = replace(loop, positions=(Position(0, 2.0, hit), *loop.positions[1:]))
    assert find(harmless) == ()
