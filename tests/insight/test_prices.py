"""The simulated cost of findings."""

from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import experiment as experiment_with
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.prices import priced
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target

WAITING = """\
# cyclelens-begin waiting
.L1:
    imul %rax, %rax
    lfence
    add %rdx, %rbx
    dec %rcx
    jnz .L1
# cyclelens-end
"""


def serializing(text):
    """The finding with its price, and the figure."""
    analyzer = Analyzer()
    (region,) = analyzer.analyze(text, AnalysisOptions()).regions
    prediction = region.predictions[0]
    tried = experiment_with(analyzer.workspace, region, prediction)
    findings = priced(tried, region.findings, wording.unit_in_words(prediction))
    (found,) = [each for each in findings if each.code == "serializing"]
    return found, prediction.cycles_per_iteration


def test_who_waits_for_everything_before_it_has_a_price():
    found, cycles = serializing(WAITING)
    # What stays is what the instruction itself takes.
    assert found.cost is not None and 0 < found.cost < cycles
    assert f"It costs {found.cost:.2f} cycles per iteration here." in found.message


def test_a_price_has_the_unit_of_the_figure():
    """A function is called: its findings cost cycles per call, not per iteration."""
    text = "f:\n    movq $0x12345678, 64(%rsp)\n    movq $0x12345678, 128(%rsp)\n    ret\n"
    options = AnalysisOptions(target=Target(microarchitectures=("ZEN3",)), detail=Detail(prices=True))
    (region,) = Analyzer().analyze(text, options).regions
    prices = {each.price for each in region.findings if each.code == "long-instruction"}
    assert wording.unit(region.predictions[0]) == "cycles/call"
    assert prices and all(price.endswith("cycles per call here.") for price in prices)


def test_it_costs_less_where_less_is_waited_for():
    cheap, _ = serializing(WAITING.replace("imul %rax, %rax", "mov %rax, %rdi"))
    dear, _ = serializing(WAITING.replace("imul %rax, %rax", "imul %rax, %rax\n    imul %rax, %rax"))
    assert cheap.cost < dear.cost


def findings_of(code, body, core, mode="loop"):
    """Findings of a kind with their prices, and the figure."""
    text = f"# cyclelens-begin region mode={mode}\n{body}# cyclelens-end\n"
    (region,) = (
        Analyzer()
        .analyze(text, AnalysisOptions(target=Target(microarchitectures=(core,)), detail=Detail(prices=True)))
        .regions
    )
    found = [each for each in region.findings if each.code == code]
    return found, region.predictions[0].cycles_per_iteration


LOOP = "1:\n{}    dec %r15\n    jnz 1b\n"
IN_PIECES = "    movl %eax, (%rdi)\n    movl %eax, 4(%rdi)\n    mov (%rdi), %rax\n"
MOVES = (
    "    mov %rax, %rbx\n    mov %rbx, %rcx\n    mov %rcx, %rdx\n    mov %rdx, %rsi\n    lea 1(%rsi), %rax\n"
)
LOADS = "    mov (%rdi), %eax\n    mov {0}(%rdi), %ebx\n    mov {1}(%rdi), %ecx\n    mov {2}(%rdi), %edx\n"


def test_what_does_not_forward_costs_what_the_same_size_saves():
    (found,), cycles = findings_of("failed-forwarding", LOOP.format(IN_PIECES), "ZEN5")
    whole = IN_PIECES.replace("movl %eax, 4(%rdi)", "nopl (%rax)").replace("movl %eax", "mov %rax")
    none, forwarded = findings_of("failed-forwarding", LOOP.format(whole), "ZEN5")
    assert not none
    assert found.cost == pytest.approx(cycles - forwarded, abs=1)
    assert found.message.endswith(f"It costs {found.cost:.2f} cycles per iteration here.")


