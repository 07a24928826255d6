"""What happens to every uop in which cycle, as text.

                                        0         10
    round  instruction          ports   01234567890123456789
        0  add %rax, %rbx   p6 of 0156  P  QI....D.ER

The letters: P predecoded, Q added to the IDQ, I issued, r ready, D dispatched, E executed, R retired. Dots
fill the time between issue and retirement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.waits import CAUSES, Timeline, Wait, timeline
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, TraceRow
from cyclelens.analyzer.model.units import Units

DEFAULT_ROUNDS = 3
MAX_CYCLES = 120
"""Cycles drawn at most: wider pictures cannot be read."""
LEGEND = (
    "P predecoded, Q added to the IDQ, I issued, r ready, D dispatched, E executed, R retired.\n"
    "Of several in one cycle the last is shown."
)

_LABEL_WIDTH = 36
_PORTS_WIDTH = 10
_PICTURE = 5 + 2 + _LABEL_WIDTH + 2 + _PORTS_WIDTH + 2
"""Column where the cycles begin."""
_DRAWN_ROWS, _DRAWN_CYCLES = 400, 1500
"""What a window of an editor is given at most."""
_LEVELS = " ▁▂▃▄▅▆▇█"


class Mark(NamedTuple):
    """A part of a line that means something; an editor gives it a colour."""

    line: int
    begin: int
    end: int
    """Columns in characters, the end is behind the last one."""
    kind: str
    """What the time is spent on: ``front queue delay inputs port execution done``; or ``chain`` (on the
    critical chain), ``full`` (a buffer), ``heading``."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The timeline with ports and buffers, for an editor that moves about in it."""

    lines: tuple[str, ...]
    marks: tuple[Mark, ...]
    rounds: tuple[int | None, ...]
    """For every line the iteration that it belongs to."""
    instructions: tuple[int | None, ...]
    """For every line the instruction that it belongs to."""
    columns: tuple[int, ...]
    """For every line where its picture begins, in characters."""
    notes: tuple[str, ...]
    """For every line what its uop waited for; several lines of text, or empty."""


def render(
    prediction: Prediction,
    rounds: int | range = DEFAULT_ROUNDS,
    *,
    labels: Mapping[int, str] | None = None,
    max_cycles: int = MAX_CYCLES,
) -> str:
    """Draw the trace, one line a uop.

    ``rounds``: how many from the start, or which. ``labels``: text by instruction index, by default the
    decoded instruction. Raises ValueError if the simulation was run without a trace.
    """
    trace = prediction.simulation.trace
    if trace is None:
        raise ValueError("the simulation was run without a trace")
    wanted = range(rounds) if isinstance(rounds, int) else rounds
    chosen = [row for row in trace.rows if row.round in wanted]
    if not chosen:
        return "(no uop in these rounds)"
    first = min((cycle for row in chosen for _, cycle in _events(row)), default=0)
    # A round alone in the middle of a run starts where it starts, the first one at cycle 0.
    start = 0 if 0 in wanted else first
    end = max((cycle for row in chosen for _, cycle in _events(row)), default=start) + 1
    cut = min(end, trace.cycles, start + max_cycles)
    lines = [*_head(start, cut), *_uop_lines(chosen, prediction, _texts(prediction, labels), start, cut)]
    if cut < end:
        lines.append(f"(cut after cycle {cut - 1}; the last of these rounds ends in cycle {end - 1})")
    lines.append(LEGEND)
    return "\n".join(lines)


