"""A function that overwrites its arguments: the figure of calls that follow each other, and of calls whose
caller sets the arguments anew."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import calls
from cyclelens.analyzer.insight.assumption_codes import CARRIED_ARGUMENTS
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.result import Assumption, Prediction

PRODUCT = "mov (%rsi), %rax\n mulq (%rdx)\n mov %rax, (%rdi)\n mov %rdx, 8(%rdi)"
"""RDX is the second pointer, and then the upper half of the product."""


def _analysed(body: str, core: str = "SKL") -> tuple[Prediction, list[Assumption]]:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)), source=SourceOptions())
    analysis = Analyzer().analyze(f" .globl f\nf: {body}\n ret\n", options)
    (prediction,) = analysis.regions[0].predictions
    return prediction, [each for each in prediction.assumptions if each.code == CARRIED_ARGUMENTS]


@pytest.mark.parametrize("core", ["SKL", "GNR", "ZEN4"])
def test_the_chain_through_an_argument_is_priced(core: str) -> None:
    prediction, (carried,) = _analysed(PRODUCT, core)
    # Load and multiplication follow each other through all calls, as far as the report's figure goes.
    assert prediction.cycles_per_iteration >= 7
    assert float(carried.values["cycles"]) <= 4
    assert "in rdx what the call before left there" in carried.message


def test_a_caller_that_sets_the_argument_itself_pays_the_same() -> None:
    _, (carried,) = _analysed(PRODUCT)
    whole, none = _analysed(f"{PRODUCT}\n mov $1, %edx")
    assert none == []
    assert carried.values["cycles"] == pytest.approx(whole.cycles_per_iteration, abs=0.5)


@pytest.mark.parametrize(
    "body",
    [
        "lea (%rdi,%rsi), %rax",
        "mov %rdi, %rax\n imul %rsi, %rax",
        "mov (%rsi), %rdx\n mulx (%rdi), %rax, %rcx",
        "imul %r10, %r10",
        "add $8, %rdi",
    ],
    ids=["no argument written", "a copy", "written first", "no argument", "no slower than the rest"],
)
def test_other_functions_have_one_figure(body: str) -> None:
    assert _analysed(body)[1] == []


def test_vector_arguments() -> None:
    prediction, (carried,) = _analysed("vaddsd %xmm1, %xmm0, %xmm0\n vmulsd %xmm0, %xmm0, %xmm0")
    assert prediction.cycles_per_iteration == pytest.approx(8, abs=0.1)
    assert float(carried.values["cycles"]) < 4
    assert _analysed("mulsd %xmm1, %xmm0")[1]


@pytest.mark.parametrize("register", [*calls._GENERAL, *calls._VECTORS])
@pytest.mark.parametrize("uses_vex", [False, True])
def test_the_instruction_that_sets_an_argument(register: str, uses_vex: bool) -> None:
    (instruction,) = decode(calls._set(register, uses_vex))
    named = {each for each in instruction.registers if each}
    assert named <= {register, f"E{register[1:]}", f"{register}D"}
    assert instruction.mnemonic == ("mov" if register in calls._GENERAL else "v" * uses_vex + "xorps")
