"""Draws what happens to every uop in each cycle, as text.

                                        40        50
    iter.  instruction          ports   01234567890123456789
       12  add %rax, %rbx   p6 of 0156  P  QI....D.ER

The letters: P predecoded, Q added to the IDQ, I issued, r ready, D dispatched, E executed, R retired; on
AMD's cores D and I are swapped, as AMD uses these words. Dots fill the time between issue and retirement. The
drawing begins with the first iteration of the steady state over which averages are taken. Long times without
an event are cut out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby

from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.insight.pressure import port_shares
from cyclelens.analyzer.insight.timelines import shown as timeline
from cyclelens.analyzer.insight.timelines import steady_row
from cyclelens.analyzer.insight.vocabulary import Vocabulary
from cyclelens.analyzer.insight.waits import Timeline, Wait
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.model.units import Units
from msgspec import Struct

DEFAULT_ROUNDS = 3
MAX_CYCLES = 120
"""Most cycles drawn: wider pictures are unreadable."""
_RULER = (
    "If a cycle has several events, the last one is shown. A ~ in the ruler: cycles without events are cut."
)

_LABEL_WIDTH = 36
_PORTS_WIDTH = 10
_PICTURE = 5 + 2 + _LABEL_WIDTH + 2 + _PORTS_WIDTH + 2
"""Column of the first cycle."""
_DRAWN_ROWS, _DRAWN_CYCLES = 400, 1500
"""Most rows and cycles for a window of an editor."""
_LONG = 8
"""Longer times without an event, in cycles, are cut out."""
_LEVELS = " ▁▂▃▄▅▆▇█"


class Mark(Struct, frozen=True):
    """A part of a line with a meaning; an editor colours it."""

    line: int
    begin: int
    end: int
    """Columns in characters, ``end`` exclusive."""
    kind: str
    """What the time is spent on: ``front queue delay inputs port execution done``; or ``chain`` (on the
    critical chain), ``full`` (a full buffer), ``heading``."""


class Drawing(Struct, frozen=True):
    """The timeline with ports and buffers, for an editor that navigates in it."""

    lines: tuple[str, ...]
    marks: tuple[Mark, ...]
    rounds: tuple[int | None, ...]
    """Iteration of each line; None if it belongs to none."""
    instructions: tuple[int | None, ...]
    """Instruction of each line; None if it belongs to none."""
    columns: tuple[int, ...]
    """Column of each line where its picture begins, in characters."""
    notes: tuple[str, ...]
    """What the uop of each line waited for; several lines of text, or empty."""


def render(
    prediction: Prediction,
    rounds: int | range = DEFAULT_ROUNDS,
    *,
    texts: Sequence[str] | None = None,
    max_cycles: int = MAX_CYCLES,
) -> str:
    """Draws the trace, one line per uop.

    ``rounds``: how many iterations of the steady state, or which ones. ``texts``: the text of each
    instruction; by default as decoded. Raises ValueError if the simulation was run without a trace.
    """
    trace = prediction.simulation.trace
    if trace is None:
        raise ValueError("the simulation was run without a trace")
    if isinstance(rounds, int):
        first = trace.rows[steady_row(prediction, trace.rows)].round if trace.rows else 0
        rounds = range(first, first + rounds)
    chosen = [row for row in trace.rows if row.round in rounds]
    if not chosen:
        return "(no uop in these iterations)"
    cycles = eventful({cycle for row in chosen for _, cycle in _events(row) if cycle < trace.cycles})
    drawn = cycles[:max_cycles]
    words = vocabulary.of(prediction.microarchitecture)
    lines = [*_head(drawn, words), *_uop_lines(chosen, prediction, texts or _decoded(prediction), drawn)]
    if len(drawn) < len(cycles):
        lines.append(
            f"(cut after cycle {drawn[-1]}; the last of these iterations ends in cycle {cycles[-1]})"
        )
    lines += _legend(words)
    return "\n".join(lines)


def eventful(events: Set[int], longest: int = _LONG) -> Sequence[int]:
    """The cycles from the first to the last event; of a time without events that is longer than ``longest``
    only its first cycle."""
    cycles: list[int] = []
    for cycle in sorted(events):
        if cycles and cycle - cycles[-1] > longest:
            cycles.append(cycles[-1] + 1)
        else:
            cycles.extend(range(cycles[-1] + 1 if cycles else cycle, cycle))
        cycles.append(cycle)
    return cycles


def draw(prediction: Prediction, *, texts: Sequence[str] | None = None) -> Drawing:
    """Iterations of the steady state with ports and buffers below them. Raises ValueError like ``render``."""
    shown = timeline(prediction, _DRAWN_ROWS)
    texts = texts or _decoded(prediction)
    first = steady_row(prediction, shown.rows)
    rows = shown.rows[first:]
    begin = min((cycle for row in rows for _, cycle in _events(row)), default=0)
    cycles = range(begin, min(shown.cycles, begin + _DRAWN_CYCLES))
    words = vocabulary.of(prediction.microarchitecture)
    lines = [*_head(cycles, words), *_uop_lines(rows, prediction, texts, cycles)]
    count = len(rows)
    notes = ["", "", *("\n".join(explain(shown, first + number, texts, words)) for number in range(count))]
    marks = [Mark(0, 0, len(lines[0]), "heading"), Mark(1, 0, len(lines[1]), "heading")]
    on_chain = {row for edge in shown.chain for row in (edge.producer, edge.consumer)}
    for number, row in enumerate(rows):
        marks += _marks(2 + number, row, shown.waits[first + number], cycles)
        if first + number in on_chain and "Dependencies" in prediction.bottlenecks:
            marks.append(Mark(2 + number, 7, _PICTURE - 2, "chain"))
    for text, own in _feet(shown, cycles, port_shares(prediction), words):
        marks += [Mark(len(lines), start, stop, kind) for start, stop, kind in own]
        lines.append(text)
    lines += _legend(words)
    rest = (None,) * (len(lines) - count - 2)
    columns = (_PICTURE + min((cycle for _, cycle in _events(row)), default=begin) - begin for row in rows)
    return Drawing(
        lines=tuple(lines),
        marks=tuple(marks),
        rounds=(None, None, *(row.round for row in rows), *rest),
        instructions=(None, None, *(row.instruction for row in rows), *rest),
        columns=(_PICTURE, _PICTURE, *columns, *(_PICTURE for _ in rest)),
        notes=(*notes, *("" for _ in rest)),
    )


def explain(shown: Timeline, number: int, texts: Sequence[str], words: Vocabulary) -> Iterator[str]:
    """What a uop waited for, one sentence per cause: ``31 to 91: 60 cycles for ymm0, made by ...``; for waits
    that recur ``70 to 117: 36 cycles in 12 waits like the last, for room in the ROB, ...``."""
    causes: dict[tuple[str, str], list[tuple[Wait, str]]] = {}
    for wait, reason in sentences(shown, number, texts, words):
        causes.setdefault((wait.cause, wait.value), []).append((wait, reason))
    for alike in causes.values():
        (first, _), (last, reason) = alike[0], alike[-1]
        spent = wording.cycles(sum(wait.end - wait.begin for wait, _ in alike))
        times = f" in {len(alike)} waits like the last," if len(alike) > 1 else ""
        yield f"{first.begin} to {last.end}: {spent}{times} {reason}"


def sentences(
    shown: Timeline, number: int, texts: Sequence[str], words: Vocabulary, *, numbered: bool = True
) -> Iterator[tuple[Wait, str]]:
    """Each wait of a uop with its reason: ``for ymm0, made by ...``. ``numbered``: the picture has the
    numbers of iterations."""
    reader = shown.rows[number]

    def name(row: int | None) -> str:
        if row is None:
            return "an earlier uop"
        other = shown.row(row)
        when = _iteration(other.round, reader.round, numbered)
        return " ".join(_own_text(other, texts[other.instruction]).split()) + when

    for wait in shown.waits[number]:
        value = words.part(wording.value(wait.value)) or "the previous uop's result"
        yield wait, words.waits[wait.cause].format(uop=name(wait.uop), value=value)


def _iteration(other: int, reader: int, numbered: bool) -> str:
    """In brackets, which iteration a uop belongs to, seen from another one; empty for the same iteration."""
    distance = reader - other
    if not distance:
        return ""
    if distance == 1:
        return " (previous iteration)"
    if numbered:
        return f" (iteration {other})"
    if distance > 0:
        return f" ({distance} iterations earlier)"
    return " (next iteration)" if distance == -1 else f" ({-distance} iterations later)"


def _decoded(prediction: Prediction) -> Sequence[str]:
    return [template.instruction.text for template in prediction.instructions]


def _legend(words: Vocabulary) -> tuple[str, str]:
    """What the letters mean, and how to read the ruler."""
    return f"{words.timeline_legend}.", _RULER


def _head(cycles: Sequence[int], words: Vocabulary) -> tuple[str, str]:
    """The column names and the cycle numbers above them."""
    head = f"{'iter.':>5}  {'instruction':<{_LABEL_WIDTH}}  {words.unit + 's':>{_PORTS_WIDTH}}  "
    tens, units = ruler(cycles)
    return " " * len(head) + tens, head + units


def _uop_lines(
    rows: Sequence[TraceRow], prediction: Prediction, texts: Sequence[str], cycles: Sequence[int]
) -> Iterator[str]:
    units = registry.get(prediction.microarchitecture).units
    letters = _letters(vocabulary.of(prediction.microarchitecture))
    previous: tuple[int, int, str] | None = None
    for row in rows:
        group = (row.round, row.instruction, row.kind)
        label, number = "", ""
        if group != previous:
            label = _label(row, texts[row.instruction])
            number = str(row.round) if previous is None or previous[0] != row.round else ""
            previous = group
        picture = _picture(row, cycles, letters).rstrip()
        what = f"{number:>5}  {label:<{_LABEL_WIDTH}}  {_port(row, units):>{_PORTS_WIDTH}}"
        yield f"{what}  {picture}".rstrip()


_KINDS = {
    "decode": "front",
    "input": "inputs",
    "unit": "inputs",
    "fence": "inputs",
    "divider": "port",
    "pair": "port",
    "result": "port",
}
_KINDS |= {"full": "queue", "slots": "queue", "renamer": "queue", "store": "execution"}
_KINDS |= {"order": "done", "width": "done"}


def _marks(line: int, row: TraceRow, waits: Sequence[Wait], cycles: range) -> Iterator[Mark]:
    offset = _PICTURE - cycles.start
    for wait in waits:
        begin, stop = max(wait.begin, cycles.start), min(wait.end, cycles.stop)
        if begin < stop:
            yield Mark(line, offset + begin, offset + stop, _KINDS.get(wait.cause, wait.cause))
    if row.retired is not None and row.retired in cycles:
        yield Mark(line, offset + row.retired, offset + row.retired + 1, "done")


def _feet(
    shown: Timeline, cycles: range, shares: Mapping[str, float], words: Vocabulary
) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """Lines of the ports, with the last digit of each uop's iteration, and of the buffers, as bars.

    ``shares``: how busy each port is on average.
    """
    on_chain = {row for edge in shown.chain for row in (edge.producer, edge.consumer)}
    heading = f"{words.unit}: how busy it is, and the iteration of the uop that went to it (last digit)"
    yield "", []
    yield heading, [(0, len(heading), "heading")]
    offset = _PICTURE - cycles.start
    for port, taken in shown.ports.items():
        digits = "".join(str(shown.row(taken[at]).round % 10) if at in taken else " " for at in cycles)
        share = f"{shares.get(port, 0.0):.0%}"
        chain = [
            (offset + at, offset + at + 1, "chain") for at in taken if at in cycles and taken[at] in on_chain
        ]
        name = words.one_unit(port)
        yield f"{'':>5}  {name:<{_LABEL_WIDTH}}  {share:>{_PORTS_WIDTH}}  {digits}".rstrip(), chain
    yield "", []
    heading = "buffer: how full it is at the start of a cycle"
    yield heading, [(0, len(heading), "heading")]
    for one in shown.occupancy:
        counts = one.counts[cycles.start : cycles.stop]
        size = one.buffer.size
        levels = [min(size, count) for count in counts]
        bar = "".join(_LEVELS[-(-level * (len(_LEVELS) - 1) // size)] for level in levels)
        most = f"{max(counts, default=0)} of {size}"
        full = []
        position = _PICTURE
        for stalls, group in groupby(counts, key=lambda count: count > one.buffer.stalls_above):
            length = len(list(group))
            if stalls:
                full.append((position, position + length, "full"))
            position += length
        yield (
            f"{'':>5}  {words.part(one.buffer.name):<{_LABEL_WIDTH}}  {most:>{_PORTS_WIDTH}}  {bar}".rstrip(),
            full,
        )


def _events(row: TraceRow) -> Iterator[tuple[int, int]]:
    """(position, cycle) of each event, in pipeline order: a later one hides an earlier one."""
    times = (row.predecoded, row.added_to_idq, row.issued, row.ready, row.dispatched, row.executed)
    for place, cycle in enumerate((*times, row.retired)):
        if cycle is not None:
            yield place, cycle


def _letters(words: Vocabulary) -> Sequence[str]:
    """Letters of the events, in pipeline order."""
    return [letter for letter, _ in words.events]


def _picture(row: TraceRow, cycles: Sequence[int], names: Sequence[str]) -> str:
    letters = {cycle: names[place] for place, cycle in _events(row)}
    stays = range(0)
    if row.issued is not None:
        stays = range(row.issued, cycles[-1] + 1 if row.retired is None else row.retired)
    return "".join(letters.get(cycle, "." if cycle in stays else " ") for cycle in cycles)


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


def ruler(cycles: Sequence[int]) -> tuple[str, str]:
    """Two lines: the numbers of the first cycle, of every tenth and of those after a cut; and last digits.

    A number that does not fit before the end, or beside the one before it, is left out."""
    tens = ""
    units = []
    for column, cycle in enumerate(cycles):
        begins = not column or cycles[column - 1] != cycle - 1
        cut = column + 1 < len(cycles) and cycles[column + 1] != cycle + 1
        fits = (len(tens) < column or not column) and column + len(str(cycle)) <= len(cycles)
        if not cut and (begins or not cycle % 10) and fits:
            tens = tens.ljust(column) + str(cycle)
        units.append("~" if cut else str(cycle % 10))
    return tens, "".join(units)
