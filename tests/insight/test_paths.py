"""Paths through regions that branch within themselves: worked examples of shares, executions and sums."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import paths
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import END, Branching, JumpPlace


def branching(passed: list[int | None], taken: list[int | None], **more: object) -> Branching:
    """A loop whose jumps stand on the lines 0, 1 ... and go to the labels to0, to1 ..."""
    count = len(passed)
    names = tuple(f"k.{number}" for number in range(1, count + 1))
    jumps = tuple(JumpPlace(line, f"jz to{line}") for line in range(count))
    given = {"paths": (), "entry": 0} | more
    return Branching("k", 0, 9, {}, True, names, tuple(passed), tuple(taken), jumps, **given)  # type: ignore[arg-type]


DIAMOND = branching([1, 2, END], [2, None, None], paths=((0, 1, 2), (0, 2)))
TWO_FORKS = branching([1, 2, END], [2, END, None], paths=((0, 1, 2), (0, 1), (0, 2)))
NESTED = branching([1, 2, END], [None, 1, None])


def test_shares_are_read_in_order_and_by_place() -> None:
    assert paths.parse_shares("0.9", DIAMOND) == (0.9,)
    assert paths.parse_shares("25%, 1", TWO_FORKS) == (0.25, 1.0)
    assert paths.parse_shares("to1:0.5", TWO_FORKS) == (None, 0.5)
    assert paths.parse_shares("2:0.5,1:0", TWO_FORKS) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.9", "taken=0.9 has 1 share for 2: jz to0 (line 1), jz to1 (line 2)"),
        ("0.1,1.5", "'1.5' is not a share"),
        ("0.1,often", "'often' is not a share"),
        ("nan,0", "'nan' is not a share"),
        ("to7:0.5", "'to7:0.5' is not PLACE:SHARE for one of its branches"),
    ],
)
def test_bad_shares_are_explained(text: str, message: str) -> None:
    with pytest.raises(paths.SharesError, match=re.escape(message)):
        paths.parse_shares(text, TWO_FORKS)


def test_the_share_of_a_way_is_that_of_all_its_branches() -> None:
    # Never at the first branch, then at the second; neither; at the first.
    assert paths.shares_of_ways(TWO_FORKS, (0.5, 0.2)) == (0.4, 0.1, 0.5)
    assert paths.shares_of_ways(TWO_FORKS, (1.0, None)) == (None, None, 1.0)


@pytest.mark.parametrize(
    ("region", "shares", "expected"),
    [
        (DIAMOND, (0.9,), (1, 0.1, 1)),
        (TWO_FORKS, (0.5, 0.2), (1, 0.5, 0.9)),
        # Nine of ten times the loop within goes around again: ten times in all.
        (NESTED, (0.9,), (1, 10, 1)),
        (NESTED, (1.0,), None),
        (DIAMOND, (None,), None),
    ],
)
def test_blocks_are_executed_as_often_as_their_branches_say(
    region: Branching, shares: paths.Shares, expected: tuple[float, ...] | None
) -> None:
    counts = paths.executions(region, shares)
    assert counts == (None if expected is None else pytest.approx(expected))


TEXT = """\
# cyclelens-begin k {}
top:
  mov (%rdi), %rax
  test %rax, %rax
  jz skip
  imul %rax, %rbx
  imul %rbx, %rbx
skip:
  add $8, %rdi
  cmp %rsi, %rdi
  jne top
