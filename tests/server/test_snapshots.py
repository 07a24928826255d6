"""The display follows the text: regions move, and an edited one keeps its last result, marked as old."""

from __future__ import annotations

import pytest
from cyclelens.server.documents.session import Session, Snapshot
from cyclelens.server.worker_messages.results import FileResult, Job
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from testkit.server.fake_engine import FakeEngine

TEXT = """\
region one
  add
  sub
end

region two
  mul
end"""


def analyse(snapshot: Snapshot) -> FileResult:
    from cyclelens.analyzer.model.analysis_options import AnalysisOptions

    job = Job(1, snapshot.uri, snapshot.revision, snapshot.text, AnalysisOptions())
    return FakeEngine().analyse(job, lambda: False)


def opened(text: str = TEXT) -> Snapshot:
    snapshot = Session().open("file:///a.s", 1, text)
    return snapshot.answered(analyse(snapshot))


def shown(snapshot: Snapshot) -> dict[str, tuple[bool, dict[int, str]]]:
    """Region -> stale?, line -> label."""
    return {
        region.result.name: (region.stale, {hint.line: hint.label for hint in region.result.hints})
        for region in snapshot.regions
    }


ONE = {0: "2 cycles", 1: "add", 2: "sub"}
TWO = {5: "1 cycles", 6: "mul"}


def test_names_are_collected_once_for_each_revision() -> None:
    session = Session()
    first = session.open("file:///a.s", 1, "one: jmp one")
    names = session.names(first)
    assert session.names(first.answered(FileResult())) is names
    second = session.put(first.replaced(2, "two: jmp two"))
    assert set(session.names(second).index) == {"two"}
    session.close("file:///a.s")
    assert set(session.names(session.open("file:///a.s", 1, "three:")).index) == {"three"}


def test_what_is_known_stays_while_regions_are_pending() -> None:
    edited = opened().edited(2, (1, 2), (1, 5), "xor")
    whole = analyse(edited)
    half = edited.answered(replace(whole, regions=whole.regions[:1], pending=True))
    assert shown(half) == {"one": (False, {**ONE, 1: "xor"}), "two": (False, TWO)}
    assert half.analysed != half.revision
    done = half.answered(whole)
    assert shown(done) == shown(half)
    assert done.analysed == done.revision


def test_an_answer_is_shown_as_it_is() -> None:
    assert shown(opened()) == {"one": (False, ONE), "two": (False, TWO)}


def test_an_edit_marks_its_region_and_leaves_the_others() -> None:
    edited = opened().edited(2, (6, 2), (6, 5), "imul")
    assert shown(edited) == {"one": (False, ONE), "two": (True, TWO)}


def test_lines_added_above_move_what_is_below() -> None:
    edited = opened().edited(2, (4, 0), (4, 0), "\n\n")
    assert shown(edited) == {"one": (False, ONE), "two": (False, {7: "1 cycles", 8: "mul"})}


def test_lines_deleted_above_move_what_is_below() -> None:
    edited = opened().edited(2, (3, 3), (4, 0), "")
    assert shown(edited)["two"] == (False, {4: "1 cycles", 5: "mul"})


def test_a_deleted_line_takes_its_hint_along() -> None:
    edited = opened().edited(2, (1, 0), (2, 0), "")
    assert shown(edited)["one"] == (True, {0: "2 cycles", 1: "sub"})


def test_a_line_put_between_leaves_each_hint_at_its_own_line() -> None:
    edited = opened().edited(2, (1, 5), (1, 5), "\n  nop")
    assert shown(edited)["one"] == (True, {0: "2 cycles", 1: "add", 3: "sub"})


def test_an_edit_that_changes_nothing_marks_nothing() -> None:
    edited = opened().edited(2, (1, 2), (1, 5), "add")
    assert shown(edited)["one"] == (False, ONE)


def test_a_whole_text_sent_anew_counts_only_where_it_differs() -> None:
    edited = opened().replaced(2, "; head\n" + TEXT.replace("mul", "div"))
    assert shown(edited) == {
        "one": (False, {1: "2 cycles", 2: "add", 3: "sub"}),
        "two": (True, {6: "1 cycles", 7: "mul"}),
    }


def test_a_hint_stays_at_the_end_of_a_line_that_grows() -> None:
    edited = opened().edited(2, (1, 2), (1, 2), "lock ")
    hint = next(hint for hint in edited.regions[0].result.hints if hint.line == 1)
    assert hint.column == len("  lock add")