def draw(prediction: Prediction, *, labels: Mapping[int, str] | None = None) -> Drawing:
    """The first iterations with ports and buffers below them. Raises ValueError as ``render``."""
    shown = timeline(prediction, _DRAWN_ROWS)
    texts = _texts(prediction, labels)
    end = min(shown.cycles, _DRAWN_CYCLES)
    lines = [*_head(0, end), *_uop_lines(shown.rows, prediction, texts, 0, end)]
    count = len(shown.rows)
    notes = ["", "", *("\n".join(explain(shown, number, texts)) for number in range(count))]
    marks = [Mark(0, 0, len(lines[0]), "heading"), Mark(1, 0, len(lines[1]), "heading")]
    on_chain = {row for edge in shown.chain for row in edge}
    for number, row in enumerate(shown.rows):
        marks += _marks(2 + number, row, shown.waits[number], end)
        if number in on_chain and "Dependencies" in prediction.bottlenecks:
            marks.append(Mark(2 + number, 7, _PICTURE - 2, "chain"))
    for text, own in _feet(shown, end):
        marks += [Mark(len(lines), begin, stop, kind) for begin, stop, kind in own]
        lines.append(text)
    lines += LEGEND.split("\n")
    rest = (None,) * (len(lines) - count - 2)
    columns = (min((_PICTURE + cycle for _, cycle in _events(row)), default=_PICTURE) for row in shown.rows)
    return Drawing(
        lines=tuple(lines),
        marks=tuple(marks),
        rounds=(None, None, *(row.round for row in shown.rows), *rest),
        instructions=(None, None, *(row.instruction for row in shown.rows), *rest),
        columns=(_PICTURE, _PICTURE, *columns, *(_PICTURE for _ in rest)),
        notes=(*notes, *("" for _ in rest)),
    )


def explain(shown: Timeline, number: int, texts: Mapping[int, str]) -> Iterator[str]:
    """What a uop waited for, a sentence each: ``31 to 91: 60 cycles for XMM0, made by ...``."""
    reader = shown.rows[number]

    def name(row: int | None) -> str:
        if row is None:
            return "an earlier one"
        other = shown.row(row)
        distance = reader.round - other.round
        when = (
            "" if not distance else " (iteration before)" if distance == 1 else f" (iteration {other.round})"
        )
        return " ".join(_own_text(other, texts[other.instruction]).split()) + when

    for wait in shown.waits[number]:
        if wait.end > wait.begin:
            words = CAUSES[wait.cause].format(uop=name(wait.uop), value=wait.value or "the part before")
            yield f"{wait.begin} to {wait.end}: {wording.cycles(wait.end - wait.begin)} {words}"


def _texts(prediction: Prediction, labels: Mapping[int, str] | None) -> dict[int, str]:
    return {
        index: (labels or {}).get(index, template.instruction.text)
        for index, template in enumerate(prediction.instructions)
    }


def _head(start: int, end: int) -> tuple[str, str]:
    """The names of the columns below the numbers of the cycles."""
    head = f"{'round':>5}  {'instruction':<{_LABEL_WIDTH}}  {'ports':>{_PORTS_WIDTH}}  "
    tens, units = _ruler(start, end)
    return " " * len(head) + tens, head + units


def _uop_lines(
    rows: Sequence[TraceRow], prediction: Prediction, texts: Mapping[int, str], start: int, end: int
) -> Iterator[str]:
    units = registry.get(prediction.microarchitecture).units
    previous: tuple[int, int, str] | None = None
    for row in rows:
        group = (row.round, row.instruction, row.kind)
        label, number = "", ""
        if group != previous:
            label = _label(row, texts[row.instruction])
            number = str(row.round) if previous is None or previous[0] != row.round else ""
            previous = group
        picture = _picture(row, start, end).rstrip()
        what = f"{number:>5}  {label:<{_LABEL_WIDTH}}  {_port(row, units):>{_PORTS_WIDTH}}"
        yield f"{what}  {picture}".rstrip()


_KINDS = {
    "decode": "front",
    "input": "inputs",
    "unit": "inputs",
    "fence": "inputs",
    "divider": "port",
    "pair": "port",
}
_KINDS |= {"full": "queue", "slots": "queue", "renamer": "queue", "store": "execution"}
_KINDS |= {"order": "done", "width": "done"}


