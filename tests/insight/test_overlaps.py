"""Memory accesses that overlap only for some data: found from the code, and their cost by simulation."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.addresses import LinearValue, accesses
from cyclelens.analyzer.insight.overlaps import _unknown, overlaps
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from testkit.blocks import block_of, templates_of

HISTOGRAM = "0fb606 ff0487 48ffc6 48ffca 75f2"  # movzx eax, [rsi]; inc [rdi+rax*4]; inc rsi; dec rdx; jnz
COPY = "c5fc1006 c5fc1107 4883c620 4883c720 48ffca 75eb"  # vmovups ymm0, [rsi]; vmovups [rdi], ymm0; ...
IN_PLACE = "c5fc1006 c5f458c0 c5fc1106 4883c620 48ffca 75eb"  # load, add and store through rsi
STORES = "488906 488907 4883c620 48ffca 75f1"  # two stores
LOADS = "488b06 488b07 4883c620 48ffca 75f1"  # two loads
STACK = "488b06 4889442408 4883c620 48ffca 75ee"  # mov rax, [rsi]; mov [rsp+8], rax
CHAIN = "488b06 488907 480fafc9 480fafc9 480fafc9 4883c620 48ffca 75e4"  # multiplications


def met(code: str, name: str = "SKL", cycles: float = 1.0) -> dict[str, float]:
    """Codes and figures."""
    block = block_of(code, name, loop=True)
    found = overlaps(block, accesses(block.instructions), cycles, Runs(registry.get(name)))
    return {each.code: float(each.values["cycles_per_iteration"]) for each in found}


def test_equal_addresses_of_a_histogram_serialise() -> None:
    """An increment in memory takes its load, one cycle, and the way through the store buffer."""
    assert met(HISTOGRAM)["same-address"] == 6.0


def test_pointers_may_overlap() -> None:
    assert met(COPY).keys() == {"no-overlap"}
    assert 4.0 <= met(COPY)["no-overlap"] <= 6.0


@pytest.mark.parametrize("code", [IN_PLACE, STORES, LOADS, STACK])
def test_what_is_known_to_differ_or_costs_nothing_is_not_mentioned(code: str) -> None:
    assert met(code) == {}


def test_what_something_else_hides_is_not_mentioned() -> None:
    assert met(CHAIN, cycles=9.0) == {}


@pytest.mark.parametrize("name", registry.names())
def test_it_is_so_on_every_core(name: str) -> None:
    assert met(HISTOGRAM, name)["same-address"] > 3.0


def test_a_core_that_may_take_over_what_is_stored_says_the_most() -> None:
    """Zen 3: 3.76 where all bytes are equal, measured; some increments are taken over."""
    block = block_of(HISTOGRAM, "ZEN3", loop=True)
    found = overlaps(block, accesses(block.instructions), 1.16, Runs(registry.get("ZEN3")))
    (assumption,) = [each for each in found if each.code == "same-address"]
    assert 3.76 < float(assumption.values["cycles_per_iteration"]) < 8.0
    assert "serialise: up to " in assumption.message


def text(kernel: str) -> str:
    return f"# cyclelens-begin k\n.L1:\n{kernel}\n dec %rdx\n jnz .L1\n# cyclelens-end\n"


def test_an_analysis_states_both_figures_with_their_lines() -> None:
    source = text(" movzbl (%rsi), %eax\n incl (%rdi,%rax,4)\n inc %rsi")
    (region,) = Analyzer().analyze(source, AnalysisOptions(target=Target(alignment=0))).regions
    (prediction,) = region.predictions
    _, first, second = prediction.assumptions
    assert (first.code, first.instructions) == ("same-address", (1,))
    assert f"6.00 cycles per iteration instead of {prediction.cycles_per_iteration:.2f}" in first.message
    assert (second.code, second.instructions) == ("no-overlap", (0, 1))
    assert "Accesses through rdi and rsi touch different memory" in second.message


@pytest.mark.parametrize(("core", "said"), [("SKL", True), ("ZEN3", True), ("ZEN5", False), ("ZEN2", False)])
def test_pointers_of_unknown_distance_may_alias_where_the_core_does_that(core: str, said: bool) -> None:
    source = text(" movzbl (%rsi), %eax\n incl (%rdi,%rax,4)\n inc %rsi")
    options = AnalysisOptions(target=Target(microarchitectures=(core,), alignment=0))
    (region,) = Analyzer().analyze(source, options).regions
    (found,) = [each for each in region.predictions[0].assumptions if each.code == "no-overlap"]
    assert ("4K aliasing" in found.message) is said


def test_many_pointers_are_cut() -> None:
    stores = "".join(f" mov %rax, (%{name})\n" for name in ("rdi", "rcx", "rbx", "r8"))
    source = text(f" mov (%rsi), %rax\n{stores} add $8, %rsi")
    (region,) = Analyzer().analyze(source, AnalysisOptions(target=Target(alignment=0))).regions
    assumption = region.predictions[0].assumptions[-1]
    assert "Accesses through rdi, rcx, rbx and 2 more touch different memory" in assumption.message


def test_it_is_left_out_where_only_the_figure_matters() -> None:
    source = text(" movzbl (%rsi), %eax\n incl (%rdi,%rax,4)\n inc %rsi")
    (region,) = (
        Analyzer()
        .analyze(source, AnalysisOptions(target=Target(alignment=0), detail=Detail(alternatives=False)))
        .regions
    )
    assert [each.code for each in region.predictions[0].assumptions] == ["warm-caches"]


def steps(code: str) -> list[dict[str | int, int] | int]:
    """By how much the address of each access moves on in an iteration."""
    first, second = accesses(templates_of(code.replace(" ", ""), "SKL"))
    moved = [later.address.plus(now.address, -1) for now, later in zip(first, second, strict=True)]
    return [dict(each.terms) or each.constant for each in moved]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("488b06 4883c620", [32]),  # mov rax, [rsi]; add rsi, 32
        ("488b06 4883ee20", [-32]),  # sub rsi, 32
        ("488b06 48ffc6", [1]),  # inc rsi
        ("488b06 488d7640", [64]),  # lea rsi, [rsi+64]
        ("488b04d6 48ffc2", [8]),  # mov rax, [rsi+rdx*8]; inc rdx
        ("488b0416 4801d1 4883c208", [8]),  # add rcx, rdx; add rdx, 8
        ("488b06 4801ce", [{"RCX": 1}]),  # add rsi, rcx: unknown, but constant
        ("488b06 4889fe", [{"RDI": 1, "RSI": -1}]),  # mov rsi, rdi
        ("488b05 00000000", [0]),  # mov rax, [rip]
    ],
)
def test_addresses_are_sums(code: str, expected: list[object]) -> None:
    assert steps(code) == expected


def test_a_loaded_address_is_another_one_each_time() -> None:
    (step,) = steps("488b36")  # mov rsi, [rsi]
    assert isinstance(step, dict) and set(step.values()) == {1, -1}


def test_the_pairs_of_a_long_block_are_not_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 accesses with two kinds of addresses need a handful of comparisons, not 1,500,000."""
    calls = []
    plus = LinearValue.plus

    def counted(self: LinearValue, other: LinearValue, times: int) -> LinearValue:
        calls.append(1)
        return plus(self, other, times)

    # mov [rdi+8], rax; mov rcx, [rsi+rdx*8+8]
    accessed = accesses(block_of("48894708 488b4cd608" * 1_000, "SKL", loop=False).instructions)
    monkeypatch.setattr(LinearValue, "plus", counted)
    by_data, by_pointer = _unknown(accessed)
    assert len(calls) <= 4
    assert not by_data
    assert len(by_pointer) == 2_000
