"""What people measured of addresses and of code before a loop: the report says what the figure assumes."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Assumption, Prediction

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 6\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"
NEIGHBOURS = "vmovups ymm0, [rsi{}]\n vaddps ymm0, ymm0, [rsi+{}]\n vaddps ymm0, ymm0, [rdi]\n add rsi, 32"


def predicted(body: str, core: str) -> Prediction:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)))
    (region,) = Analyzer().analyze(TEXT.format(body), options).regions
    return region.predictions[0]


def found(body: str, core: str, code: str) -> list[Assumption]:
    return [each for each in predicted(body, core).assumptions if each.code == code]


def test_loads_that_must_cross_lines_are_named_with_their_cycles() -> None:
    """agner.org/optimize/blog/read.php?i=627: such a load needs both load paths of a cycle. At best one of
    two loads that are 16 bytes apart crosses a line in every other iteration: 3.5 accesses in two paths. The
    model of Zen 4 has a rule for it."""
    body = NEIGHBOURS.format("-8", 8)
    (assumption,) = found(body, "SKL", "line-crossings")
    assert len(assumption.instructions) == 1
    assert assumption.values == {"least_cycles": 1.75}
    assert "0.5 per iteration" in assumption.message
    assert found(body, "ZEN4", "line-crossings") == []


@pytest.mark.parametrize(
    "body",
    [
        NEIGHBOURS.format("", 32),
        NEIGHBOURS.format("-32", 64),
        # RSI may be 16.
        "vmovups ymm0, [rsi+48]\n vmovups ymm1, [rdi+16]\n vmovups ymm2, [rdx]\n add rsi, 32",
        "mov eax, [rsi-4]\n mov ebx, [rsi]\n mov ecx, [rsi+4]\n add rsi, 4",
        "mov rax, [rsp+4]\n mov rbx, [rsp+12]\n mov rcx, [rsp+20]",
        # A prefetch fetches one line.
        "add rax, [rsi]\n add rbx, [rsi+8]\n add rcx, [rsi+16]\n prefetcht0 [rsi+256]\n add rsi, 32",
        # They wait for VMULPS.
        "vmovdqu ymm0, [rsi+1]\n vmovdqu ymm1, [rsi]\n vmulps ymm2, ymm2, ymm0\n add rsi, 32",
    ],
)
def test_no_crossing_is_named_that_a_pointer_can_avoid_or_that_costs_nothing(body: str) -> None:
    assert found(body, "SKL", "line-crossings") == []


def test_stores_that_must_cross_lines_are_named() -> None:
    body = "vmovups [rsi], ymm0\n vmovups [rsi+40], ymm1\n add rsi, {}"
    (assumption,) = found(body.format(32), "SKL", "line-crossings")
    assert assumption.values == {"least_cycles": 2.5}
    assert found(body.format(64), "SKL", "line-crossings") == []


def test_a_pointer_on_another_page_is_named_where_the_core_begins_with_its_page() -> None:
    """stackoverflow.com/questions/52351397: 9 cycles on Haswell, 4 otherwise."""
    (assumption,) = found("mov rdx, [rdx+8]", "HSW", "same-page")
    assert assumption.values == {"other_page_cycles": 9}
    assert predicted("mov rdx, [rdx+8]", "HSW").cycles_per_iteration == 4.0
    assert found("mov rdx, [rdx+8]\n or rdx, 0", "HSW", "same-page") == []
    assert found("mov rdx, [rdx+4096]", "HSW", "same-page") == []
    assert found("mov rdx, [rdx]", "HSW", "same-page") == []
    assert found("mov rdx, [rdx+8]", "ICL", "same-page") == []


@pytest.mark.parametrize("shift", ["shlx rax, rax, rcx", "shrx rax, rax, rcx", "sarx eax, eax, ecx"])
def test_a_shift_by_a_register_from_before_the_loop_may_be_slow_on_golden_cove(shift: str) -> None:
    """tavianator.com/2025/shlx.html, andreas-abel/nanoBench 33: 3 cycles after `mov rcx, 1` or `inc rcx`, 1
    after `mov ecx, 1`."""
    (assumption,) = found(shift, "ADL", "owed-constants")
    assert assumption.values == {"most_cycles": 3.0}
    assert assumption.message.startswith("The code before the loop leaves no constant owed to RCX.")
    assert predicted(shift, "ADL").cycles_per_iteration == 1.0
    assert predicted(f"mov rcx, 1\n {shift}", "ADL").cycles_per_iteration == 3.0
    assert predicted(f"mov ecx, 1\n {shift}", "ADL").cycles_per_iteration == 1.0
    for other in (f"mov ecx, 1\n {shift}", f"mov rcx, [rsi]\n {shift}", "rorx rax, rax, 3"):
        assert found(other, "ADL", "owed-constants") == []
    assert found(shift, "ICL", "owed-constants") == []


def test_shifts_that_no_chain_holds_are_not_named() -> None:
    assert found("shlx rax, rbx, rcx", "ADL", "owed-constants") == []
    assert found("shlx rax, rax, rcx\n imul rdx, rdx\n imul rdx, rdx", "ADL", "owed-constants") == []


def test_prefetches_are_slow_on_ivy_bridge() -> None:
    """Agner Fog's instruction tables: one in 43 cycles; on Sandy Bridge and Haswell two per cycle."""
    (assumption,) = found("prefetchnta [rsi]\n add rsi, 64", "IVB", "published-throughput")
    assert assumption.values == {"published_cycles": 43.0}
    assert found("prefetchw [rsi]\n add rsi, 64", "IVB", "published-throughput") == []
    assert found("prefetchnta [rsi]\n add rsi, 64", "HSW", "published-throughput") == []
