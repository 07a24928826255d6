"""Suggestions: the edited text has the promised figure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import experiment as experiment_with
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.insight.accumulators import Accumulator
from cyclelens.analyzer.insight.as_written import PlacedInstruction
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.sensitivity import ChangeKind, _splits, explore, helpful
from cyclelens.analyzer.insight.whatif import BlockEdit, Experiment
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, store
from testkit.narrowing import some

LOAD = "    vmovups {offset}(%rsi), %ymm15\n"
FMA = LOAD + "    vfmadd231ps {offset}(%rdi), %ymm15, %ymm{number}\n"

PLACES = [PlacedInstruction(f"line {n}", name) for n, name in enumerate(("mul", "add", "dec", "jnz"), 1)]


def body(*numbers: int) -> str:
    """Multiply-adds of neighbouring elements into these registers, and the step of the pointers."""
    tail = f"    add ${32 * len(numbers)}, %rsi\n    add ${32 * len(numbers)}, %rdi\n"
    lines = (FMA.format(offset=32 * at, number=number) for at, number in enumerate(numbers))
    return "".join(lines) + tail


def loop(*bodies: str, times: int = 1) -> str:
    """A loop whose counter counts ``times`` iterations of the original at once."""
    count = "dec %rcx" if times == 1 else f"sub ${times}, %rcx"
    return f"# cyclelens-begin a\n.L:\n{''.join(bodies)}    {count}\n    jnz .L\n# cyclelens-end\n"


def analysed(text: str, name: str = "SKL"):
    """The region of a text, which has no problem, at the beginning of a 64-byte line."""
    analyzer = Analyzer(Workspace(store()))
    analysis = analyzer.analyze(text, AnalysisOptions(target=Target(microarchitectures=(name,), alignment=0)))
    assert not [problem for problem in analysis.problems if problem.severity == "error"]
    (region,) = analysis.regions
    return analyzer, region, region.predictions[0]


def promised(text: str, name: str = "SKL") -> dict[str, float]:
    """What helps, in words, with the figure that it is said to lead to."""
    analyzer, region, prediction = analysed(text, name)
    experiment = experiment_with(analyzer.workspace, region, prediction)
    places = [PlacedInstruction(f"line {index}", "code") for index in range(len(prediction.instructions))]
    found = helpful([tried for tried, _ in explore(experiment, experiment.baseline(), places)])
    return {tried.change.words: some(tried.result).cycles_per_iteration for tried in found}


def figure(text: str, name: str = "SKL") -> float:
    return analysed(text, name)[2].cycles_per_iteration


# One register, two chained additions of it: the text, the promise, and the text with the edit made.
ONE, TWO = body(0, 0), body(0, 1)
SPLITS = {
    "two turns within the body": (loop(ONE), "2 accumulators in place of ymm0", loop(TWO), 1, 4.00),
    "the body twice": (
        loop(ONE),
        "4 accumulators in place of ymm0, unrolled 2 times",
        loop(body(0, 1, 2, 3), times=2),
        2,
        2.00,
    ),
    "two chains that tie": (
        loop(TWO),
        "4 accumulators in place of ymm0 and ymm1, unrolled 2 times",
        loop(body(0, 1, 2, 3), times=2),
        2,
        2.00,
    ),
    "an integer product": (
        loop("    imul (%rsi), %rax\n    add $8, %rsi\n"),
        "2 accumulators in place of rax, unrolled 2 times",
        loop("    imul (%rsi), %rax\n    imul 8(%rsi), %rdx\n    add $16, %rsi\n", times=2),
        2,
        1.50,
    ),
    "an unused destination": (
        loop("    popcnt %rax, %rbx\n"),
        "rbx cleared before line 0: code",
        loop("    xor %ebx, %ebx\n    popcnt %rax, %rbx\n"),
        1,
        1.00,
    ),
    "an unused upper part": (
        loop("    cvtsi2sd %rax, %xmm0\n    mulsd %xmm1, %xmm0\n"),
        "xmm0 cleared before line 0: code (its upper part becomes zero)",
        loop("    xorps %xmm0, %xmm0\n    cvtsi2sd %rax, %xmm0\n    mulsd %xmm1, %xmm0\n"),
        1,
        1.25,
    ),
    "either source": (
        loop("    vaddsd %xmm3, %xmm2, %xmm3\n    vmaxpd (%rsi), %ymm4, %ymm4\n    add $8, %rsi\n"),
        "4 accumulators in place of xmm3 and ymm4, unrolled 2 times",
        loop(
            "    vaddsd %xmm3, %xmm2, %xmm3\n    vmaxpd (%rsi), %ymm4, %ymm4\n"
            "    vaddsd %xmm5, %xmm2, %xmm5\n    vmaxpd 8(%rsi), %ymm6, %ymm6\n    add $16, %rsi\n",
            times=2,
        ),
        2,
        2.00,
    ),
}


@pytest.mark.parametrize(("text", "change", "edited", "iterations", "cycles"), SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("name", ["SKL", "HSW"])
def test_the_edit_keeps_the_promise(text, change, edited, iterations, cycles, name):
    promise = promised(text, name)[change]
    assert figure(edited, name) / iterations == pytest.approx(promise, abs=0.01)
    if name == "SKL":
        assert promise == pytest.approx(cycles, abs=0.01)


@pytest.mark.parametrize("times", [2, 4, 8])
@pytest.mark.parametrize(
    "line", ["nopw 0x1000(%rax,%rax)", "addl $1000000, (%rsi)\n    add $4, %rsi", "imul %rbx, %rax"]
)
def test_an_unrolled_loop_is_that_of_its_text(line, times):
    """With another form of the jump, where it is far."""
    lines = f"    {line}\n" * 5
    analyzer, region, prediction = analysed(loop(lines))
    promise = (
        experiment_with(analyzer.workspace, region, prediction)
        .edited(BlockEdit(times=times))
        .cycles_per_iteration
    )
    assert figure(loop(lines * times, times=times)) / times == pytest.approx(promise, abs=0.01)


def test_removed_lines_are_removed():
    lines = TWO.splitlines(keepends=True)
    promises = promised(loop(TWO))
    assert promises["without line 1 and line 3"] == figure(loop(lines[0], lines[2], *lines[4:]))


def test_chains_that_tie_are_no_help_alone():
    """Of the single changes only what splits both helps."""
    found = promised(loop(TWO))
    assert set(found) == {
        "4 accumulators in place of ymm0 and ymm1, unrolled 2 times",
        "without line 1 and line 3",
    }


@pytest.mark.parametrize(
    "line",
    [
        "imul %rax, %rax",  # a power
        "imul $3, %rax",  # a power of a constant
        "vfmadd213ps %ymm2, %ymm1, %ymm0",  # Horner's scheme: the sum is multiplied
        "vsubps %ymm0, %ymm1, %ymm0",  # another sign in every iteration
        "vaddps %ymm0, %ymm0, %ymm0",
        "adc %rbx, %rax",  # waits for the carry, too
        "add (%rax), %rax",  # an address
        "xor %rax, %rbx\n    mov %rbx, %rax",
        "vaddps %ymm1, %ymm0, %ymm0\n    vmovups %ymm0, (%rdi)",  # every sum is stored
        "vaddps %ymm1, %ymm0, %ymm0\n    vmulps %ymm1, %ymm0, %ymm0",  # two operations
    ],
)
def test_only_sums_and_the_like_can_be_split(line):
    analyzer, region, prediction = analysed(loop(f"    {line}\n"))
    assert experiment_with(analyzer.workspace, region, prediction).accumulators == ()


def test_registers_may_run_out():
    """Fifteen sums leave one register: nothing can be split, and nothing is promised."""
    lines = "".join(f"    vaddps %ymm15, %ymm{number}, %ymm{number}\n" for number in range(15))
    assert not [change for change in promised(loop(lines)) if "accumulators" in change]


def experiment(code: str, model: ModelOptions = PUBLISHED) -> Experiment:
    block, parameters = block_of(code, "SKL", options=model), registry.get("SKL")
    return Experiment(
        explain(block, parameters, simulate(block, parameters, options=model)), store(), options=model
    )


def test_nothing_is_promised_that_no_edit_does():
    """imul rax, rax; add rbx, rbx; dec r15; jnz: the multiplication can be left out, and that is all."""
    subject = experiment("480fafc04801db49ffcf75f4")
    tried = [each for each, _ in explore(subject, subject.baseline(), PLACES)]
    (only,) = helpful(tried)
    assert (only.change.words, only.change.kind, some(only.result).cycles_per_iteration) == (
        "without line 1: mul",
        ChangeKind.REMOVAL,
        1,
    )


def test_with_resources_larger_ones_are_tried_too():
    subject = experiment("480fafc04801db49ffcf75f4", ModelOptions(resources=True))
    tried = [each for each, _ in explore(subject, subject.baseline(), PLACES)]
    assert "store_buffer_size 112 instead of 56" in [each.change.words for each in tried]


def test_how_much_is_still_to_come_goes_down_to_nothing():
    subject = experiment("480fafc04801db49ffcf75f4")
    left = [left for _, left in explore(subject, subject.baseline(), PLACES)]
    assert left[-1] == 0 and len(left) > 5


def test_pairs_are_counted_down_after_the_single_changes():
    """imul rax, rax; imul rbx, rbx; dec r15; jnz: two chains as long as each other."""
    subject = experiment("480fafc0480fafdb49ffcf75f3")
    left = [left for _, left in explore(subject, subject.baseline(), PLACES)]
    pairs = left.index(0) + 1
    assert left == [*range(pairs)[::-1], *range(len(left) - pairs)[::-1]] and len(left) > pairs


def test_what_is_no_loop_is_only_split_where_its_body_stays_one() -> None:
    """Two and four registers for sums of two and four updates need no second copy; eight do."""
    chain = ((0, 4.0),)
    for updates, whole in ((1, []), (2, [2]), (4, [2, 4]), (6, [2]), (8, [2, 4, 8])):
        subject: Any = SimpleNamespace(
            prediction=SimpleNamespace(chain=chain),
            accumulators=(Accumulator("XMM0", "ymm0", tuple(range(updates))),),
            unrolls=False,
        )
        assert [registers for ((_, registers),) in _splits(subject)] == whole
        subject.unrolls = True
        assert [registers for ((_, registers),) in _splits(subject)] == [2, 4, 8]


def test_accumulators_on_the_critical_chain_are_also_split_alone() -> None:
    one, other = Accumulator("XMM0", "ymm0", (0,)), Accumulator("XMM1", "ymm1", (1,))
    subject: Any = SimpleNamespace(
        prediction=SimpleNamespace(chain=((1, 4.0),)), accumulators=(one, other), unrolls=True
    )
    tried = [tuple(each for each, _ in split) for split in _splits(subject)]
    assert tried == 3 * [(other,)] + 3 * [(one, other)]
    subject.prediction.chain = ()
    assert [tuple(each for each, _ in split) for split in _splits(subject)] == 3 * [(one, other)]


def test_two_changes_save_nothing_together_that_they_save_apart() -> None:
    """Each addition of a chain takes a cycle, and two of them take two."""
    analyzer, region, prediction = analysed(loop("    add %rax, %rax\n" * 4))
    experiment = experiment_with(analyzer.workspace, region, prediction)
    places = [PlacedInstruction(f"line {index}", "add") for index in range(len(prediction.instructions))]
    tried = [each for each, _ in explore(experiment, experiment.baseline(), places)]
    alone = [each.saves for each in tried if len(each.change.edit.removed) == 1]
    both = [each for each in tried if len(each.change.edit.removed) == 2]
    assert alone[:4] == pytest.approx([1.0] * 4)
    assert both and not any(each.saves for each in both)