# cyclelens-end
"""


def analysed(
    options: str = "", taken: tuple[tuple[str, str], ...] = (), region: str | None = None
) -> Analysis:
    chosen = AnalysisOptions(SourceOptions(region=region), Target(alignment=0, taken=taken))
    return Analyzer().analyze(TEXT.format(options), chosen)


def test_a_region_is_given_along_one_way_and_the_other_one_is_named() -> None:
    (region,) = analysed().regions
    (prediction,) = region.predictions
    # Two multiplications behind each other, three cycles each; without them two taken branches.
    assert (region.region.name, prediction.cycles_per_iteration, prediction.mode) == ("k", 6.0, "loop")
    (path,) = (each for each in prediction.assumptions if each.code == "inner-branch")
    assert path.message == "jz skip never jumps; if it always does: 2.00 cycles/iter."
    assert [prediction.instructions[index].instruction.mnemonic for index in path.instructions] == ["jz"]
    assert path.values == {"ways": 2, "least_of_others": 2.0, "most_of_others": 2.0}
    # It is not out of the region.
    assert "predicted-branches" not in [each.code for each in prediction.assumptions]


def test_the_likelier_way_is_given_and_the_average() -> None:
    for analysis in (analysed("taken=0.9"), analysed("taken=0", taken=(("", "1"), ("k", "skip:90%")))):
        (region,) = analysis.regions
        (prediction,) = region.predictions
        assert prediction.cycles_per_iteration == 2.0
        assert [line.text for line in region.region.lines][:4] == [
            "mov (%rdi), %rax",
            "test %rax, %rax",
            "jz skip",
            "add $8, %rdi",
        ]
        (through,) = analysis.branchings
        assert [path.share for path in through.paths] == pytest.approx([0.1, 0.9])
        assert through.averages == {"SKL": pytest.approx(0.1 * 6 + 0.9 * 2)}
        assert [(block.name, block.executions) for block in through.blocks] == [
            ("k.1", 1.0),
            ("k.2", pytest.approx(0.1)),
            ("k.3", 1.0),
        ]
        assert analysis.problems == ()


def test_a_block_has_a_report_of_its_own_if_it_is_named() -> None:
    (region,) = analysed(region="k.2").regions
    assert [line.text for line in region.region.lines] == ["imul %rax, %rbx", "imul %rbx, %rbx"]
    assert region.predictions[0].mode == "unroll"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.format("taken=0.1,0.2"), "taken=0.1,0.2 has 2 shares for 1: jz skip (line 5)"),
        (
            "# cyclelens-begin k taken=0.5\nnop\n# cyclelens-end\n",
            "taken= has no effect: 'k' has no branch",
        ),
    ],
)
def test_shares_that_do_not_fit_are_reported_at_the_marker(text: str, message: str) -> None:
    (problem,) = Analyzer().analyze(text, AnalysisOptions()).problems
    assert (problem.code, problem.line) == ("bad-option-value", 0)
    assert message in problem.message


LOOPS = """\
f:
.Louter:
  mov %rdx, %rcx
  xor %eax, %eax
.Linner:
  add (%rsi), %rax
  add $8, %rsi
  dec %rcx
  jnz .Linner
  imul %rax, %rbx
  dec %rdi
  jnz .Louter
  ret
"""


def test_a_loop_around_another_one_has_the_sum_of_its_blocks() -> None:
    analysis = Analyzer().analyze(
        LOOPS,
        AnalysisOptions(
            SourceOptions(regions=Regions.LOOPS), Target(alignment=0, taken=((".Louter", "0.9"),))
        ),
    )
    figures = {region.region.name: region.predictions[0].cycles_per_iteration for region in analysis.regions}
    assert list(figures) == [".Louter.1", ".Louter.2", ".Linner"]
    (through,) = analysis.branchings
    assert through.paths == ()
    expected = figures[".Louter.1"] + 10 * figures[".Linner"] + figures[".Louter.2"]
    assert through.averages == {"SKL": pytest.approx(expected)}


MANY = "# cyclelens-begin k\ntop:\n{}\ndec %rdi\njnz top\n# cyclelens-end\n"


def test_a_region_with_many_ways_comes_as_its_blocks() -> None:
    def text(forks: int) -> str:
        return MANY.format("\n".join(f"test %eax, %ebx\njz l{n}\ninc %rsi\nl{n}:" for n in range(forks)))

    three = Analyzer().analyze(text(3), AnalysisOptions())
    assert [region.region.name for region in three.regions] == ["k"]
    assert len(three.branchings[0].paths) == 8
    assert three.problems == ()
    four = Analyzer().analyze(text(4), AnalysisOptions())
    assert [region.region.name for region in four.regions] == [f"k.{number}" for number in range(1, 10)]
    assert [problem.code for problem in four.problems] == ["inner-branch"]
