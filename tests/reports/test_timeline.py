"""The timeline shows the events of the trace."""

import pytest
from cyclelens.analyzer.model.simulation import Trace, TraceRow
from cyclelens.analyzer.reports import timeline
from testkit.factories import prediction, template


def row(round_=0, instruction=0, kind="uop", *, port="", **cycles):
    """``cycles`` by the letters of the picture."""
    return TraceRow(
        round=round_,
        instruction=instruction,
        kind=kind,
        idq_uop=0,
        fused_uop=0,
        uop=0,
        predecoded=cycles.get("P"),
        removed_from_iq=None,
        source="MITE",
        added_to_idq=cycles.get("Q"),
        issued=cycles.get("I"),
        ready=cycles.get("r"),
        dispatched=cycles.get("D"),
        executed=cycles.get("E"),
        retired=cycles.get("R"),
        port=port,
        ports="0156" if port else "",
    )


def draw(*rows, texts=("add rax, rbx",), cycles=500, **options):
    traced = prediction([template(text) for text in texts], trace=Trace(rows, cycles))
    return timeline.render(traced, **options).splitlines()


def test_letters_stand_in_their_cycles_and_dots_fill_issue_to_retirement():
    ruler, header, line, *_ = draw(row(P=0, Q=3, I=4, r=9, D=10, E=12, R=14, port="6"))
    start = header.index("0123")
    assert line[start:] == "P  QI....rD.E.R"
    assert "p6 of 0156" in line
    assert ruler[start:] == "0         10"


def test_of_several_letters_in_one_cycle_the_last_is_drawn():
    _, header, line, *_ = draw(row(P=0, Q=3, I=4, r=9, D=9, E=11, R=12, port="1"))
    assert line[header.index("0123") :] == "P  QI....D.ER"


def test_events_that_did_not_happen_are_not_drawn():
    _, header, line, *_ = draw(row(P=2))
    assert header.endswith("  2")
    assert line[len(header) - 1 :] == "P"


def test_instruction_and_round_are_named_once():
    lines = draw(
        row(I=1, R=2, port="2"), row(I=1, R=3, port="5"), row(round_=1, I=2, R=4, port="2"), rounds=2
    )
    assert [line[:5].strip() for line in lines[2:5]] == ["0", "", "1"]
    assert ["add rax, rbx" in line for line in lines[2:5]] == [True, False, True]


def test_extra_uops_are_named_as_what_they_are():
    lines = draw(
        row(kind="merge", I=1, R=3, port="1"), row(kind="sync", I=2, R=4, port="0"), row(I=3, R=5, port="0")
    )
    assert "(register merge)" in lines[2]
    assert "(stack sync)" in lines[3]


def test_only_the_wanted_rounds_are_drawn():
    rows = [row(round_=number, I=10 * number, R=10 * number + 5, port="0") for number in range(6)]
    lines = draw(*rows, rounds=range(4, 6))
    assert [line.split()[0] for line in lines[2:4]] == ["4", "5"]
    assert lines[1].rstrip().endswith("01234567890123456"[:16])


def test_wide_pictures_are_cut_and_say_so():
    lines = draw(*(row(I=cycle, R=cycle + 9, port="0") for cycle in range(0, 300, 8)), max_cycles=50)
    assert "cut after cycle 49" in lines[-3]
    assert len(lines[1].rstrip()) - lines[1].index("0123") == 50


def test_texts_of_the_caller_replace_the_decoded_ones():
    traced = prediction([template()], trace=Trace((row(I=0, R=1),), 500))
    assert "addq %rbx, %rax" in timeline.render(traced, texts=["addq %rbx, %rax"])


def test_it_begins_in_the_steady_state():
    """The averages of these predictions are over the iterations from the fifth on."""
    rows = [row(round_=number, I=10 * number, R=10 * number + 5, port="0") for number in range(9)]
    lines = draw(*rows)
    assert [line.split()[0] for line in lines[2:5]] == ["5", "6", "7"]
    assert lines[0].split() == ["50", "60", "70"]


def test_long_times_in_which_nothing_happens_are_cut_out():
    ruler, header, line, *_ = draw(row(I=4, r=9, D=98, E=102, R=103, port="6"))
    start = header.index("ports") + 7
    assert ruler[start:].split() == ["4", "98"]
    assert header[start:] == "456789~890123"
    assert line[start:] == "I....r.D...ER"


def test_rounds_that_were_not_traced_are_no_error():
    assert draw(row(I=0, R=1), rounds=range(100, 101)) == ["(no uop in these iterations)"]


def test_without_a_trace_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="without a trace"):
        timeline.render(prediction([template()]))


@pytest.mark.parametrize(
    ("cycles", "numbers", "digits"),
    [
        ([0, 1, 2, 8, 9, 10, 11], "0  8 10", "01~8901"),
        # 244 has three digits, and two columns are left.
        ([0, 1, 2, 8, 9, 244, 245], "0  8", "01~8~45"),
        ([0, 1, 2, 8, 9, 244, 245, 246], "0  8 244", "01~8~456"),
    ],
)
def test_a_number_of_the_ruler_is_whole_or_left_out(cycles, numbers, digits):
    assert timeline.ruler(cycles) == (numbers, digits)
