"""The analyzer as a library: what it caches, when it stops, how options and markers combine."""

import re

import pytest
from cyclelens.analyzer.engine import answers
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.microarchitectures.registry import UnknownMicroarchitecture
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions, Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.simulator.failures import Cancelled

FIRST = "# cyclelens-begin first\n    imul %rax, %rax\n# cyclelens-end\n"
SECOND = "# cyclelens-begin second\n    imul $5, %rcx, %rbx\n    imul $7, %rcx, %rdx\n# cyclelens-end\n"


@pytest.fixture(scope="module")
def analyzer():
    analyzer = Analyzer()
    yield analyzer
    analyzer.close()


def figures(analysis):
    return [[item.cycles_per_iteration for item in region.predictions] for region in analysis.regions]


def codes(analysis):
    return [problem.code for problem in analysis.problems]


@pytest.fixture
def simulations(monkeypatch):
    """Counts simulations."""
    runs = []
    original = answers.simulate

    def counting(block, *arguments, **options):
        runs.append(block)
        return original(block, *arguments, **options)

    monkeypatch.setattr(answers, "simulate", counting)
    return runs


def test_regions_are_analysed_in_text_order(analyzer):
    assert figures(analyzer.analyze(FIRST + SECOND, AnalysisOptions())) == [[3.0], [2.0]]


def test_an_unchanged_region_is_not_simulated_again(simulations):
    analyzer = Analyzer()
    analyzer.analyze(FIRST + SECOND, AnalysisOptions())
    assert len(simulations) == 2
    edited = "\n\n# moved down\n" + FIRST + SECOND.replace("%rdx", "%rsi")
    analyzer.analyze(edited, AnalysisOptions())
    assert len(simulations) == 3


@pytest.mark.parametrize(
    "options",
    [
        AnalysisOptions(target=Target(microarchitectures=("HSW",))),
        AnalysisOptions(target=Target(mode=Mode.LOOP)),
        AnalysisOptions(target=Target(alignment=3)),
        AnalysisOptions(detail=Detail(trace=True)),
    ],
)
def test_everything_that_changes_the_answer_is_simulated(simulations, options):
    analyzer = Analyzer()
    analyzer.analyze(FIRST, AnalysisOptions())
    analyzer.analyze(FIRST, options)
    assert len(simulations) == 2


def test_a_text_and_its_next_version_are_remembered_and_no_more(simulations):
    analyzer = Analyzer(Workspace(cached_predictions=1))
    for text in (FIRST, SECOND, FIRST):
        analyzer.analyze(text, AnalysisOptions())
    assert len(simulations) == 2
    for text in (SECOND.replace("%rdx", "%rsi"), SECOND.replace("%rdx", "%r8"), FIRST):
        analyzer.analyze(text, AnalysisOptions())
    assert len(simulations) == 5


def test_every_instruction_knows_its_statement(analyzer):
    text = "# cyclelens-begin\nnop; nop\n.p2align 3\nadd %rax, %rbx\n# cyclelens-end\n"
    (region,) = analyzer.analyze(text, AnalysisOptions()).regions
    lines = [region.region.lines[index].line for index in region.instruction_lines]
    texts = [template.instruction.text for template in region.predictions[0].instructions]
    assert (lines[:2], lines[-1]) == ([1, 1], 3)
    assert texts[-1] == "add rbx, rax"


def test_the_counter_of_a_forced_loop_belongs_to_the_last_statement(analyzer):
    (region,) = analyzer.analyze(FIRST, AnalysisOptions(target=Target(mode=Mode.LOOP))).regions
    assert region.instruction_lines == (0, 0, 0)
    assert len(region.predictions[0].instructions) == 3
    assert "'dec r15; jnz'" in region.note


def test_a_marker_wins_over_options_unless_they_are_forced(analyzer):
    text = FIRST.replace("first", "first arch=HSW mode=loop align=16")
    (region,) = analyzer.analyze(text, AnalysisOptions()).regions
    (prediction,) = region.predictions
    assert (prediction.microarchitecture, prediction.mode, prediction.alignment) == ("HSW", "loop", 16)
    forced = AnalysisOptions(target=Target(forced=frozenset({"arch", "mode", "align"})))
    (region,) = analyzer.analyze(text, forced).regions
    (prediction,) = region.predictions
    assert (prediction.microarchitecture, prediction.mode, prediction.alignment) == ("SKL", "unroll", 0)


def test_a_marker_can_name_several_microarchitectures(analyzer):
    (region,) = analyzer.analyze(FIRST.replace("first", "first arch=skl,HSW"), AnalysisOptions()).regions
    assert [prediction.microarchitecture for prediction in region.predictions] == ["SKL", "HSW"]


