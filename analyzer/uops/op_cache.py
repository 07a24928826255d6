"""How a loop lies in the op cache, and what its windows of 64 bytes take to be read (docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.uops import InstructionTemplate, MacroOps

WINDOW = 64
"""Bytes; no line of the op cache reaches over the end of one."""
EIGHTHS = 8
"""Costs are in eighths of a cycle."""
_PAIR = 2
"""Lines that are read together."""
_STEP = 2
"""Cycles for every further pair of lines of a window of a small loop."""
_MOST_LINES = 6
"""Windows of more lines cost the same in small loops as in long ones."""
_FREE = 4
"""Entries behind the first pair that cost nothing in a window that follows one of a single line."""


class Window(NamedTuple):
    """What a loop has in one window."""

    first: int
    last: int
    """Instructions."""
    entries: int
    """Up to the last one, with the places that stay empty because fields are used up."""
    eighths: int
    """Cost of an iteration, in eighths of a cycle."""


class Layout(NamedTuple):
    """A loop in the op cache."""

    small: bool
    """Few enough entries for the rules of small loops."""
    windows: tuple[Window, ...]

    @property
    def eighths(self) -> int:
        """Cost of an iteration."""
        return sum(window.eighths for window in self.windows)


def layout(templates: Sequence[InstructionTemplate], alignment: int, rules: MacroOpRules) -> Layout:
    """The windows of a loop in the order of its code, which begins so many bytes into a window."""
    if not templates:
        return Layout(False, ())
    size = sum(template.instruction.length for template in templates)
    # The last instruction may reach into a window in which nothing begins.
    reached = (alignment + size - 1) // WINDOW - alignment // WINDOW + 1
    spans = list(_spans(alignment, templates))
    filled = [_filled(templates[first : last + 1], rules) for first, last in spans]
    small = sum(_ops(template).entries for template in templates) <= rules.small_loop_entries
    if small:
        costs = _small(filled, size, reached, rules)
    else:
        costs = [_large(entries, rules) for entries in filled]
        costs[-1] += rules.taken_branch_eighths + EIGHTHS * (reached - len(filled))
    windows = (
        Window(first, last, entries, cost)
        for (first, last), entries, cost in zip(spans, filled, costs, strict=True)
    )
    return Layout(small, tuple(windows))


def _ops(template: InstructionTemplate) -> MacroOps:
    return template.macro_ops or MacroOps()


def _spans(address: int, templates: Sequence[InstructionTemplate]) -> Iterator[tuple[int, int]]:
    """First and last instruction that begin in each window; a fused pair begins with its first half."""
    first, window = 0, address // WINDOW
    for i, template in enumerate(templates):
        if address // WINDOW != window and not template.fused_with_previous:
            yield first, i - 1
            first, window = i, address // WINDOW
        address += template.instruction.length
    yield first, len(templates) - 1


def _filled(templates: Sequence[InstructionTemplate], rules: MacroOpRules) -> int:
    """Entries that the instructions of a window take: a line ends where its entries or its fields do. A fused
    pair is one entry."""
    lines, entries, fields = 1, 0, 0
    for template in templates:
        ops = _ops(template)
        if entries + ops.entries > rules.line_entries or fields + ops.fields > rules.line_fields:
            lines += 1
            entries = fields = 0
        entries += ops.entries
        fields += ops.fields
    return rules.line_entries * (lines - 1) + min(max(entries, fields), rules.line_entries)


def _large(entries: int, rules: MacroOpRules) -> int:
    """A window of a long loop; beyond the table eight entries take a cycle."""
    costs = rules.window_eighths
    return costs[entries] if entries < len(costs) else entries


def _small(filled: Sequence[int], size: int, reached: int, rules: MacroOpRules) -> list[int]:
    """The windows of a small loop: a cycle each, and more for what is behind their first pair of lines.

    Where the loop begins in a window of one pair, the others are read ahead: a further pair takes one cycle.
    Else it takes two, but what lies behind the first pairs of several windows is read together as far as it
    fits into the same lines. A loop no longer than a window takes one cycle in two windows if the first has
    one line."""
    line = rules.line_entries
    if reached == 2 and size <= WINDOW and filled[0] <= line and sum(filled[1:]) <= _PAIR * line:
        return [EIGHTHS] + [0] * (len(filled) - 1)
    cycles = [1] * len(filled)
    cycles[-1] += reached - len(filled)
    if filled[0] <= _PAIR * line:
        for number in range(1, len(filled)):
            cycles[number] += _ahead(filled, number, line)
    else:
        rooms: list[int] = []  # places left in the lines behind the first pairs
        for number, entries in enumerate(filled):
            rest = entries - _PAIR * line
            if rest <= 0:
                continue
            room = next((place for place, left in enumerate(rooms) if left >= rest), None)
            if room is None:
                cycles[number] += _STEP * -(-rest // (_PAIR * line))
                rooms.append(-rest % line)
            else:
                rooms[room] -= rest
    return [
        _large(entries, rules) if entries > _MOST_LINES * line else EIGHTHS * each
        for entries, each in zip(filled, cycles, strict=True)
    ]


def _ahead(filled: Sequence[int], number: int, line: int) -> int:
    """Cycles beyond the first for a window that is read ahead."""
    rest = filled[number] - _PAIR * line
    last = number == len(filled) - 1
    behind_one_line = filled[number - 1] <= line
    if rest <= 0 or (last and rest <= line // 2) or (not last and behind_one_line and rest <= _FREE):
        return 0
    return -(-rest // (_PAIR * line))
