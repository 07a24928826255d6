"""Figures by source line: every instruction counts on one line, and the sums are those of the loop."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.as_written import texts
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.source_lines import by_line, home
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.result import Finding, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Severity, SourceLine
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.factories import prediction, region_analysis, template, usage


def at(file: str, line: int, text: str = "nop") -> SourceLine:
    return SourceLine(line, 0, len(text), text, b"\x90", "object file", file=file)


def on_lines(region: RegionAnalysis, *places: tuple[str, int]) -> RegionAnalysis:
    """The region with its statements at these places."""
    lines = tuple(
        replace(line, file=file, line=number)
        for line, (file, number) in zip(region.region.lines, places, strict=True)
    )
    return replace(region, region=replace(region.region, lines=lines))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("a.c", 7), ("a.c", 5), ("b.h", 1)], ("a.c", 5)),
        # Most instructions are from the header.
        ([("a.c", 7), ("b.h", 3), ("b.h", 1)], ("b.h", 1)),
        ([("", UNKNOWN_LINE), ("a.c", 7)], ("a.c", 7)),
        ([("", UNKNOWN_LINE)], ("", UNKNOWN_LINE)),
    ],
)
def test_a_loop_is_at_home_in_the_file_of_most_of_its_instructions(
    lines: list[tuple[str, int]], expected: tuple[str, int]
) -> None:
    assert home(at(*line) for line in lines) == expected


def test_the_figures_of_a_line_are_the_sums_of_its_instructions() -> None:
    cause = Cause(Area.BACK_END, "RS", "dependency")
    account = Account(4, 10, 120, (10, 20, 30), {(cause, 0): 8, (cause, 1): 12, (cause, 2): 40})
    subject = replace(
        prediction(
            [template("add rax, rbx"), template("imul rcx, rdx"), template("mov rsi, rdi")],
            usages=[usage(issued=1.0), usage(issued=2.5), usage(issued=0.5)],
            bottlenecks=["Ports"],
        ),
        account=account,
    )
    findings = [
        Finding("lcp-stall", Severity.WARNING, 0, "", "LCP stall"),
        Finding("lcp-stall", Severity.WARNING, 1, "", "LCP stall", microarchitecture="SKL"),
        Finding("microcoded", Severity.WARNING, 1, "", "", microarchitecture="SKL"),
        Finding("serializing", Severity.WARNING, 1, "", "", microarchitecture="ZEN4"),
        Finding("no-cost", Severity.WARNING, 2, "", ""),
    ]
    region = on_lines(region_analysis(subject, findings=findings), ("a.c", 9), ("a.c", 9), ("", UNKNOWN_LINE))
    first, last = by_line(region, subject)
    assert (first.place, first.indices) == (("a.c", 9), (0, 1))
    assert first.instructions == ("add rax, rbx", "imul rcx, rdx")
    # (8 + 12) slots of four per cycle in ten iterations.
    assert (first.issued, first.lost, first.chain) == (3.5, 0.5, 0)
    # Once each, by their names if they have one, and not those of another core.
    assert first.labels == ("LCP stall", "microcoded")
    assert (last.place, last.indices, last.issued, last.lost) == (("", UNKNOWN_LINE), (2,), 0.5, 1.0)
    assert last.labels == ("no-cost",)
    without = by_line(region, replace(subject, account=None))
    assert [each.lost for each in without] == [0.0, 0.0]


def test_lines_come_in_order_and_those_without_a_place_last() -> None:
    subject = prediction([template()] * 4, bottlenecks=["Ports"])
    region = on_lines(region_analysis(subject), ("", UNKNOWN_LINE), ("b.h", 2), ("a.c", 11), ("a.c", 3))
    assert [each.place for each in by_line(region, subject)] == [
        ("a.c", 3), ("a.c", 11), ("b.h", 2), ("", UNKNOWN_LINE)
    ]  # fmt: skip


def test_a_line_adds_to_the_chain_what_its_instructions_add() -> None:
    # imul rax, rbx (3 cycles); add rax, rcx (1); imul rdx, rdi (3, a shorter chain); dec r15; jnz
    code = "480fafc34801c8480fafd749ffcf75f0"
    block, core = block_of(code, "SKL"), registry.get("SKL")
    subject = explain(block, core, simulate(block, core))
    assert subject.bottlenecks == ("Dependencies",)
    region = on_lines(region_analysis(subject), *(("a.c", line) for line in (1, 1, 2, 3, 3)))
    assert [each.chain for each in by_line(region, subject)] == [4, 0, 0]
    elsewhere = on_lines(region, *(("a.c", line) for line in (1, 2, 2, 3, 3)))
    assert [each.chain for each in by_line(elsewhere, subject)] == [3, 1, 0]
    # Chains are no cost where something else limits the loop.
    assert {each.chain for each in by_line(region, replace(subject, bottlenecks=("Ports",)))} == {0}


def test_of_chains_that_tie_a_line_counts_for_the_one_that_it_lengthens_most() -> None:
    # imul rax, rbx; imul rdx, rbx; dec r15; jnz: two chains of three cycles
    block, core = block_of("480fafc3480fafd349ffcf75f3", "SKL"), registry.get("SKL")
    subject = replace(explain(block, core, simulate(block, core)), bottlenecks=("Dependencies",))
    region = on_lines(region_analysis(subject), *(("a.c", line) for line in (1, 1, 2, 2)))
    assert [each.chain for each in by_line(region, subject)] == [3, 0]


def test_an_instruction_reads_as_in_the_text_unless_its_statement_makes_several() -> None:
    subject = prediction([template(text) for text in ("add rax, rbx", "push rcx", "push rdx", "nop")])
    region = region_analysis(subject, statements=["ADD  rax,  rbx", "push_all", "nop"])
    # One statement for the two pushes.
    region = replace(region, instruction_lines=(0, 1, 1, 2))
    assert texts(region, subject) == ("ADD rax, rbx", "push rcx", "push rdx", "nop")
