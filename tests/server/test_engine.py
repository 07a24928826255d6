"""The worker's engine: parts of a text that an edit leaves alone cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from cyclelens.analyzer.engine import answers as door
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.server.settings import DEFAULTS
from cyclelens.server.worker_messages.results import FileResult, Job, RegionResult
from cyclelens.server.workers import engine
from cyclelens.server.workers.region_results import TIMELINE_ROUNDS
from msgspec.structs import replace


def kernels(count: int) -> str:
    return "".join(
        f"# cyclelens-begin r{number}\n.L{number}:\n add ${number}, %rax\n dec %rcx\n jnz .L{number}\n"
        "# cyclelens-end\n"
        for number in range(count)
    )


TEXT = kernels(5)


def answers(subject: engine.AnalyzerEngine, text: str) -> list[FileResult]:
    job = Job(1, "file:///a.s", 0, text, DEFAULTS.options, DEFAULTS.hint_kinds)
    found = list(subject.run(job, lambda: False))
    assert all(isinstance(result, FileResult) for result in found)
    return found  # type: ignore[return-value]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes answers complete, however slow the machine is."""
    monkeypatch.setattr(engine, "PATIENCE", math.inf)
    monkeypatch.setattr(engine, "TURN", math.inf)


def test_of_many_regions_the_first_figures_come_before_the_others_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0)
    monkeypatch.setattr(engine, "TURN", 0)
    job = Job(1, "file:///a.s", 0, TEXT, DEFAULTS.options, DEFAULTS.hint_kinds)
    found = list(engine.create().run(job, lambda: False))
    results = [result for result in found if isinstance(result, FileResult)]
    assert [len(result.regions) for result in results[:6]] == [1, 2, 3, 4, 5, 5]
    assert [result.pending for result in results[:6]] == [True] * 4 + [False] * 2
    assert all(region.hints for result in results for region in result.regions)
    # The rest of the work says that it goes on, too.
    assert found[5:].count(None) > 4


def test_a_job_that_paused_goes_on_after_those_of_many_other_documents() -> None:
    """A server that starts anew is given every open document at once: the figures of all come first."""
    subject = engine.create()
    started = [
        subject.run(Job(n, f"file:///{n}.s", 0, kernels(1), DEFAULTS.options, DEFAULTS.hint_kinds), bool)
        for n in range(1, 12)
    ]
    for each in started:
        next(each)
    for each in started:
        *_, last = (result for result in each if isinstance(result, FileResult))
        assert last.detailed


def regions(result: FileResult) -> dict[str, RegionResult]:
    return {region.name: region for region in result.regions}


def test_regions_that_an_edit_leaves_alone_are_the_ones_of_before() -> None:
    subject = engine.create()
    before = answers(subject, TEXT)
    after = answers(subject, TEXT.replace("add $3", "sub $3"))
    for earlier, later in zip(before[:2], after[:2], strict=True):
        for name, region in regions(later).items():
            assert (region is regions(earlier)[name]) == (name != "r3")
    assert regions(after[1])["r3"].cards != regions(before[1])["r3"].cards


def test_a_result_has_the_version_of_before_if_and_only_if_it_is_the_same() -> None:
    subject = engine.create()
    before = regions(answers(subject, TEXT)[1])
    # Longer code moves everything behind it within the section, which no result shows.
    after = regions(answers(subject, TEXT.replace("add $3", "sub $3000"))[1])
    assert all((after[name].version == before[name].version) == (name != "r3") for name in before)
    assert all((after[name].screen == before[name].screen) == (name != "r3") for name in before)
    moved = regions(answers(subject, "\n" + TEXT)[1])
    assert not {each.version for each in moved.values()} & {each.version for each in before.values()}


def test_an_unchanged_analysis_keeps_its_version_wherever_its_region_moves() -> None:
    subject = Analyzer()

    def versions(text: str) -> list[int]:
        return [region.version for region in subject.analyze(text, DEFAULTS.options).regions]

    first = versions(TEXT)
    assert len({*first, 0}) == 6
    assert versions("\n" + TEXT) == first
    changed = versions(TEXT.replace("add $3", "sub $3"))
    assert [one == other for one, other in zip(changed, first, strict=True)] == [True] * 3 + [False, True]
    other_core = replace(DEFAULTS.options, target=DEFAULTS.options.target.only_on("HSW"))
    found = subject.analyze(TEXT, other_core).regions
    assert not {region.version for region in found} & {*first, *changed}


def test_lines_that_move_are_seen() -> None:
    subject = engine.create()
    answers(subject, TEXT)
    moved = regions(answers(subject, "\n" + TEXT)[1])
    assert moved["r0"].first_line == 1
    assert moved["r4"].data["predictions"][0]["rows"][0]["line"] == 4 * 6 + 4


def test_the_first_answer_is_what_is_shown_and_later_ones_only_add() -> None:
    first, second, *_ = answers(engine.create(), TEXT)
    assert (first.detailed, second.detailed) == (False, True)
    for brief, full in zip(first.regions, second.regions, strict=True):
        assert brief.hints
        assert not brief.cards
        assert full.cards
        assert full.timelines
        assert full.data["name"] == full.name
        assert set(brief.summary.splitlines()) < set(full.summary.splitlines()), "critical chains"
        bare = replace(full, cards={}, timelines=(), data={}, summary=brief.summary)
        assert replace(bare, version=brief.version) == brief, "and the same is on the screen"