def _marks(line: int, row: TraceRow, waits: Sequence[Wait], end: int) -> Iterator[Mark]:
    for wait in waits:
        begin, stop = min(wait.begin, end), min(wait.end, end)
        if begin < stop:
            yield Mark(line, _PICTURE + begin, _PICTURE + stop, _KINDS.get(wait.cause, wait.cause))
    if row.retired is not None and row.retired < end:
        yield Mark(line, _PICTURE + row.retired, _PICTURE + row.retired + 1, "done")


def _feet(shown: Timeline, end: int) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """Ports, with the last digit of the iteration that each uop belongs to, and buffers as bars."""
    on_chain = {row for edge in shown.chain for row in edge}
    heading = "port: the iteration of the uop that was dispatched to it (last digit)"
    yield "", []
    yield heading, [(0, len(heading), "heading")]
    for port, taken in shown.ports.items():
        digits = "".join(str(shown.row(taken[at]).round % 10) if at in taken else " " for at in range(end))
        share = f"{sum(1 for at in taken if at < end) / max(1, end):.0%}"
        chain = [
            (_PICTURE + at, _PICTURE + at + 1, "chain") for at in taken if at < end and taken[at] in on_chain
        ]
        name = f"port {port}"
        yield f"{'':>5}  {name:<{_LABEL_WIDTH}}  {share:>{_PORTS_WIDTH}}  {digits}".rstrip(), chain
    yield "", []
    heading = "buffer: how full it is at the start of a cycle"
    yield heading, [(0, len(heading), "heading")]
    for one in shown.occupancy:
        levels = [min(one.size, count) for count in one.counts[:end]]
        bar = "".join(_LEVELS[-(-level * (len(_LEVELS) - 1) // one.size)] for level in levels)
        most = f"{max(one.counts[:end], default=0)} of {one.size}"
        full = []
        position = _PICTURE
        for stalls, group in groupby(one.counts[:end], key=lambda count: count > one.stalls_above):
            length = len(list(group))
            if stalls:
                full.append((position, position + length, "full"))
            position += length
        yield f"{'':>5}  {one.name:<{_LABEL_WIDTH}}  {most:>{_PORTS_WIDTH}}  {bar}".rstrip(), full


def _events(row: TraceRow) -> Iterator[tuple[str, int]]:
    """The letters in the order in which a later one hides an earlier one."""
    for letter, cycle in (
        ("P", row.predecoded),
        ("Q", row.added_to_idq),
        ("I", row.issued),
        ("r", row.ready),
        ("D", row.dispatched),
        ("E", row.executed),
        ("R", row.retired),
    ):
        if cycle is not None:
            yield letter, cycle


def _picture(row: TraceRow, start: int, end: int) -> str:
    cells = [" "] * (end - start)
    if row.issued is not None:
        retired = row.retired if row.retired is not None else end
        for cycle in range(max(row.issued, start), min(retired, end)):
            cells[cycle - start] = "."
    for letter, cycle in _events(row):
        if start <= cycle < end:
            cells[cycle - start] = letter
    return "".join(cells)


def _port(row: TraceRow, units: Units) -> str:
    if row.port == "elim":
        return "eliminated"
    if row.port:
        port = units.label(row.port)
        full = f"{port} of {row.ports}"
        return full if len(full) <= _PORTS_WIDTH else port
    return "fused" if row.kind == "fused" else "-"


def _own_text(row: TraceRow, text: str) -> str:
    return {"sync": "(stack sync)", "merge": "(register merge)"}.get(row.kind, text)


def _label(row: TraceRow, text: str) -> str:
    text = " ".join(_own_text(row, text).split())
    return text if len(text) <= _LABEL_WIDTH else text[: _LABEL_WIDTH - 1] + "…"


def _ruler(start: int, end: int) -> Sequence[str]:
    """Two lines: the cycle number at every tenth cycle, and the last digits."""
    tens = [" "] * (end - start)
    for cycle in range(start + -start % 10, end, 10):
        for offset, digit in enumerate(str(cycle)):
            if cycle - start + offset < len(tens):
                tens[cycle - start + offset] = digit
    units = "".join(str(cycle % 10) for cycle in range(start, end))
    return "".join(tens).rstrip(), units
