"""What windows of the op cache cost and hold, up to the last entry of each rule (M2, M3 of docs/zen5.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.uops import MacroOps
from cyclelens.analyzer.uops.op_cache import _ahead, _costs, _filled, _held, _is_one_read, _until_jump, layout
from testkit.blocks import block_of, in_a_loop
from testkit.narrowing import some

EIGHT = "0f1f840000000000"


def rules() -> MacroOpRules:
    found = registry.get("ZEN5").macro_ops
    assert found is not None and found.line_entries == found.line_fields == 6
    return found


@pytest.mark.parametrize(
    ("entries", "eighths"),
    [
        ((12,), (8,)),  # the first pair of lines
        ((13,), (24,)),  # two cycles for every further pair
        ((24,), (24,)),
        ((25,), (40,)),
        ((36,), (40,)),
        ((37,), (37,)),  # more than 36: eight entries per cycle
        ((13, 15), (24, 8)),  # 1 + 3 of them fit into a line
        ((16, 15), (24, 24)),  # 4 + 3 do not
        ((16, 14), (24, 8)),
        ((6, 16), (8, 8)),  # behind a single line four cost nothing
        ((6, 17), (8, 24)),
        ((7, 16), (8, 24)),
    ],
)
def test_what_windows_cost(entries: tuple[int, ...], eighths: tuple[int, ...]) -> None:
    assert tuple(_costs(entries, rules())) == eighths


@pytest.mark.parametrize(
    ("entries", "eighths"),
    [
        ((12, 15), (8, 8)),  # half a line behind the last pair
        ((12, 16), (8, 16)),  # a further pair takes one cycle
        ((12, 24), (8, 16)),
        ((12, 25), (8, 24)),
        ((6, 16, 1), (8, 8, 8)),
        ((6, 17, 1), (8, 16, 8)),
        ((7, 16, 1), (8, 16, 8)),
        ((6, 16), (8, 16)),
    ],
)
def test_what_windows_cost_that_are_read_ahead(entries: tuple[int, ...], eighths: tuple[int, ...]) -> None:
    assert tuple(_ahead(entries, rules())) == eighths


@pytest.mark.parametrize(
    ("entries", "held"), [(1, 6), (6, 6), (7, 12), (12, 12), (13, 15), (15, 15), (16, 16), (40, 40)]
)
def test_what_a_window_takes_of_its_set(entries: int, held: int) -> None:
    """Whole lines of its own, and half of one or more that it shares."""
    assert _held(entries, rules()) == held


@pytest.mark.parametrize(
    ("filled", "at_once"),
    [((6, 12), True), ((7, 1), False), ((6, 13), False), ((1, 1), True)],
)
def test_when_two_windows_are_read_at_once(filled: tuple[int, ...], at_once: bool) -> None:
    assert _is_one_read(filled, 6) is at_once


@pytest.mark.parametrize(("last", "eighths"), [("0f1f00", 8), ("0f1f4000", 16)])
def test_a_loop_in_two_windows_is_no_longer_than_one(last: str, eighths: int) -> None:
    """64 or 65 bytes with their counter, half of them in the first window."""
    block = block_of(in_a_loop(7 * EIGHT + last), "ZEN5")
    assert layout(block.instructions, 32, rules()).eighths == eighths


@pytest.mark.parametrize(
    ("entries", "jumps", "eighths"), [(12, True, 4), (13, True, 24), (12, False, 8), (1, True, 4)]
)
def test_a_window_that_ends_in_a_jump_takes_half_a_cycle(entries: int, jumps: bool, eighths: int) -> None:
    assert _until_jump(entries, jumps, rules()) == eighths


@pytest.mark.parametrize(
    ("ops", "filled"),
    [
        ([(1, 0)] * 6, 6),
        ([(1, 0)] * 7, 7),
        ([(1, 2)] * 3, 6),  # six fields fill a line
        ([(1, 2)] * 4, 8),
        ([(1, 2)] * 3 + [(1, 0)], 6),
        ([(1, 2)] * 3 + [(1, 1)], 7),
        ([(4, 0), (3, 0)], 9),  # three entries do not fit into two
        ([(4, 0), (2, 0), (1, 0)], 7),
    ],
)
def test_a_line_ends_when_its_entries_or_its_fields_do(ops: list[tuple[int, int]], filled: int) -> None:
    made = [MacroOps(entries=entries, fields=fields) for entries, fields in ops]
    assert _filled(made, rules()) == filled


@pytest.mark.parametrize(("nops", "small"), [(95, True), (96, False)])
def test_a_loop_of_up_to_96_entries_is_small(nops: int, small: bool) -> None:
    """Its counter is a fused pair, one entry."""
    block = block_of(in_a_loop(nops * "90"), "ZEN5")
    assert layout(block.instructions, 0, rules()).small is small


@pytest.mark.parametrize(("nops", "alignment", "entries"), [(5, 0, 6), (6, 0, 12), (11, 58, 6), (12, 58, 12)])
def test_the_fullest_set_is_that_of_one_window(nops: int, alignment: int, entries: int) -> None:
    """Whole lines; 58 bytes into a window, six entries of the loop are in the window before."""
    block = block_of(in_a_loop(nops * "90"), "ZEN5")
    assert layout(block.instructions, alignment, rules()).fullest_set == entries


@pytest.mark.parametrize(("nops", "eighths"), [(5, [8]), (7, [8, 8]), (10, [8, 8]), (12, [8, 0, 16])])
def test_no_more_than_a_window_is_read_per_cycle(nops: int, eighths: list[int]) -> None:
    """M37: a line could hold the entries of two windows of long NOPs; the last one waits for the others."""
    block = block_of(in_a_loop("66662e0f1f840000000000" * nops), "ZEN4")
    found = layout(block.entries, 0, some(registry.get("ZEN4").macro_ops))
    assert [window.eighths for window in found.windows] == eighths
    assert found.eighths == 8 * len(found.windows)
