"""Layout of a loop in the op cache, and the cost of reading its windows of 64 bytes (docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.uops import Entry, InstructionTemplate, MacroOps
from cyclelens.analyzer.uops.courses import taken_branches
from msgspec import Struct

WINDOW = 64
"""Bytes; no op cache line crosses the end of a window."""
EIGHTHS = 8
"""Costs are in eighths of a cycle."""
_PAIR = 2
"""Lines that are read together."""
_STEP = 2
"""Cycles per further pair of lines of a window."""
_MOST_LINES = 6
"""Windows with more lines are read at eight entries per cycle."""
_BRANCH = EIGHTHS // 2
"""Least cost of a branch: two leave per cycle (M48)."""
_SETS = 64
"""Sets of lines; the window's address selects one."""
_FREE = 4
"""Entries after the first pair of lines that cost nothing in a window that follows one of a single line."""
_ONE = MacroOps()


class _InstructionRange(Struct, frozen=True):
    """Instructions that are read consecutively."""

    first: int
    last: int
    window: int
    jumps: bool
    """True if the last one jumps."""


class _Content(Struct, frozen=True):
    """Contents of a line of the op cache, or what an instruction adds to them."""

    entries: int = 0
    fields: int = 0
    wide_fields: int = 0
    evex: int = 0

    def with_another(self, other: _Content) -> _Content:
        return _Content(
            self.entries + other.entries,
            self.fields + other.fields,
            self.wide_fields + other.wide_fields,
            self.evex + other.evex,
        )


def _content(ops: MacroOps, *, branches: bool) -> _Content:
    return _Content(ops.entries, ops.fields + branches, ops.wide_fields + branches, int(ops.evex))


class Window(Struct, frozen=True):
    """A loop's part in one window."""

    first: int
    last: int
    """Indices of the first and last instruction."""
    entries: int
    """Entries up to the last one, including those left empty because fields ran out."""
    eighths: int
    """Cost per iteration, in eighths of a cycle."""


class Layout(Struct, frozen=True):
    """A loop in the op cache."""

    small: bool
    """True if the loop has few enough entries for the rules of small loops."""
    windows: tuple[Window, ...]
    fullest_set: int
    """Entries of the lines in the fullest set of the op cache."""

    @property
    def eighths(self) -> int:
        """Cost per iteration, in eighths of a cycle."""
        return sum(window.eighths for window in self.windows)


def layout(entries: Sequence[Entry], alignment: int, rules: MacroOpRules) -> Layout:
    """The windows of a loop in code order; ``alignment``: offset of its first byte in a window."""
    if not entries:
        return Layout(False, (), 0)
    lengths = [len(entry.instruction.code) for entry in entries]
    size = sum(lengths)
    # The last instruction may reach into a window in which none begins.
    reached = (alignment + size - 1) // WINDOW - alignment // WINDOW + 1
    likes = [entry.like() for entry in entries]
    ops = [like.macro_ops or _ONE for like in likes]
    jumps = _jumps(entries, likes)
    spans = list(_spans(alignment, entries, likes, lengths, jumps))
    if rules.fields_per_entry or rules.full_lines:
        return _by_lines(spans, ops, likes, rules)
    filled = [_filled(ops[span.first : span.last + 1], rules) for span in spans]
    small = sum([each.entries for each in ops]) <= rules.small_loop_entries
    ahead = small and filled[0] <= _PAIR * rules.line_entries
    if jumps.difference((len(likes) - 1,)):
        costs = [_until_jump(entries, span.jumps, rules) for entries, span in zip(filled, spans, strict=True)]
    elif small and reached == 2 and size <= WINDOW and _is_one_read(filled, rules.line_entries):
        costs = [EIGHTHS] + [0] * (len(filled) - 1)
    else:
        costs = _ahead(filled, rules) if ahead else _costs(filled, rules)
        costs[-1] += EIGHTHS * (reached - len(filled))
    if not small:
        costs[-1] += rules.taken_branch_eighths
    windows = (
        Window(span.first, span.last, entries, cost)
        for span, entries, cost in zip(spans, filled, costs, strict=True)
    )
    return Layout(small, tuple(windows), _fullest_set(spans, filled, rules))


