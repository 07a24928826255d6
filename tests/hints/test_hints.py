"""Labels at the ends of lines."""

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.result import Assumption, Finding, Position
from cyclelens.analyzer.model.source import Severity
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from testkit.factories import analysis, prediction, region_analysis, template, usage


def shown(*regions, kinds=None):
    return [(hint.line, hint.label) for hint in hints(analysis(*regions), kinds)]


def finding(instruction, label, severity=Severity.INFORMATION, microarchitecture="SKL"):
    return Finding("some-code", severity, instruction, f"why {label}", label, microarchitecture)


def test_the_region_line_has_figure_microarchitecture_and_bottleneck():
    block = prediction([template()], cycles=4.0, bottlenecks=("Dependencies",))
    assert shown(region_analysis(block, first_line=7)) == [(7, "4.00 cycles/iter · SKL · latency-bound")]


def test_the_figures_of_other_positions_come_before_the_bottleneck():
    places = (Position(0, 3.0, frozenset()), Position(16, 2.5, frozenset())) * 2
    block = replace(prediction([template()], cycles=2.5), positions=places)
    (hint,) = hints(analysis(region_analysis(block)))
    assert hint.label == "2.50 cycles/iter (to 3.00 by position) · SKL · latency-bound"
    assert (
        "2.50 cycles per iteration (or 3.00 at two of four positions in memory), loop, latency-bound"
        in hint.tooltip
    )


def test_several_bottlenecks_are_named_as_far_as_they_fit():
    block = prediction([template()], cycles=4.0, bottlenecks=("Decoder", "Dependencies", "Issue", "Ports"))
    ((_, label),) = shown(region_analysis(block))
    assert label == "4.00 cycles/iter · SKL · decoder-bound and 3 more"


def test_a_region_without_prediction_says_so_and_why():
    (hint,) = hints(analysis(region_analysis(note="Nothing in it.")))
    assert (hint.label, hint.tooltip) == ("no prediction", "Nothing in it.")


def test_a_figure_that_rests_on_an_unknown_instruction_is_a_lower_bound():
    block = prediction([template(facts=None)], cycles=4.0)
    ((_, label),) = shown(region_analysis(block), kinds={"region"})
    assert label.startswith("at least 4.00 cycles/iter · SKL · no figures for add")


def test_other_microarchitectures_are_in_the_tooltip():
    first = prediction([template()], cycles=4.0)
    second = prediction([template()], cycles=5.0, microarchitecture="HSW")
    (hint,) = hints(analysis(region_analysis(first, second)))
    assert "HSW" not in hint.label
    assert "HSW: 5.00 cycles per iteration" in hint.tooltip


def test_what_is_assumed_is_in_the_tooltip():
    block = prediction([template()], assumptions=(Assumption("no-denormals", "Nothing is denormal."),))
    (hint,) = hints(analysis(region_analysis(block)), {"region"})
    assert "Assumed: Nothing is denormal." in hint.tooltip


def ports_of(templates, usages, bottlenecks=("Ports",)):
    block = prediction(templates, cycles=1.0, usages=usages, bottlenecks=bottlenecks)
    return shown(region_analysis(block), kinds={"ports"})


def test_ports_that_limit_the_figure_are_shown_with_their_use():
    usages = [usage({"0": 0.5, "1": 0.5}), usage({"0": 0.5, "1": 0.25})]
    assert ports_of([template(ports=["01"]), template(ports=["01"])], usages) == [
        (3, "p0 0.50"),
        (4, "p0 0.50"),
    ]


def test_where_ports_limit_nothing_none_are_shown():
    usages = [usage({"0": 0.5}), usage({"0": 0.5})]
    assert ports_of([template(ports=["01"])] * 2, usages, bottlenecks=("Issue",)) == []
    assert ports_of([template(ports=["01"])] * 2, [usage({"0": 0.4}), usage({"0": 0.4})]) == []


def test_an_instruction_names_all_busy_ports_that_it_may_use():
    """Equal instructions say the same, whichever port each of them got."""
    usages = [usage({"2": 1.0}), usage({"3": 1.0})]
    assert ports_of([template(ports=["23"])] * 2, usages) == [(3, "p23 1.00"), (4, "p23 1.00")]


def test_lost_cycles_are_a_bar_with_its_reason():
    text = "# cyclelens-begin\n    add $0x1234, %ax\n    dec %r15\n# cyclelens-end\n"
    found = Analyzer().analyze(text, AnalysisOptions(detail=Detail(trace=True)))
    (hint,) = hints(found, {"heat"})
    assert (hint.line, hint.label) == (1, "▇")
    assert "% of the cycles" in hint.tooltip
    assert "stay empty because of it (front end: LCP)" in hint.tooltip


def test_a_fused_branch_names_its_partner():
    block = prediction(
        [template("dec r15", fused_with_next=True), template("jnz .l", ports=[], fused_with_previous=True)]
    )
    assert shown(region_analysis(block), kinds={"fusion"}) == [(4, "fused with dec")]


