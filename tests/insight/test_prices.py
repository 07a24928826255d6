"""What findings cost where they are."""

from cyclelens.analyzer.api import Analyzer
from cyclelens.analyzer.insight.prices import priced
from cyclelens.analyzer.model.result import AnalysisOptions

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
    findings = priced(analyzer.experiment(region, prediction), region.findings)
    (found,) = [each for each in findings if each.code == "serializing"]
    return found, prediction.cycles_per_iteration


def test_who_waits_for_everything_before_it_has_a_price():
    found, cycles = serializing(WAITING)
    # What stays is what the instruction itself takes.
    assert found.cost is not None and 0 < found.cost < cycles
    assert f"It costs {found.cost:.2f} cycles per iteration here." in found.message


def test_it_costs_less_where_less_is_waited_for():
    cheap, _ = serializing(WAITING.replace("imul %rax, %rax", "mov %rax, %rdi"))
    dear, _ = serializing(WAITING.replace("imul %rax, %rax", "imul %rax, %rax\n    imul %rax, %rax"))
    assert cheap.cost < dear.cost