def _by_lines(
    spans: Sequence[_InstructionRange],
    ops: Sequence[MacroOps],
    likes: Sequence[InstructionTemplate],
    rules: MacroOpRules,
) -> Layout:
    """The windows of a loop whose lines have room for few fields (M37): a small loop is read a line per
    cycle, and the last line of a window together with the first of the next one if one line could hold
    both."""
    lines = [
        _lines(
            [
                _content(ops[i], branches=likes[i].is_branch and not likes[i].is_jump)
                for i in range(span.first, span.last + 1)
            ],
            rules,
        )
        for span in spans
    ]
    small = sum(each.entries for each in ops) <= rules.small_loop_entries or not rules.long_line_eighths
    costs = []
    for number, (span, each) in enumerate(zip(spans, lines, strict=True)):
        if not small:
            least = rules.jump_eighths if span.jumps else EIGHTHS
            costs.append(max(least, rules.long_line_eighths * len(each)))
        else:
            joins = number > 0 and not spans[number - 1].jumps
            joins = joins and lines[number - 1][-1] + each[0] <= rules.line_entries
            costs.append(EIGHTHS * (len(each) - joins))
    branches = [sum(each.is_branch for each in likes[span.first : span.last + 1]) for span in spans]
    costs = [max(cost, _BRANCH * number) for cost, number in zip(costs, branches, strict=True)]
    # No more than a window is read per cycle.
    costs[-1] += max(0, EIGHTHS * len(costs) - sum(costs)) if small else 0
    filled = [rules.line_entries * (len(each) - 1) + each[-1] for each in lines]
    windows = (
        Window(span.first, span.last, entries, cost)
        for span, entries, cost in zip(spans, filled, costs, strict=True)
    )
    return Layout(small, tuple(windows), _fullest_set(spans, filled, rules))


def _lines(instructions: Sequence[_Content], rules: MacroOpRules) -> list[int]:
    """Entries per line of a window, without those that fields take."""
    lines = [_Content()]
    for instruction in instructions:
        longer = lines[-1].with_another(instruction)
        if lines[-1].entries and not _is_line(longer, rules):
            lines.append(instruction)
        else:
            lines[-1] = longer
    return [line.entries for line in lines]


