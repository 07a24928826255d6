"""The column of hints."""

from cyclelens.server.display.columns import LEAST_ROOM, TAB_SIZE, WIDEST, paddings, room


def test_hints_stand_in_the_column_behind_the_widest_line() -> None:
    lines = {1: "dec %rcx", 2: "\tjnz 1b", 4: "vaddps %ymm0, %ymm1, %ymm2"}
    assert paddings(lines, TAB_SIZE) == {1: 18, 2: 12, 4: 0}


def test_one_long_comment_does_not_move_the_hints_of_other_lines() -> None:
    lines = {
        1: "dec %rcx",
        2: "vaddps %ymm0, %ymm1, %ymm2",
        3: "add $32, %rsi".ljust(40) + "# the next eight floats",
    }
    assert len(lines[3]) > WIDEST
    assert paddings(lines, TAB_SIZE) == {1: 18, 2: 0, 3: 0}


def test_a_hint_has_the_rest_of_a_window() -> None:
    assert room("\tdec %rcx", TAB_SIZE, 80) == 80 - 16 - 1
    assert room("nop".ljust(79), TAB_SIZE, 80) == LEAST_ROOM
    assert room("nop", TAB_SIZE, None) > 10_000