def test_the_regions_of_a_large_file_are_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = kernels(100)
    subject = engine.create()
    answers(subject, text)
    simulated = []
    monkeypatch.setattr(door, "simulate", lambda *args, **options: simulated.append(args))
    answers(subject, text + "# a comment")
    assert simulated == []


def test_rewrites_are_tried_again_only_where_something_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    plain = engine.fixes

    def counted(*given: Any) -> Iterator[Fix]:
        tried.extend(region.region.name for region in given[3].regions)
        yield from plain(*given)

    monkeypatch.setattr(engine, "fixes", counted)
    subject = engine.create()
    slow = "# cyclelens-begin {}\n    addw $1000, %ax\n    imul %rax, %rbx\n# cyclelens-end\n"
    text = "".join(slow.format(name) for name in "abc")
    *_, first = answers(subject, text)
    assert tried == ["a", "b", "c"]
    assert all(region.fixes for region in first.regions)
    tried.clear()
    *_, second = answers(subject, text.replace("%rbx\n", "%rcx\n", 1))
    assert tried == ["a"]
    assert second.regions[1:] == first.regions[1:]
    tried.clear()
    *_, third = answers(subject, "    nop\n" + text.replace("%rbx\n", "%rcx\n", 1))
    assert tried == []
    for region, before in zip(third.regions, second.regions, strict=True):
        assert region.fixes == tuple(fix.moved(1) for fix in before.fixes)


def test_what_a_cpu_cannot_run_is_an_answer_and_no_reason_to_show_an_older_one() -> None:
    subject = engine.create()
    text = TEXT.replace("add $3, %rax", "vaddps %zmm0, %zmm1, %zmm2")
    found = regions(answers(subject, text)[0])["r3"]
    assert (found.complete, found.cycles, found.note) == (True, None, "SKL has no AVX-512.")
    assert [hint.label for hint in found.hints] == ["SKL has no AVX-512", "not on SKL"]
    broken = regions(answers(subject, TEXT.replace("add $3, %rax", "frobnicate"))[0])["r3"]
    assert not broken.complete


def test_a_timeline_keeps_its_first_rounds() -> None:
    quick, detailed = answers(engine.create(), TEXT)[:2]
    assert quick.regions[0].timelines == ()
    (timeline,) = detailed.regions[0].timelines
    rounds = {row[timeline.columns.index("round")] for row in timeline.rows}
    assert rounds == set(range(TIMELINE_ROUNDS))


def test_the_first_answer_does_not_wait_for_all_positions_of_long_code() -> None:
    body = "".join(f" mov %rax, %r{8 + number % 7}\n" for number in range(120))
    text = f"# cyclelens-begin long\n1:{body} dec %rcx\n jnz 1b\n# cyclelens-end\n{TEXT}"
    first, second, *_ = answers(engine.create(), text)
    assert "positions" not in regions(first)["long"].headline
    assert "of 64 positions" in regions(second)["long"].headline
    assert "of 64 positions" in regions(first)["r0"].headline


def test_after_an_edit_the_first_answer_is_about_the_position_that_was_shown() -> None:
    text = TEXT.replace("dec %rcx\n jnz .L0", "add $9, %rdx; add $9, %rbx; dec %rcx; jnz .L0")
    subject = engine.create()
    shown = regions(answers(subject, text)[1])["r0"]
    first, second, *_ = answers(subject, text.replace("add $9, %rbx", "add $8, %rbx"))
    early, late = regions(first)["r0"], regions(second)["r0"]
    assert " (…) " in early.headline
    assert "of 64 positions" in late.headline
    assert early.cycles == late.cycles == shown.cycles
    # The other regions moved on by nothing: theirs are known everywhere.
    assert "of 64 positions" in regions(first)["r1"].headline


def test_where_no_position_differed_the_figure_of_one_is_not_marked() -> None:
    text = "# cyclelens-begin chain\n.Lc: imul %rax, %rax\n dec %rcx\n jnz .Lc\n# cyclelens-end\n"
    subject = engine.create()
    answers(subject, text)
    first, second, *_ = answers(subject, text.replace("imul %rax, %rax", "imul %rax, %rax\n nop"))
    assert regions(first)["chain"].headline == regions(second)["chain"].headline
    (hint, *_) = regions(first)["chain"].hints
    assert "other 63 positions follow" in hint.tooltip
    assert "other 63 positions follow" not in regions(second)["chain"].hints[0].tooltip


def test_what_hangs_on_port_binding_follows_the_first_figures() -> None:
    text = (
        "# cyclelens-begin hangs arch=SKL alignment=0\n.Lh: add %esi, %edi\n mov %esi, %ebx\n inc %esi\n"
        " cmp $-1, %esi\n jc .Lh\n# cyclelens-end\n"
    )
    first, second, *_ = answers(engine.create(), text)
    early, late = regions(first)["hangs"], regions(second)["hangs"]
    assert early.cycles == late.cycles
    assert "binding" not in early.headline
    assert "depends on port binding" in late.headline
    assert "depends on port binding" in late.hints[0].tooltip
    assert late.data["predictions"][0]["port_binding"]["least"] == 1.0
