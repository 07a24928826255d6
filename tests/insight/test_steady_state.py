"""Where the pipeline's state repeats, the figure is exact; the window's figure stays for comparison."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.explain import _held_apart, _within, front_end_shares, steady_state
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Block, UopTemplate
from cyclelens.analyzer.reports.registry import render
from msgspec.structs import replace
from testkit.factories import facts, simulation, template, usage
from testkit.unit_sets import unit_set

# Nothing waits for long: which ports waiting uops are bound to could go on changing for very long.
KERNEL = """
# cyclelens-begin
.loop:
    lea 1(%rax), %rcx
    lea 2(%rax), %rdx
    mov (%rsi), %r8
    mov %r8, (%rbx,%rsi)
    add $8, %rsi
    cmp %rdi, %rsi
    jne .loop
# cyclelens-end
"""


def test_a_state_that_comes_again_gives_the_figure() -> None:
    run = replace(simulation(cycles=1.98), period=(16, 8))
    assert steady_state(run) == 2.0


def test_without_a_period_the_window_gives_the_figure() -> None:
    assert steady_state(simulation(cycles=1.98)) == 1.98


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "CLX"])
def test_the_report_has_both_figures_and_the_period(name: str) -> None:
    analysis = Analyzer().analyze(KERNEL, AnalysisOptions(target=Target(microarchitectures=(name,))))
    (found,) = analysis.regions[0].predictions
    report: Any = json.loads(render(analysis, "kernel.s", "json"))
    (reported,) = report["regions"][0]["predictions"]
    assert reported["window_cycles_per_iteration"] == found.simulation.cycles_per_iteration
    period = reported["period"]
    assert period is not None
    assert reported["cycles_per_iteration"] == round(period["cycles"] / period["iterations"], 2)
    # The window is a part of the same run: it is off by less than the cycles of one round in all of its own.
    simulated = found.simulation
    rounds = simulated.last_round - simulated.first_round
    assert (
        abs(simulated.cycles_per_iteration - found.cycles_per_iteration)
        <= found.cycles_per_iteration / rounds
    )


@pytest.mark.parametrize(
    ("period", "issue", "figure"), [(None, 1.5, 1.5), ((10, 3), 2.0, 3.33), ((2, 1), 2.0, 2.0)]
)
def test_only_an_average_cuts_bounds_down_to_itself(period, issue, figure):
    """The average of some rounds may be less than the steady state; a figure of whole periods is exact."""
    made = replace(simulation(1.5), period=period)
    assert _within({"Issue": 2.0, "Ports": 1.0}, made) == {"Issue": issue, "Ports": 1.0}
    assert steady_state(made) == figure


def test_shares_of_the_front_end_are_sums_without_those_of_nothing():
    uses = [usage(sources={"MITE": 0.5, "DSB": 0.0}), usage(sources={"MITE": 1.0, "MS": 2.0})]
    assert front_end_shares(simulation(1.0, uses)) == {"MITE": 1.5, "MS": 2.0}


def test_cycles_of_a_unit_that_is_held_are_none_of_the_divider():
    """M21: two instructions hold one unit, a third one another unit; the fourth divides."""

    def busy(text, unit, **fields):
        uop = UopTemplate(UopKind.COMPUTE, unit_set(unit), divider_cycles=4)
        return template(text, uops=(uop,), divider_cycles=4, **fields)

    divides = busy("div rcx", "0", facts=replace(facts(), base=Figures(divider_cycles=4)))
    held = [busy("rcl rax, 5", "0"), busy("rcl rbx, 5", "0"), busy("rcl rcx, 5", "1")]
    uses = [usage(divider=cycles) for cycles in (2.0, 3.0, 4.0, 1.0)]
    block = Block((*held, divides), "SKL", loop=True, alignment=0)
    apart, longest = _held_apart(block, simulation(9.0, uses))
    assert longest == 5.0
    assert [each.divider for each in apart.usage] == [0.0, 0.0, 0.0, 1.0]
    alone = Block((divides,), "SKL", loop=True, alignment=0)
    assert _held_apart(alone, simulation(9.0, uses[:1])) == (simulation(9.0, uses[:1]), 0.0)
