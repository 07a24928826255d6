"""Mispredicted branches: shares by marker and option, the sum and its parts by hand."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import mispredictions, wording
from cyclelens.analyzer.insight.confidence import shows_at_least
from cyclelens.analyzer.insight.paths import SharesError
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.mispredictions import BranchFree, MispredictedBranch, Mispredictions
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Counts, JumpPlace
from msgspec.structs import replace
from testkit.factories import prediction, template
from testkit.kernels import FORKING_LOOP

FORK = f"# cyclelens-begin sum {{}}\n{FORKING_LOOP}# cyclelens-end\n"
"""On SKL 6.00 cycles where it does not jump, 2.00 where it does (tests/cli/test_branching_regions.py)."""
PLAIN = "# cyclelens-begin plain {}\n.Lx:\n    imul %rax, %rax\n    dec %rcx\n    jnz .Lx\n# cyclelens-end\n"
EXIT = (
    "# cyclelens-begin e {}\n.Lx:\n    imul %rax, %rax\n    test %rax, %rax\n    je .Lo\n    dec %rcx\n"
    + ("    jnz .Lx\n# cyclelens-end\n.Lo:\n")
)
SKYLAKE = 16.5


def analysed(
    text: str, *given: tuple[str, str], taken: str = "", cores: tuple[str, ...] = ("SKL",)
) -> Analysis:
    target = Target(cores, alignment=0, mispredicted=given, taken=(("", taken),) if taken else ())
    return Analyzer().analyze(text, AnalysisOptions(target=target))


def only(analysis: Analysis) -> Mispredictions:
    (region,) = analysis.regions
    found = region.predictions[0].mispredictions
    assert found is not None, analysis.problems
    return found


def test_the_average_of_the_paths_and_the_penalties_add_up() -> None:
    found = only(analysed(FORK.format("taken=0.9 mispredicted=0.1")))
    assert found.base == pytest.approx(0.9 * 2 + 0.1 * 6)
    assert (found.count, found.penalty) == (pytest.approx(0.1), SKYLAKE)
    assert found.cycles == pytest.approx(2.4 + 0.1 * SKYLAKE)
    assert mispredictions.parts(found) == "2.40 + 0.10 × 16.5"


def test_without_shares_of_the_paths_the_sum_is_for_the_path_that_is_shown() -> None:
    analysis = analysed(FORK.format("mispredicted=10%"))
    assert only(analysis).base == 6.0
    prediction = analysis.regions[0].predictions[0]
    assert prediction.cycles_per_iteration == 6.0, "the simulation's own figure stays"
    assert wording.cycles_per(prediction) == "7.65 cycles/iter (6.00 + 0.10 × 16.5)"


@pytest.mark.parametrize(
    ("text", "shares", "parts"),
    [
        (FORK, "0.1,0.02", "4.00 + 0.12 × 16.5"),
        (FORK, "11:2%", "4.00 + 0.02 × 16.5"),
        (FORK, ".Lskip:0.5", "4.00 + 0.50 × 16.5"),
        (FORK, "0", "4.00 + 0.00 × 16.5"),
        (PLAIN, "0.1", "3.00 + 0.10 × 16.5"),
        (PLAIN, "0.001", "3.00 + 0.001 × 16.5"),
        (EXIT, "0.25,0.5", "3.00 + 0.75 × 16.5"),
        (EXIT, ".Lo:0.25", "3.00 + 0.25 × 16.5"),
    ],
)
@pytest.mark.parametrize("where", ["marker", "option", "option for the region"])
def test_branches_within_a_loop_its_exits_and_its_jump_back_have_shares(
    text: str, shares: str, parts: str, where: str
) -> None:
    name = text.split()[2]
    given = {"marker": (), "option": (("", shares),), "option for the region": ((name, shares),)}[where]
    marker = f"mispredicted={shares}" if where == "marker" else "mispredicted=0.9,0.9,0.9"
    found = only(analysed(text.format(marker), *given, taken="0.5"))
    assert (mispredictions.parts(found), found.given) == (parts, f"with mispredicted={shares}")


def test_a_branch_counts_as_often_as_it_executes() -> None:
    """The second branch executes only where the first one does not jump."""
    text = (
        "# cyclelens-begin k taken=0.75,0.5 mispredicted=0.1,0.4\ntop:\n  test %eax, %eax\n  jz skip\n"
        "  test %ebx, %ebx\n  jz skip2\n  inc %rsi\nskip2:\n  inc %rdx\nskip:\n  dec %rdi\n  jnz top\n"
        "# cyclelens-end\n"
    )
    found = only(analysed(text))
    assert [each.executions for each in found.branches] == pytest.approx([1.0, 0.25])
    assert found.count == pytest.approx(0.1 + 0.25 * 0.4)


def test_a_loop_around_another_one_has_the_sum_of_both() -> None:
    text = (
        "f:\n.Louter:\n  mov %rdx, %rcx\n.Linner:\n  add (%rsi), %rax\n  dec %rcx\n  jnz .Linner\n"
        "  imul %rax, %rbx\n  dec %rdi\n  jnz .Louter\n  ret\n"
    )
    target = Target(alignment=0, taken=((".Louter", "0.9"),), mispredicted=((".Louter", ".Linner:0.1"),))
    analysis = Analyzer().analyze(text, AnalysisOptions(SourceOptions(regions=Regions.LOOPS), target))
    (outer,) = analysis.branchings
    found = outer.mispredictions["SKL"]
    assert (found.base, found.count) == (outer.averages["SKL"], pytest.approx(10 * 0.1))
    unknown = Target(alignment=0, mispredicted=target.mispredicted)
    analysis = Analyzer().analyze(text, AnalysisOptions(SourceOptions(regions=Regions.LOOPS), unknown))
    assert [each.message for each in analysis.problems if each.code != "inner-branch"] == [
        "mispredicted= needs taken= here: how often the branches of '.Louter' execute is not known"
    ]
    alone = Target(alignment=0, mispredicted=((".Linner", "0.1"),))
    analysis = Analyzer().analyze(text, AnalysisOptions(SourceOptions(regions=Regions.LOOPS), alone))
    sums = {each.region.name: each.predictions[0].mispredictions for each in analysis.regions}
    assert {name: found and found.count for name, found in sums.items()} == {
        ".Louter.1": None,
        ".Louter.2": None,
        ".Linner": 0.1,
    }


@pytest.mark.parametrize(
    ("text", "shares", "message"),
    [
        (PLAIN, "often", "'often' is not a share: write 0 to 1, or 0% to 100%"),
        (PLAIN, "1.5", "'1.5' is not a share: write 0 to 1, or 0% to 100%"),
        (PLAIN, "0.1,0.2", "mispredicted=0.1,0.2 has 2 shares for 1: jnz .Lx (line 5)"),
        (
            FORK,
            "1,1,1",
            "mispredicted=1,1,1 has 3 shares for 1: js .Lskip (line 5), or 2: js .Lskip (line 5), "
            "jnz .Lnext (line 11)",
        ),
        (PLAIN, "skip:0.1", "'skip:0.1' is not PLACE:SHARE for one of its branches: jnz .Lx (line 5)"),
        (
            "# cyclelens-begin straight {}\n    imul %rax, %rax\n# cyclelens-end\n",
            "0.1",
            "'straight' has no conditional jump, so there is no share to give",
        ),
    ],
)
def test_shares_that_do_not_fit_are_one_problem_at_the_marker(text: str, shares: str, message: str) -> None:
    analysis = analysed(text.format(f"mispredicted={shares}"))
    (problem,) = analysis.problems
    assert (problem.code, problem.line, problem.message) == ("bad-option-value", 0, message)
    assert analysis.regions[0].predictions[0].mispredictions is None


def test_an_option_for_all_regions_is_not_about_straight_code() -> None:
    straight = "# cyclelens-begin straight\n    imul %rax, %rax\n# cyclelens-end\n"
    analysis = analysed(straight + PLAIN.format(""), ("", "0.1"))
    assert analysis.problems == ()
    assert [bool(region.predictions[0].mispredictions) for region in analysis.regions] == [False, True]


def test_a_region_that_is_not_there_is_reported() -> None:
    (problem,) = analysed(PLAIN.format(""), ("plane", "0.1")).problems
    assert problem.message == "there is no region 'plane'; did you mean 'plain'?"


def test_where_the_penalty_is_not_known_the_figure_is_a_lower_bound() -> None:
    assert registry.get("ARL").misprediction_penalty is None
    prediction = analysed(PLAIN.format("mispredicted=0.1"), cores=("ARL",)).regions[0].predictions[0]
    assert shows_at_least(prediction)
    assert wording.figure_of(prediction) == f"at least {prediction.cycles_per_iteration:.2f}"
    assert mispredictions.suffix(prediction).endswith("+ 0.10 × unknown penalty)")
    assert mispredictions.lacking(prediction) == "the cycles that a misprediction costs on ARL are not known"


def test_given_shares_replace_the_assumption_that_branches_are_predicted() -> None:
    def codes(analysis: Analysis) -> list[str]:
        return [each.code for each in analysis.regions[0].predictions[0].assumptions]

    assert "predicted-branches" in codes(analysed(EXIT.format("")))
    assert "predicted-branches" not in codes(analysed(EXIT.format("mispredicted=.Lo:0.1")))


def test_other_shares_make_another_version_of_the_region() -> None:
    analyzer = Analyzer()
    versions = [
        analyzer.analyze(PLAIN.format(""), AnalysisOptions(target=Target(mispredicted=(("", share),))))
        .regions[0]
        .version
        for share in ("0.1", "0.2", "0.1")
    ]
    assert versions[0] == versions[2] != versions[1]


@pytest.mark.parametrize("name", registry.names())
def test_every_penalty_is_within_what_is_published(name: str) -> None:
    penalty = registry.get(name).misprediction_penalty
    assert penalty is None or 11 <= penalty <= 20


def test_jumps_with_prefixes_are_conditional_and_others_are_not() -> None:
    jumps = mispredictions.of_region(
        analysed(
            "# cyclelens-begin k\n bnd jne .Lo\n jmp *%rax\n JRCXZ .Lo\n call f\n# cyclelens-end\n.Lo:\n"
        )
        .regions[0]
        .region
    )
    assert [place.text for place in jumps.places] == ["bnd jne .Lo", "JRCXZ .Lo"]
    with pytest.raises(SharesError):
        mispredictions.parse_shares("0.1", jumps)


def test_the_break_even_is_where_the_work_of_both_paths_costs_as_much() -> None:
    """Both multiplications always take 6.00; 2.00 more than the average, of 16.5 for each misprediction."""
    prediction = analysed(FORK.format("taken=0.5 mispredicted=0.1")).regions[0].predictions[0]
    found = prediction.mispredictions
    assert found is not None and found.without is not None
    assert (found.without.cycles, found.without.jump.line) == (6.0, 4)
    assert found.break_even == pytest.approx(2 / 16.5)
    assert list(mispredictions.sentences(prediction))[-1] == (
        "A version without js .Lskip (line 5) does the work of both paths and waits for its condition: "
        "6.00 cycles or more, so it can be faster from 12% mispredictions on."
    )
    assert only(analysed(PLAIN.format("mispredicted=0.1"))).without is None
    unknown = analysed(FORK.format("taken=0.5 mispredicted=0.1"), cores=("ARL",))
    assert only(unknown).break_even is None


def test_a_profile_gives_the_share_of_each_jump_at_its_last_place() -> None:
    text = FORK.format("")
    (through,) = analysed(text).branchings
    jumps = mispredictions.of_branching(through.branching)
    names = through.branching.blocks
    counts = {name: Counts(100, 30, 50, 0, None, mispredicted=16 * at) for at, name in enumerate(names)}
    given = mispredictions.recorded(jumps, names, counts)
    assert given is not None and given.least
    assert given.shares == tuple(16 * block / 80 for block in jumps.blocks)
    assert mispredictions.recorded(jumps, names, {}) is None
    never = {name: Counts(0, 0, 0, 9, None) for name in names}
    assert mispredictions.recorded(jumps, names, never) is None


def test_of_several_jumps_that_end_one_block_the_last_has_its_counts() -> None:
    place = JumpPlace(0, "jz x", 0)
    jumps = mispredictions.ConditionalJumps("k", (place, place), (0, 0))
    given = mispredictions.recorded(jumps, ["k"], {"k": Counts(10, 6, 4, 0, None, mispredicted=5)})
    assert given is not None and given.shares == (0.0, 0.5)


def test_the_executions_of_a_single_jump_are_given_if_it_is_not_reached_every_time() -> None:
    def said(executions: float, without: float | None = None) -> list[str]:
        jump = JumpPlace(4, "jz skip")
        free = None if without is None else BranchFree(jump, without)
        branches = (MispredictedBranch(jump, 0.5, executions),)
        found = Mispredictions("with mispredicted=0.5", branches, 4.0, 16.0, "x", without=free)
        subject = replace(prediction([template()]), mispredictions=found)
        return list(mispredictions.sentences(subject))

    assert said(1.0)[0] == "12.00 = 4.00 + 0.50 × 16 with mispredicted=0.5"
    assert not any("executions" in sentence for sentence in said(1.0))
    assert "jz skip (line 5): 0.5 of 0.25 executions" in said(0.25)
    # The version without the branch takes so many cycles more than the base, of 16 that it saves.
    assert said(1.0, 8.0)[-1].endswith("8.00 cycles or more, so it can be faster from 25% mispredictions on.")
    assert said(1.0, 3.0)[-1].endswith("so it can be faster at any share.")
    assert said(1.0, 20.0)[-1].endswith("so it is slower at any share.")
    assert said(1.0, 28.0)[-1].endswith("so it is slower at any share.")
