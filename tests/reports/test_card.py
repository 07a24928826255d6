"""One instruction as Markdown."""

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.result import Finding
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.reports.card import instruction_card, region_card
from testkit.blocks import store
from testkit.factories import facts, prediction, region_analysis, template, usage


def test_the_card_holds_the_costs():
    instruction = template(
        "add rax, [rsi]",
        ports=["23", "0156"],
        fused_uops=(2,),
        latencies={("reg", 0, "reg", 0): 1, ("addr", 0, "reg", 0): 6},
    )
    block = prediction([instruction], usages=[usage({"2": 1.0, "6": 1.0}, {"DSB": 1.0})])
    card = instruction_card(region_analysis(block), 0)
    assert "uops: 2 executed (1×p23, 1×p0156), 1 issued" in card
    assert "latency: 1 to 6 cycles" in card
    assert "delivered by: DSB" in card


def test_the_card_links_to_the_source_of_the_figures():
    card = instruction_card(region_analysis(prediction([template(facts=facts("ADD (R64, M64)"))])), 0)
    assert "https://uops.info/html-instr/ADD_R64_M64.html" in card


def test_what_keeps_the_core_for_itself_takes_no_divider():
    text = "# cyclelens-begin\n    lock addq $1, (%rsi)\n    div %rcx\n# cyclelens-end\n"
    (region,) = Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=("ZEN5",)))).regions
    locked, divided = (instruction_card(region, index) for index in (0, 1))
    assert "one at a time: the next of its kind starts 20 cycles later" in locked
    assert "divider" not in locked and "divider: busy for" in divided


def test_findings_are_part_of_the_card():
    hazard = Finding("lcp-stall", Severity.WARNING, 0, "It stalls.", "LCP stall", "SKL")
    region = region_analysis(prediction([template(), template()]), findings=[hazard])
    assert "It stalls." in instruction_card(region, 0)
    assert "It stalls." not in instruction_card(region, 1)


def test_the_second_half_of_a_fused_pair_points_to_the_first():
    block = prediction([template("dec r15"), template("jnz .l", ports=[], fused_with_previous=True)])
    assert "`dec r15`" in instruction_card(region_analysis(block), 1)


def test_an_unknown_instruction_says_so():
    assert "no figures" in instruction_card(region_analysis(prediction([template(facts=None)])), 0)


def test_the_region_card_compares_microarchitectures():
    first = prediction([template()], cycles=4.0)
    second = prediction([template()], cycles=5.0, microarchitecture="HSW")
    card = region_card(region_analysis(first, second))
    assert "- **4.00 cycles/iter** on SKL, loop, latency-bound" in card
    assert "- **5.00 cycles/iter** on HSW, loop, latency-bound" in card
    assert "|" not in card, "a table is not drawn everywhere"


def test_a_card_says_who_encoded_the_instruction() -> None:
    region = region_analysis(prediction([template()]))
    assert ", encoded by Cyclelens\n" in instruction_card(region, 0)


def test_the_region_card_says_why() -> None:
    """Bounds, the largest first, and slots of the first core: a chain of 3 cycles, the others far below."""
    text = "# cyclelens-begin\n.l:\n  imul %rax, %rax\n  dec %rdx\n  jnz .l\n# cyclelens-end\n"
    detail = Detail(prices=True, account=True)
    options = AnalysisOptions(target=Target().only_on("SKL", "HSW"), detail=detail)
    (region,) = Analyzer(Workspace(store())).analyze(text, options).regions
    card = region_card(region)
    assert "\n- bounds: Dependencies 3.00, " in card
    assert "\n- issue slots: 17% used; lost: 83% to back end: " in card
    assert card.count("bounds:") == 1
    assert "bounds:" not in region_card(region, hurried=True)


def test_of_a_long_chain_a_hover_has_the_first_lines() -> None:
    body = "  imul %r8, %r8\n" * 8
    text = f"# cyclelens-begin\n.l:\n{body}  dec %rax\n  jnz .l\n# cyclelens-end\n"
    (region,) = Analyzer(Workspace(store())).analyze(text, AnalysisOptions()).regions
    chains = region_card(region).split("```")[1].splitlines()
    assert len(chains) == 8
    assert chains[-1] == "  ..."


def test_cards_speak_as_the_text_does() -> None:
    body = ".l:\n  imul %rax, %rax\n  imul %rbx, %rbx\n  dec %r15\n  jnz .l\n"
    text = f"# cyclelens-begin\n{body}# cyclelens-end\n"
    (region,) = Analyzer(Workspace(store())).analyze(text, AnalysisOptions()).regions
    assert "**`imul %rax, %rax`** on SKL" in instruction_card(region, 0)
    assert "together with `dec %r15`" in instruction_card(region, 3)
    card = region_card(region)
    assert "2 chains tie at 3.00 cycles per iteration:" in card
    assert "  2. line 4: imul %rbx, %rbx: 3 cycles for rbx" in card
