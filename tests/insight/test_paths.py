"""Paths through regions that branch within themselves: worked examples of shares, executions and sums."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import paths
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import (
    END,
    UNKNOWN_LINE,
    Branching,
    JumpPlace,
    Placement,
    Region,
    SourceLine,
)
from msgspec.structs import replace


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


@pytest.mark.parametrize(
    ("jump", "words"),
    [
        (JumpPlace(4, "jz  skip", 0x40), "jz skip (line 5)"),
        (JumpPlace(UNKNOWN_LINE, "jz skip", 0x1F3A), "jz skip (0x1f3a)"),
        (JumpPlace(UNKNOWN_LINE, "jz skip"), "jz skip (0x0)"),
    ],
)
def test_a_jump_is_named_with_its_place(jump: JumpPlace, words: str) -> None:
    assert paths.described(jump) == words


def test_a_region_without_forks_has_no_share_to_give() -> None:
    straight = branching([1, END], [None, None])
    with pytest.raises(paths.SharesError, match="'k' has no branch within it"):
        paths.parse_shares("0.5", straight)
    with pytest.raises(paths.SharesError, match=re.escape("'0.5' is not PLACE:SHARE")):
        paths.parse_shares("1:0,0.5", TWO_FORKS)


def test_a_missing_share_is_asked_for_by_its_jump() -> None:
    message = paths.missing(TWO_FORKS, (0.5, None), "0.5")
    assert message == "taken=0.5 gives no share for jz to1 (line 2)"


@pytest.mark.parametrize(
    ("shares", "expected"),
    [((0.2, 0.5, 0.3), 1), ((0.2, None, 0.8), 0), ((), 0), ((0.4, 0.2, 0.4), 0)],
)
def test_the_most_frequent_way_is_shown(shares: tuple[float | None, ...], expected: int) -> None:
    assert paths.likeliest(shares) == expected


def block_region(number: int, **fields: object) -> Region:
    """A block of two statements at a place of its own."""
    lines = tuple(SourceLine(2 * number + at, 0, 3, f"b{number}.{at}", b"\x90", "cyclelens") for at in (0, 1))
    given = {"placement": Placement(8 * number, 32), "latencies": {1: 10 + number}, "block_of": "k"} | fields
    return Region(f"k.{number + 1}", 0, 9, lines=lines, **given)  # type: ignore[arg-type]


def test_the_region_of_a_path_is_that_of_its_blocks_in_order() -> None:
    blocks = {f"k.{number + 1}": block_region(number) for number in range(3)}
    whole = paths.along(DIAMOND, (0, 1, 2), blocks)
    assert [line.text for line in whole.lines] == ["b0.0", "b0.1", "b1.0", "b1.1", "b2.0", "b2.1"]
    assert whole.latencies == {1: 10, 3: 11, 5: 12}
    assert (whole.placement, whole.ends_in_jump_to_start) == (Placement(0, 32), True)
    assert (whole.name, whole.block_of, whole.incomplete) == ("k", "", False)
    # Pieces that do not follow each other lie at one position, the others mean nothing.
    short = paths.along(DIAMOND, (0, 2), blocks)
    assert (len(short.lines), short.latencies, short.placement) == (4, {1: 10, 3: 12}, Placement(0))
    blocks["k.3"] = block_region(2, incomplete=True)
    assert paths.along(DIAMOND, (0, 2), blocks).incomplete


def test_a_loop_that_is_entered_in_its_middle_begins_at_its_lowest_block() -> None:
    entered = branching([1, 2, END], [None, None, None], entry=1, paths=((1, 2, 0),))
    blocks = {f"k.{number + 1}": block_region(number) for number in range(3)}
    found = paths.along(entered, (1, 2, 0), blocks)
    assert [line.text for line in found.lines][::2] == ["b0.0", "b1.0", "b2.0"]
    assert found.placement == Placement(0, 32)
    assert paths.along(replace(entered, is_loop=False), (1, 2, 0), blocks).lines[0].text == "b1.0"


def test_averages_need_shares_and_the_figure_of_every_path_that_is_taken() -> None:
    blocks = {f"k.{number + 1}": block_region(number) for number in range(3)}
    figures = {name: {"SKL": 1.0} for name in blocks}
    along = [{"SKL": 6.0}, {"SKL": 2.0}]

    def averages(share: float | None, given: str, each: list[dict[str, float]]) -> dict[str, float]:
        return dict(paths.analyse(DIAMOND, (share,), given, blocks, figures, each).averages)

    assert averages(0.75, "with taken=0.75", along) == {"SKL": 3.0}
    assert averages(None, "", along) == {}
    assert averages(0.75, "", along) == {}
    assert averages(0.75, "with taken=0.75", [{}, {"SKL": 2.0}]) == {}
    assert averages(1.0, "with taken=1", [{}, {"SKL": 2.0}]) == {"SKL": 2.0}


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


def test_a_path_keeps_the_places_of_its_pieces() -> None:
    region = Region("k", 0, 9, {}, section=".text")
    blocks = {
        f"k.{number}": replace(region, name=f"k.{number}", offsets=offsets)
        for number, offsets in enumerate([(0, 3), (5,), (8, 12)], 1)
    }
    assert paths.along(DIAMOND, (0, 2), blocks).offsets == (0, 3, 8, 12)
