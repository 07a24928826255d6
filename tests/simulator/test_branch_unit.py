"""Branches beside integer operations on Zen 4: they have a unit of their own (M48 of docs/zen5.md).

Measured by time stamps on an EPYC 9004, spread at most 0.3 %. Zen 3 is inferred to do the same.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target

REGISTERS = ("rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13")
LIMIT = "add rdi, 8; cmp rdi, rsi; jne .Lloop"
COUNTER = "dec rsi; jne .Lloop"
NOT_TAKEN = "cmp r15, r14; jl .Lout"


def additions(count: int, first: int = 0) -> list[str]:
    return [f"add {REGISTERS[(first + number) % len(REGISTERS)]}, 1" for number in range(count)]


def spread(count: int, branches: int) -> list[str]:
    """Additions with branches among them."""
    apart = count // (branches + 1)
    body = additions(count)
    for place in range(branches, 0, -1):
        body.insert(place * apart, NOT_TAKEN)
    return body


def cycles(body: list[str], end: str, core: str = "ZEN4") -> float:
    text = "\n".join(
        (".intel_syntax noprefix", "# cyclelens-begin k", ".Lloop:", *body, end, "# cyclelens-end")
    )
    options = AnalysisOptions(target=Target((core,), alignment=0))
    (region,) = Analyzer().analyze(f"{text}\n.Lout: ret\n", options).regions
    return region.predictions[0].cycles_per_iteration


@pytest.mark.parametrize(
    ("core", "count", "compared", "counted"),
    [
        ("ZEN4", 3, 1.00, 1.25),
        ("ZEN4", 5, 1.50, 1.75),
        ("ZEN4", 8, 2.25, 2.50),
        ("ZEN4", 10, 2.75, 3.00),
        ("ZEN3", 8, 2.25, 2.50),
    ],
)
def test_a_loop_that_ends_in_a_comparison_has_four_alus_left(
    core: str, count: int, compared: float, counted: float
) -> None:
    body = ["add rdi, 8", *additions(count)]
    assert cycles(body, "cmp rdi, rsi; jne .Lloop", core) == pytest.approx(compared, rel=0.01)
    assert cycles(body, COUNTER, core) == pytest.approx(counted, rel=0.01)


@pytest.mark.parametrize(
    ("test", "measured"), [("cmp rdi, 1000", 2.00), ("cmp rsi, rdi", 2.00), ("test rdi, rsi", 2.00)]
)
def test_so_has_one_with_any_comparison(test: str, measured: float) -> None:
    assert cycles(additions(7), f"add rdi, 8; {test}; jne .Lloop") == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize(("branches", "measured"), [(1, 4.00), (2, 4.00), (3, 4.00), (4, 4.20), (6, 4.60)])
def test_branches_among_additions_take_the_five_units_evenly(branches: int, measured: float) -> None:
    assert cycles(spread(15, branches), LIMIT) == pytest.approx(measured, rel=0.04)


@pytest.mark.parametrize(("branches", "measured"), [(2, 4.34), (3, 4.50), (5, 5.00)])
def test_branches_that_follow_each_other_take_alus_as_well(branches: int, measured: float) -> None:
    assert cycles([*additions(15), *[NOT_TAKEN] * branches], LIMIT) == pytest.approx(measured, rel=0.06)


@pytest.mark.parametrize("branch", [NOT_TAKEN, "and {}, -1; js .Lout", f"{NOT_TAKEN}; nop; nop"])
@pytest.mark.parametrize("end", [LIMIT, COUNTER])
def test_two_branches_per_cycle_are_read(branch: str, end: str) -> None:
    assert cycles([branch.format(name) for name in REGISTERS[:8]], end) == pytest.approx(4.50, rel=0.01)


def test_a_conditional_move_meets_the_branch_of_a_counter_alone() -> None:
    """It takes ALU0 or ALU3: 4.20 and 4.50 cycles were measured."""
    moves = [f"cmovz {name}, rbp" for name in REGISTERS[:8]]
    assert cycles(moves, LIMIT) == pytest.approx(4.20, rel=0.06)
    assert cycles(moves, COUNTER) >= 4.5


@pytest.mark.parametrize(
    ("body", "taken", "measured"),
    [
        ("mov eax, [rdi]; test eax, eax; jns .Lb; neg eax; .Lb: add r8d, eax", "1", 2.00),
        ("cmp r8d, r8d; je .Lb; add ecx, 1; .Lb: cmp r9d, r9d; je .Lc; add ecx, 1; .Lc: nop", "1,1", 3.00),
    ],
)
def test_one_branch_jumps_per_cycle(body: str, taken: str, measured: float) -> None:
    text = (
        f".intel_syntax noprefix\n# cyclelens-begin k taken={taken}\n.Lloop: {body}\n{LIMIT}\n# cyclelens-end"
    )
    options = AnalysisOptions(target=Target(("ZEN4",), alignment=0))
    region = Analyzer().analyze(text.replace("; ", "\n"), options).regions[0]
    assert region.predictions[0].cycles_per_iteration == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize("branch", ["bt r9d, 3; jc .Lout", "jmp .Lb; .Lb:"])
def test_a_branch_by_itself_takes_no_alu_either(branch: str) -> None:
    """2.00 measured of both."""
    count = 6 if "bt" in branch else 7
    body = [*[f"add {name}, 3" for name in REGISTERS[:count]], *branch.split("; ")]
    assert cycles(body, "sub rdx, 1; jne .Lloop") == pytest.approx(2.00, rel=0.01)
