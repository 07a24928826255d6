"""What a figure does not count: functions that are called, and code of the region that no path executes."""

from __future__ import annotations

import json

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.label import headline, of_region
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports import json as json_report

CALLING = """\
.L2:
    mov (%rbx), %rdi
    call process
    add $8, %rbx
    cmp %rbx, %rsi
    jne .L2
"""


def analysed(text: str) -> Analysis:
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",), alignment=0))
    return Analyzer().analyze(text, options)


def assumed(text: str) -> dict[str, str]:
    (region,) = analysed(text).regions
    return {each.code: each.message for each in region.predictions[0].assumptions}


def test_a_loop_that_calls_takes_at_least_the_figure() -> None:
    analysis = analysed(CALLING)
    (region,) = analysis.regions
    assert headline(of_region(region)).startswith("at least 1.25 cycles/iter · SKL")
    found = json.loads(json_report.render(analysis, "calls.s"))["regions"][0]["predictions"][0]
    assert (found["cycles_per_iteration"], found["at_least"]) == (1.25, True)


def test_without_the_call_the_figure_is_exact() -> None:
    (region,) = analysed(CALLING.replace("call process", "nop")).regions
    assert headline(of_region(region)).startswith("0.125 cycles/byte · 1.00 cycles/iter")


@pytest.mark.parametrize(
    ("behind", "message"),
    [
        (" imul %rax, %rax\n", "No iteration executes line 5: it is not in the figure."),
        (" bswap %rax\n ret\n", "No iteration executes lines 5 to 6: they are not in the figure."),
        (
            " jmp .Lend\nf: neg %rax\n.Lend:\n",
            "No iteration executes lines 5 to 6: they are not in the figure.",
        ),
        (" nop\n .p2align 4\n", None),
        ("", None),
    ],
)
def test_code_behind_a_loop_is_named(behind: str, message: str | None) -> None:
    loop = "# cyclelens-begin a\nl: add (%rdi), %rax\n dec %rcx\n jne l\n"
    assert assumed(f"{loop}{behind}# cyclelens-end\n").get("not-executed") == message


def test_so_is_code_to_which_nothing_jumps() -> None:
    found = assumed("# cyclelens-begin a\n add $1, %rax\n jmp l\n neg %rax\nl: bswap %rax\n# cyclelens-end\n")
    assert found["not-executed"] == "No path through the region executes line 4: it is not in the figure."


def test_a_loop_that_is_found_without_markers_has_no_such_code() -> None:
    assert "not-executed" not in assumed("l: add (%rdi), %rax\n dec %rcx\n jne l\n imul %rax, %rax\n ret\n")