def _is_line(content: _Content, rules: MacroOpRules) -> bool:
    """True if a line of the op cache can hold this."""
    further = max(0, content.fields - rules.line_fields)
    if rules.fields_per_entry:
        return content.entries + -(-further // rules.fields_per_entry) <= rules.line_entries
    full = next((line for line in rules.full_lines if line.entries == content.entries), None)
    if full is not None:
        fits = content.fields <= full.fields and content.wide_fields <= full.wide_fields
        return fits and content.evex <= full.evex
    return content.entries <= rules.line_entries and not further


def _fullest_set(spans: Sequence[_InstructionRange], filled: Sequence[int], rules: MacroOpRules) -> int:
    """Entries that the fullest set needs for all windows to be cached."""
    sets: dict[int, int] = {}
    for span, entries in zip(spans, filled, strict=True):
        number = span.window % _SETS
        sets[number] = sets.get(number, 0) + _held(entries, rules)
    return max(sets.values())


def _held(entries: int, rules: MacroOpRules) -> int:
    """Entries of the lines that a window occupies. Entries after its first pair of lines go into
    lines that two windows share."""
    line = rules.line_entries
    if not rules.line_pairs or entries <= _PAIR * line:
        return -(-entries // line) * line
    return max(entries, _PAIR * line + line // 2)


def _spans(
    address: int,
    entries: Sequence[Entry],
    likes: Sequence[InstructionTemplate],
    lengths: Sequence[int],
    taken: frozenset[int],
) -> Iterator[_InstructionRange]:
    """The instructions that begin in each window, up to a jump (``taken``: the positions of jumps); a fused
    pair begins with its first half."""
    first, window, jumps = 0, address // WINDOW, False
    for i, (like, length) in enumerate(zip(likes, lengths, strict=True)):
        if (jumps or address // WINDOW != window) and not like.fused_with_previous:
            yield _InstructionRange(first, i - 1, window, jumps)
            first, window = i, address // WINDOW
        address += length
        jumps = i in taken
        if jumps:
            address += entries[i].instruction.branch_displacement or 0
    yield _InstructionRange(first, len(entries) - 1, window, True)


def _jumps(entries: Sequence[Entry], likes: Sequence[InstructionTemplate]) -> frozenset[int]:
    """Positions of unconditional jumps, and of conditional ones that a loop's iteration is known to take."""
    always = frozenset(i for i, like in enumerate(likes) if like.is_jump)
    branches = [i for i, like in enumerate(likes) if like.is_branch]
    if len(branches) < 2:
        return always
    return always | (taken_branches([entry.instruction for entry in entries], branches) or frozenset())


def _until_jump(entries: int, jumps: bool, rules: MacroOpRules) -> int:
    """Cost of a window in code with several jumps: two windows that end in a jump may be read in a cycle if a
    pair of lines holds each."""
    if jumps and entries <= _PAIR * rules.line_entries:
        return rules.jump_eighths
    return _costs([entries], rules)[0]


def _filled(instructions: Sequence[MacroOps], rules: MacroOpRules) -> int:
    """Entries that the instructions of a window occupy: a line ends when its entries or its fields do. A
    fused pair is one entry."""
    lines, entries, fields = 1, 0, 0
    for ops in instructions:
        if entries + ops.entries > rules.line_entries or fields + ops.fields > rules.line_fields:
            lines += 1
            entries = fields = 0
        entries += ops.entries
        fields += ops.fields
    return rules.line_entries * (lines - 1) + min(max(entries, fields), rules.line_entries)


def _costs(filled: Sequence[int], rules: MacroOpRules) -> list[int]:
    """Cost of each window in eighths of a cycle.

    The first pair of lines of a window takes a cycle and each further pair two. Entries
    after the first pair go into lines that the next windows fill; if these have room for a window's rest, it
    is free.
    """
    line = rules.line_entries
    costs = []
    room = 0
    for number, entries in enumerate(filled):
        rest = entries - _PAIR * line
        if entries > _MOST_LINES * line:
            costs.append(entries)
        elif rest <= 0 or _is_free(filled, number, line):
            costs.append(EIGHTHS)
        else:
            lines = max(0, -(-(rest - room) // line))
            room += lines * line - rest
            costs.append(EIGHTHS * (1 + _STEP * -(-lines // _PAIR)))
    return costs


def _ahead(filled: Sequence[int], rules: MacroOpRules) -> list[int]:
    """Costs like ``_costs``, for a small loop that begins in a window of one pair: the other windows are read
    ahead, and a further pair takes one cycle."""
    line = rules.line_entries
    costs = []
    for number, entries in enumerate(filled):
        rest = max(0, entries - _PAIR * line)
        last = number == len(filled) - 1
        free = rest <= line // 2 if last else _is_free(filled, number, line)
        costs.append(EIGHTHS * (1 if free else 1 + -(-rest // (_PAIR * line))))
    return costs


def _is_free(filled: Sequence[int], number: int, line: int) -> bool:
    """True if few entries follow the first pair of a window whose predecessor has a single line."""
    return number > 0 and filled[number - 1] <= line and filled[number] - _PAIR * line <= _FREE


def _is_one_read(filled: Sequence[int], line: int) -> bool:
    """True if a loop of two windows, no longer than one, is read at once: its first
    window fits in one line."""
    return filled[0] <= line and sum(filled[1:]) <= _PAIR * line