def test_a_load_taken_for_anothers_costs_what_another_distance_saves():
    pair = "    mov %rax, (%rsi)\n    mov {}(%rsi), %rbx\n"
    (found,), cycles = findings_of("false-renaming", LOOP.format(pair.format(2048)), "ZEN5")
    none, apart = findings_of("false-renaming", LOOP.format(pair.format(2056)), "ZEN5")
    assert not none
    assert found.cost == pytest.approx(cycles - apart, abs=0.01)
    assert found.message.endswith(f"It costs {found.cost:.2f} cycles per iteration here.")


def test_a_crowded_window_costs_what_fewer_entries_in_it_save():
    twelve = 12 * "    mov %eax, %ebx\n"
    (found,), cycles = findings_of("crowded-window", ".p2align 6\n" + LOOP.format(twelve), "ZEN5")
    assert (cycles, found.cost) == pytest.approx((3.0, cycles - 13 / 8), abs=0.01)
    eight = 8 * "    mov %eax, %ebx\n"
    (found,), cycles = findings_of("crowded-window", ".p2align 6\n" + LOOP.format(eight), "ZEN3")
    assert (cycles, found.cost) == pytest.approx((2.0, cycles - 9 / 6), abs=0.01)
    # Something else takes nearly as long.
    chains = "    imul %rcx, %rcx\n" + 11 * "    mov %eax, %ebx\n"
    (found,), _ = findings_of("crowded-window", ".p2align 6\n" + LOOP.format(chains), "ZEN5")
    assert found.cost == 0


def test_loads_of_one_word_cost_what_other_offsets_save():
    found, cycles = findings_of("load-word", LOOP.format(LOADS.format(64, 128, 192)), "GNR")
    none, apart = findings_of("load-word", LOOP.format(LOADS.format(68, 136, 204)), "GNR")
    assert found and not none
    assert [each.cost for each in found] == pytest.approx([cycles - apart] * len(found), abs=0.01)
    sentence = f"The {len(found)} findings of this kind together cost {found[0].cost:.2f} cycles"
    assert all(sentence in each.message for each in found)


def test_uops_that_bring_the_stack_pointer_up_to_date_cost_where_slots_are_short():
    """Two uops, where four are issued in a cycle and nothing else limits, and where something does."""
    stack = "    push %rax\n    lea (%rsp), %rbx\n    pop %rcx\n    lea (%rsp), %rdx\n"
    crowded, _ = findings_of("stack-sync", stack + "    nop\n" * 40, "SKL", mode="unroll")
    assert len(crowded) == 2
    assert [each.cost for each in crowded] == pytest.approx([2 / 4] * 2, abs=0.05)
    waiting = "    imul %rax, %rax\n" * 4
    idle, _ = findings_of("stack-sync", stack + waiting, "SKL", mode="unroll")
    assert [each.cost for each in idle] == [0, 0]


def test_a_long_instruction_costs_what_a_shorter_one_saves():
    """It ends a group of decoders that a shorter one fits into."""
    body = "    movq $0x12345678, 0x12345678(%rdi,%rsi)\n" + "    nop\n" * 4
    (found,), cycles = findings_of("long-instruction", body, "ZEN5", mode="unroll")
    none, shorter = findings_of("long-instruction", body.replace("0x12345678(", "8("), "ZEN5", mode="unroll")
    assert not none
    assert found.cost == pytest.approx(cycles - shorter, abs=0.01)


def test_a_part_of_a_word_costs_what_a_whole_one_saves():
    """Measured: 5.0 and 2.0 cycles."""
    body = "    mov %al, (%rbp)\n    mov %eax, 32(%rbp)\n"
    (found,), cycles = findings_of("partial-word-store", LOOP.format(body), "ZEN3")
    none, whole = findings_of("partial-word-store", LOOP.format(body.replace("%al", "%eax")), "ZEN3")
    assert not none
    assert (cycles, found.cost) == pytest.approx((5.0, cycles - whole), abs=0.05)