def test_findings_of_the_primary_microarchitecture_are_shown_on_their_lines():
    region = region_analysis(
        prediction([template(), template()]),
        findings=[finding(1, "LCP stall"), finding(0, "elsewhere", microarchitecture="HSW")],
    )
    (hint,) = hints(analysis(region), {"stalls"})
    assert (hint.line, hint.label, hint.tooltip) == (4, "LCP stall", "why LCP stall")


def test_a_warning_is_repeated_on_the_region_line_if_there_is_room():
    region = region_analysis(
        prediction([template()], cycles=3.0, bottlenecks=("DSB",)),
        findings=[finding(0, "LCP", Severity.WARNING)],
    )
    assert shown(region, kinds={"region"}) == [(2, "3.00 cycles/iter · SKL · DSB-bound (LCP)")]


def test_hints_stand_behind_their_statement():
    region = region_analysis(prediction([template("mul rcx")]), findings=[finding(0, "slow")])
    (hint,) = hints(analysis(region), {"stalls"})
    assert hint.column == 4 + len("mul rcx")


def test_what_does_not_fit_on_the_line_goes_to_the_tooltip():
    block = prediction([template(ports=["23"])], cycles=1, usages=[usage({"2": 1.0})], bottlenecks=("Ports",))
    region = region_analysis(block, findings=[finding(0, "x" * 40), finding(0, "y" * 40)])
    line = [hint for hint in hints(analysis(region)) if hint.line == 3]
    assert [hint.label for hint in line] == ["p2 1.00", "x" * 40]
    assert f"{'y' * 40}: why {'y' * 40}" in line[0].tooltip


def test_a_statement_that_repeats_an_instruction_says_things_once():
    block = prediction(
        [template(ports=["1"])] * 2, cycles=1, usages=[usage({"1": 0.5})] * 2, bottlenecks=("Ports",)
    )
    assert shown(region_analysis(block, lines=[3, 3]), kinds={"ports"}) == [(3, "p1 0.50")]


@given(st.lists(st.text("ab", min_size=1, max_size=60), max_size=8))
def test_the_labels_of_a_line_never_exceed_the_budget(labels):
    block = prediction([template(ports=["1"])], cycles=1, usages=[usage({"1": 1.0})], bottlenecks=("Ports",))
    region = region_analysis(block, findings=[finding(0, label) for label in labels])
    found = [hint for hint in hints(analysis(region)) if hint.line == 3]
    assert sum(len(hint.label) for hint in found) + len(found) - 1 <= LINE_BUDGET
    told = " ".join(hint.label + hint.tooltip for hint in found)
    assert all(f"why {label}" in told for label in labels)


KERNEL = """# cyclelens-begin
.L:
    imul %rax, %rax
    add %rbx, %rcx
    dec %r15
    jnz .L
# cyclelens-end
"""


def test_the_chain_is_marked_where_it_limits_and_nowhere_else():
    analyzer = Analyzer()

    def chain(text):
        return [
            (hint.line, hint.label) for hint in hints(analyzer.analyze(text, AnalysisOptions()), {"chain"})
        ]

    assert chain(KERNEL) == [(2, "chain +3")]
    assert chain(KERNEL.replace("imul %rax, %rax", "xor %eax, %eax")) == []


def test_every_chain_that_ties_is_marked():
    text = KERNEL.replace("imul %rax, %rax", "imul %rax, %rax\n    imul %rbx, %rbx").replace(
        "add %rbx, ", "inc "
    )
    found = list(hints(Analyzer().analyze(text, AnalysisOptions()), {"chain"}))
    assert [(hint.line, hint.label) for hint in found] == [(2, "chain +3"), (3, "chain +3")]
    assert "2 chains tie" in found[0].tooltip


def labels(text, arch):
    options = AnalysisOptions(target=Target(microarchitectures=(arch,), alignment=0))
    found = Analyzer().analyze(f"# cyclelens-begin\n.L1:\n{text}\n jnz .L1\n# cyclelens-end\n", options)
    return [hint.label for hint in hints(found, ["rename"])]


def test_what_the_renamer_does_is_shown_where_it_does_it():
    text = (
        " mov 8(%rsp), %rax\n add $1, %rax\n mov %rax, 8(%rsp)\n mov %rdx, %rcx\n sub %rsi, %rcx\n dec %rdi"
    )
    assert labels(text, "GNR") == ["load renamed", "added at rename", "no slot"]
    assert labels(text, "SPR") == ["load renamed", "added at rename"]
    assert labels(text, "RKL") == ["load renamed"]  # inferred from uops.info (W6)
    assert labels(text, "SKL") == []


def test_a_move_from_the_decoders_takes_its_slot():
    text = "# cyclelens-begin\n mov %rdx, %rcx\n sub %rsi, %rcx\n# cyclelens-end\n"
    found = Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=("GNR",), alignment=0)))
    assert list(hints(found, ["rename"])) == []
