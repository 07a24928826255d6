"""A constant in a register shortens an instruction that is too long for the decoders."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.rewrites.proposal import Fix, apply
from cyclelens.analyzer.rewrites.registry import fixes

OTHER = "cmpq $7, 264(%rsp)"
LONG = {
    "a constant that clears the upper half": (
        "cmpq $5, 256(%rsp)",
        ["mov $5, %r11d", "cmpq %r11, 256(%rsp)"],
    ),
    "a negative constant of 64 bits": (
        "cmpq $-5, 256(%rsp)",
        ["mov $-5, %r11", "cmpq %r11, 256(%rsp)"],
    ),
    "a negative constant of 32 bits": (
        "movl $-2, 256(%rsp,%rsi,2)",
        ["mov $0xfffffffe, %r11d", "movl %r11d, 256(%rsp,%rsi,2)"],
    ),
    "a byte": ("cmpb $-2, 256(%rsp,%r9,2)", ["mov $254, %r11d", "cmpb %r11b, 256(%rsp,%r9,2)"]),
}


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def offered(analyzer: Analyzer, statements: Sequence[str], options: str) -> tuple[str, list[Fix]]:
    """A text with a region, and the rewrites that are offered for its long instructions."""
    text = "\n".join([f"# cyclelens-begin x {options}", *statements, "# cyclelens-end", ""])
    found = fixes(analyzer, text, AnalysisOptions(), analyzer.analyze(text, AnalysisOptions()))
    return text, [fix for fix in found if fix.proposal.code == "long-instruction"]


@pytest.mark.parametrize("case", LONG)
def test_a_constant_makes_way_for_the_decoders(case: str, analyzer: Analyzer) -> None:
    """The load is next to it, because code from the decoders may run once."""
    statement, expected = LONG[case]
    text, fixes_of = offered(analyzer, [statement, OTHER], "mode=unroll arch=ZEN3")
    afterwards = [apply(text, fix.proposal.edits).split("\n")[1:-2] for fix in fixes_of]
    assert [*expected, OTHER] in afterwards
    assert all(fix.after < fix.before and "(which the region" in fix.proposal.title for fix in fixes_of)


@pytest.mark.parametrize(
    ("statements", "options"),
    [
        (["lock addq $5, 256(%rsp)"], "mode=unroll arch=ZEN3"),  # a prefix comes first
        (["cmpq $5, 256(%rsp)", "cmpq $6, 256(%rsp)"], "mode=unroll arch=ZEN4"),  # short enough
        # From the op cache.
        ([".L1:", "cmpq $5, 256(%rsp)", "cmpq $6, 256(%rsp)", "dec %r15", "jnz .L1"], "arch=ZEN3"),
    ],
)
def test_a_constant_stays_where_the_decoders_do_not_mind(
    statements: list[str], options: str, analyzer: Analyzer
) -> None:
    assert not offered(analyzer, statements, options)[1]