def test_an_index_costs_the_slot_that_it_takes():
    """Measured among 24 NOPs: 4.40 and 4.18 cycles."""
    body = "    cmp (%rsi,%rcx), %r13\n" + "    nop\n" * 24
    (found,), cycles = findings_of("split-by-index", body, "ZEN3", mode="loop")
    none, plain = findings_of("split-by-index", body.replace("%rsi,%rcx", "%rsi"), "ZEN3", mode="loop")
    assert not none
    assert found.cost == pytest.approx(cycles - plain, abs=0.01)
    assert found.cost == pytest.approx(1 / 6, abs=0.01)


def test_moves_that_take_a_port_cost_what_their_chain_waits_for_them():
    found, cycles = findings_of("move-not-eliminated", LOOP.format(MOVES), "SKL")
    assert len(found) == 3
    assert {each.cost for each in found} == {found[0].cost}
    assert 1 < found[0].cost < cycles - 1, "the addition stays"


EXAMPLES = {
    "lcp-stall": ("    add $0x1234, %ax\n    dec %rbx\n", "SKL", "unroll"),
    "long-instruction": ("    movq $0x12345678, 0x12345678(%rdi,%rsi)\n    nop\n    nop\n", "ZEN5", "unroll"),
    "jcc-erratum": (LOOP.format("    nop\n" * 27), "SKL", "loop alignment=0"),
    "unknown-instruction": (LOOP.format("    clac\n    add %rbx, %rax\n"), "SKL", "loop"),
    "serializing": (LOOP.format("    lfence\n"), "SKL", "loop"),
    "microcoded": (LOOP.format("    cld\n"), "HSW", "loop"),
    "unlamination": (LOOP.format("    vaddps (%rsi,%rdi), %ymm1, %ymm0\n"), "HSW", "loop"),
    "register-merge": (LOOP.format("    mov $1, %ah\n    add %eax, %ebx\n"), "SKL", "loop"),
    "stack-sync": ("    push %rax\n    lea (%rsp), %rbx\n" + "    nop\n" * 40, "SKL", "unroll"),
    "move-not-eliminated": (LOOP.format(MOVES), "SKL", "loop"),
    "load-word": (LOOP.format(LOADS.format(64, 128, 192)), "GNR", "loop"),
    "failed-forwarding": (LOOP.format(IN_PIECES), "ZEN5", "loop"),
    "false-renaming": (LOOP.format("    mov %rax, (%rsi)\n    mov 2048(%rsi), %rbx\n"), "ZEN5", "loop"),
    "page-aliasing": (LOOP.format("    mov %rax, (%rsi)\n    mov 4096(%rsi), %rbx\n"), "SKL", "loop"),
    "crowded-window": (LOOP.format("    nopl 0(%rax)\n" * 12), "ZEN5", "loop"),
    "partial-word-store": (LOOP.format("    mov %al, (%rdi)\n    mov %eax, 32(%rdi)\n"), "ZEN3", "loop"),
    "split-by-index": (LOOP.format("    cmp (%rsi,%rcx), %rax\n"), "ZEN3", "loop"),
    "sse-avx-mix": (LOOP.format("    vpaddd %ymm5, %ymm4, %ymm4\n    paddd %xmm0, %xmm2\n"), "ZEN4", "loop"),
    "straddling-loop": (LOOP.format("    mov %rax, %rbx\n" * 10), "ZEN5", "loop alignment=32"),
}
"""For each hazard a text, a core and a mode with which it is found."""


@pytest.mark.parametrize("code", EXAMPLES)
def test_every_hazard_says_its_price_or_that_it_is_not_known(code):
    found, _ = findings_of(code, *EXAMPLES[code])
    assert found
    for each in found:
        priced = f"{each.cost:.2f}" if each.cost is not None else "on top of the figure"
        assert "cost" in each.message and priced in each.message


def test_no_hazard_is_without_an_example():
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    codes = page.split("Codes are stable:\n`")[1].split("`")[0].split()
    assert set(codes) == {*EXAMPLES, "missing-extension"}, "where an extension is missing there is no figure"
