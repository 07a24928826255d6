"""Where the pipeline's state repeats, the figure is exact; the window's figure stays for comparison."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.reports.registry import render
from msgspec.structs import replace
from testkit.factories import simulation

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
