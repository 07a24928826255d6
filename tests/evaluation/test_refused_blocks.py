"""Blocks without a figure: an evaluation refuses what an analysis refuses."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.evaluation.blocks import BlockBuilder, Unpredictable
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Model, Repetition
from cyclelens.analyzer.model.options import ModelOptions

HARDWARE, PUBLISHED = ModelOptions(model=Model.HARDWARE), ModelOptions(model=Model.UICA)
CASES = {
    "a pop that moves the stack": ("ZEN3", "d9e0db3b", "fchs; fstpt (%rbx)"),
    "x87 without records": ("SKL", "dd06dd1f", "fldl (%rsi); fstpl (%rdi)"),
    "a system call": ("SKL", "480fafc3480fafc30f05", "imul %rbx, %rax; imul %rbx, %rax; syscall"),
}


@pytest.mark.parametrize("case", CASES)
def test_both_give_the_same_reason(case: str) -> None:
    core, code, text = CASES[case]
    sample = Sample(code, core, Repetition.UNROLL, 1.0)
    with pytest.raises(Unpredictable) as refused:
        BlockBuilder(HARDWARE).simulate(sample)
    lines = ["# cyclelens-begin r", *text.split("; "), "# cyclelens-end\n"]
    (region,) = (
        Analyzer()
        .analyze("\n".join(lines), AnalysisOptions(target=Target(microarchitectures=(core,))))
        .regions
    )
    assert region.predictions == ()
    reason = str(refused.value).partition(": ")[2]
    assert reason and reason in region.note


def test_the_published_model_has_its_figure() -> None:
    core, code, _ = CASES["x87 without records"]
    assert (
        BlockBuilder(PUBLISHED).simulate(Sample(code, core, Repetition.UNROLL, 1.0))[1].cycles_per_iteration
        > 0
    )