def test_a_bad_line_keeps_the_last_result_of_its_region_only() -> None:
    edited = opened().edited(2, (6, 2), (6, 5), "bad")
    answered = edited.answered(analyse(edited))
    assert shown(answered) == {"one": (False, ONE), "two": (True, TWO)}
    assert answered.regions[1].result.note == "a line is bad"
    assert [problem.line for problem in answered.problems] == [6]


def test_a_stale_region_moves_through_further_answers_and_recovers() -> None:
    bad = opened().edited(2, (6, 2), (6, 5), "bad")
    bad = bad.answered(analyse(bad))
    bad = bad.edited(3, (0, 0), (0, 0), "; head\n")
    bad = bad.answered(analyse(bad))
    assert shown(bad)["two"] == (True, {6: "1 cycles", 7: "mul"})
    good = bad.edited(4, (7, 2), (7, 5), "div\n  nop")
    good = good.answered(analyse(good))
    assert shown(good)["two"] == (False, {6: "2 cycles", 7: "div", 8: "nop"})


def test_a_region_whose_marker_is_deleted_is_gone_at_once() -> None:
    edited = opened().edited(2, (5, 0), (6, 0), "")
    assert list(shown(edited)) == ["one"]


def test_a_failed_analysis_leaves_everything_marked() -> None:
    assert all(stale for stale, _ in shown(opened().unanswered()).values())


def test_a_region_that_was_never_complete_says_why() -> None:
    snapshot = opened("region one\n  bad\nend")
    (region,) = snapshot.regions
    assert (region.stale, region.result.note) == (False, "a line is bad")


def test_snapshots_that_were_handed_out_do_not_change() -> None:
    session = Session()
    first = session.open("file:///a.s", 1, TEXT)
    session.put(first.edited(2, (0, 0), (0, 0), "x"))
    assert first.lines[0] == "region one"
    assert session.get("file:///a.s") != first


@pytest.mark.parametrize(("start", "end"), [((0, 3), (0, 1)), ((3, 0), (1, 0))])
def test_a_range_given_backwards_is_taken_forwards(start: tuple[int, int], end: tuple[int, int]) -> None:
    snapshot = opened()
    assert snapshot.edited(2, start, end, "").text == snapshot.edited(2, end, start, "").text


@given(st.data())
def test_any_edit_gives_the_text_that_python_gives_and_hints_inside_it(data: st.DataObject) -> None:
    snapshot = opened()
    text = TEXT
    for version in range(2, 5):
        lines = text.split("\n")
        start, end = sorted(
            (line, data.draw(st.integers(0, len(lines[line]))))
            for line in (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        )
        new = data.draw(st.text("ab \n", max_size=6))

        def offset(place: tuple[int, int], lines: list[str] = lines) -> int:
            return sum(len(line) + 1 for line in lines[: place[0]]) + place[1]

        text = text[: offset(start)] + new + text[offset(end) :]
        snapshot = snapshot.edited(version, start, end, new)
        assert snapshot.text == text
        for region in snapshot.regions:
            assert 0 <= region.result.first_line <= region.result.last_line < len(snapshot.lines)
            for hint in region.result.hints:
                assert hint.line < len(snapshot.lines)
                assert 0 <= hint.column <= len(snapshot.lines[hint.line])


def test_what_is_kept_of_a_region_stays_inside_it_and_inside_the_text() -> None:
    """The end of an incomplete region comes nearer; then the lines behind it are deleted."""
    snapshot = opened("region one\n add\n sub\n mul\nend\n")
    snapshot = snapshot.edited(2, (1, 0), (1, 4), "bad\nend")
    snapshot = snapshot.answered(analyse(snapshot))
    (region,) = snapshot.regions
    assert region.stale
    assert all(
        region.result.first_line <= hint.line <= region.result.last_line for hint in region.result.hints
    )
    snapshot = snapshot.edited(3, (3, 0), (6, 0), "")
    assert all(hint.line < len(snapshot.lines) for hint in snapshot.regions[0].result.hints)


def test_what_is_kept_of_a_region_moves_to_the_place_of_the_region() -> None:
    snapshot = opened("region one\n add\nend\n\n\n\n")
    # A region of the same name begins further down, and the first one is gone.
    moved = FileResult((replace(snapshot.regions[0].result, first_line=3, last_line=4, complete=False),))
    (region,) = snapshot.answered(moved).regions
    assert (region.stale, region.result.first_line, region.result.last_line) == (True, 3, 4)
    assert [hint.line for hint in region.result.hints] == [3, 4]