def test_bad_marker_options_are_problems_at_the_marker(analyzer):
    text = "\n" + FIRST.replace("first", "first arch=Z80,SKL mode=x align=99 colour=red")
    analysis = analyzer.analyze(text, AnalysisOptions())
    assert sorted(codes(analysis)) == [
        "bad-option-value",
        "bad-option-value",
        "unknown-microarchitecture",
        "unknown-option",
    ]
    assert {problem.line for problem in analysis.problems} == {1}
    assert figures(analysis) == [[3.0]]


def test_what_other_commands_read_of_a_marker_is_no_unknown_option(analyzer):
    text = FIRST.replace("first", "first init=rsi:0x10000,rcx:100 per=8")
    assert codes(analyzer.analyze(text, AnalysisOptions())) == []


def test_only_the_wanted_region_is_analysed(analyzer):
    assert figures(
        analyzer.analyze(FIRST + SECOND, AnalysisOptions(source=SourceOptions(region="second")))
    ) == [[2.0]]
    nowhere = analyzer.analyze(FIRST, AnalysisOptions(source=SourceOptions(region="third")))
    assert (nowhere.regions, codes(nowhere)) == ((), ["no-such-region"])


def test_a_region_is_no_block_of_another_one_because_of_its_name(analyzer):
    text = FIRST + SECOND.replace("second", "first.2")
    options = AnalysisOptions(source=SourceOptions(region="first"))
    assert [each.region.name for each in analyzer.analyze(text, options).regions] == ["first"]


def test_a_region_that_cannot_be_encoded_has_a_note_and_no_figure(analyzer):
    analysis = analyzer.analyze(FIRST.replace("imul", "frob") + SECOND, AnalysisOptions())
    assert figures(analysis) == [[], [2.0]]
    assert "could not be read" in analysis.regions[0].note


def test_cancelling_stops_the_analysis():
    with pytest.raises(Cancelled):
        Analyzer().analyze(FIRST, AnalysisOptions(), cancel=lambda: True)


@pytest.mark.parametrize("debug", ["", "1"])
def test_an_error_in_one_region_leaves_the_others_alone_and_says_where_it_arose(monkeypatch, caplog, debug):
    monkeypatch.setenv("CYCLELENS_DEBUG", debug)
    original = answers.build_block

    def broken(instructions, *arguments, **options):
        if len(instructions) == 1:
            raise KeyError("oops")
        return original(instructions, *arguments, **options)

    monkeypatch.setattr(answers, "build_block", broken)
    analysis = Analyzer().analyze(FIRST + SECOND, AnalysisOptions())
    assert figures(analysis) == [[], [2.0]]
    assert codes(analysis) == ["internal-error"]
    (problem,) = analysis.problems
    assert re.search(r"KeyError: 'oops' \(test_api\.py:\d+\)", problem.message)
    assert ("Traceback" in caplog.text) == bool(debug)


@pytest.mark.parametrize(
    "options",
    [
        AnalysisOptions(target=Target(microarchitectures=())),
        AnalysisOptions(target=Target(mode="x")),  # type: ignore[arg-type]
        AnalysisOptions(target=Target(alignment=64)),
        AnalysisOptions(target=Target(microarchitectures=("Z80",))),
    ],
)
def test_bad_options_of_the_caller_are_errors(analyzer, options):
    with pytest.raises(ValueError):
        analyzer.analyze("", options)
    assert issubclass(UnknownMicroarchitecture, ValueError)


def test_the_same_input_gives_the_same_answer():
    options = AnalysisOptions(target=Target(microarchitectures=("SKL", "HSW")), detail=Detail(trace=True))
    assert Analyzer().analyze(FIRST + SECOND, options) == Analyzer().analyze(FIRST + SECOND, options)


def test_a_comment_gives_an_instruction_another_latency(analyzer):
    text = "# cyclelens-begin{}\n1: imul %rax, %rax{}\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    latency = "  # LLVM-MCA-LATENCY : 40"
    assert figures(analyzer.analyze(text.format("", ""), AnalysisOptions())) == [[3.0]]
    assert figures(analyzer.analyze(text.format("", latency), AnalysisOptions())) == [[40.0]]


def test_the_counter_that_makes_a_region_a_loop_has_its_own_latency(analyzer):
    text = "# cyclelens-begin\nnop # LLVM-MCA-LATENCY : 40\n# cyclelens-end\n"
    assert figures(analyzer.analyze(text, AnalysisOptions(target=Target(mode=Mode.LOOP)))) == [[1.0]]


def test_instructions_of_thousands_of_uops_are_refused_with_their_number(analyzer):
    text = (
        "# cyclelens-begin\n    rdrand %rax\n# cyclelens-end\n# cyclelens-begin\n    nop\n# cyclelens-end\n"
    )
    refused, other = analyzer.analyze(
        text, AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    ).regions
    assert "'rdrand rax' is 11,217 uops on SKL" in refused.note
    assert not refused.predictions
    assert other.predictions
    assert "uops on SKL" in Predictor(analyzer.workspace).predict(bytes.fromhex("0f09"), "SKL").problem
