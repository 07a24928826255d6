"""Draws a part of the steady state for a hover: one row per instruction, at most ``WIDTH`` columns.

                            0         10   170
                            01234567890~89012345
    >1 vfmadd231ps (%rdi)…  D=========~eeeeE-R

The letters are those of llvm-mca's timeline view. All uops of an instruction share its row. Long times
without an event are cut out, as in the whole timeline.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set

from cyclelens.analyzer.common.escaping import printable, prose
from cyclelens.analyzer.insight import as_written, vocabulary, wording
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.timelines import shown
from cyclelens.analyzer.insight.waits import Timeline, Wait
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.reports.timeline import eventful, ruler, sentences

WIDTH = 60
"""Columns that a hover of VS Code shows without wrapping, at its default width."""
LEGEND = (
    "D dispatched to the scheduler, = waiting, e executing, E executed, - waiting for retirement, R retired; "
    "~ cycles without events are left out"
)
"""Markdown without a sign that needs an escape: Neovim shows the backslash of one."""
_AROUND, _ROWS = 5, 12
"""Most instructions of each of two iterations, and of a single one."""
_LABEL = 24
_MOST_WAITS = 3
_CUTS = (8, 4, 2, 1)
"""Lengths, in cycles, above which a time without an event is cut out: the first with which all fits."""
_OWN_TIME = frozenset({"execution", "delay"})
"""Causes of time that an instruction spends by itself."""


def around(region: RegionAnalysis, prediction: Prediction, instruction: int) -> str:
    """Markdown: two iterations around an instruction, and what it waits for.

    Raises ValueError if the simulation was run without a trace.
    """
    drawn = shown(prediction, 1)
    texts = as_written.texts(region, prediction)
    first = min(max(instruction - _AROUND // 2, 0), max(len(texts) - _AROUND, 0))
    chosen = range(first, min(first + _AROUND, len(texts)))
    rounds = sorted({row.round for row in drawn.rows})[:2]
    heading = "Timeline of one pass" if len(rounds) < 2 else "Timeline of two iterations"
    lines = [_heading(heading, chosen, texts), *_block(drawn, texts, rounds, chosen, {instruction}, ">")]
    if waits := _waits(drawn, texts, rounds, instruction, prediction):
        lines += ["", "It waits", "", *(f"- {prose(each)}" for each in waits)]
    else:
        lines += ["", "It waits for nothing."]
    return "\n".join([*lines, "", f"*{LEGEND}*"])


def iteration(region: RegionAnalysis, prediction: Prediction) -> str:
    """Markdown: one iteration, with the critical chain marked. Raises like ``around``."""
    drawn = shown(prediction, 1)
    texts = as_written.texts(region, prediction)
    rounds = sorted({row.round for row in drawn.rows})[:1]
    once = prediction.mode is Mode.ONCE
    chain, meaning = _chain(prediction)
    # Of a long region, first the chain.
    chosen = sorted(sorted(range(len(texts)), key=lambda index: index not in chain)[:_ROWS])
    heading = "Timeline of one pass" if once else "Timeline of one iteration"
    lines = [_heading(heading, chosen, texts), *_block(drawn, texts, rounds, chosen, chain, "*")]
    return "\n".join([*lines, "", *([prose(meaning), ""] if meaning else []), f"*{LEGEND}*"])


def _chain(prediction: Prediction) -> tuple[Set[int], str]:
    """The instructions of the critical chain, or path, and a sentence about it."""
    if prediction.mode is Mode.ONCE:
        once = prediction.once
        return (
            (set(), "")
            if once is None
            else ({step[0] for step in once.path}, f"* the critical path: {wording.cycles(once.path_cycles)}")
        )
    graph = dependencies(prediction)
    chain = {step.instruction for steps in graph.chains for step in steps}
    if not chain:
        return chain, "No value is carried from one iteration to the next."
    cycles = f"{float(graph.cycles_per_iteration):.2f} cycles per iteration"
    if "Dependencies" in prediction.bottlenecks:
        return chain, f"* the critical chain: {cycles}"
    return chain, f"* the longest chain: {cycles}; it does not limit the region"


def _heading(what: str, chosen: Collection[int], texts: Sequence[str]) -> str:
    some = f", {len(chosen)} of {len(texts)} instructions" if len(chosen) < len(texts) else ""
    return f"**{what}**{some}"


def _block(
    drawn: Timeline,
    texts: Sequence[str],
    rounds: Sequence[int],
    chosen: Collection[int],
    marked: Collection[int],
    mark: str,
) -> list[str]:
    """The picture as a block of code; the rows of ``marked`` instructions begin with ``mark``."""
    rows = {
        (number, index): [row for row in drawn.rows if (row.round, row.instruction) == (number, index)]
        for number in rounds
        for index in chosen
    }
    labels = {
        (number, index): (mark if index in marked else " ")
        + (f"{place} " if len(rounds) > 1 else " ")
        + printable(" ".join(texts[index].split())).replace("`", "'")
        for place, number in enumerate(rounds, 1)
        for index in chosen
    }
    label = min(max(map(len, labels.values()), default=0), _LABEL)
    room = WIDTH - label - 1
    events = {cycle for own in rows.values() for row in own for cycle in _times(row)}
    if not events:
        return ["", "(no events)"]
    for longest in _CUTS:
        cycles = eventful(events, longest)
        if len(cycles) <= room:
            break
    cut = len(cycles) > room
    cycles = cycles[:room]
    tens, units = ruler([cycle - cycles[0] for cycle in cycles])
    lines = [f"{'':<{label}} {tens}".rstrip(), f"{' cycle':<{label}} {units}"]
    for key, text in labels.items():
        name = text if len(text) <= label else f"{text[: label - 1]}…"
        lines.append(f"{name:<{label}} {_picture(rows[key], cycles)}".rstrip())
    end = ["", f"The picture ends {wording.cycles(max(events) - cycles[-1])} before the last event."]
    return ["", "```text", *lines, "```", *(end if cut else [])]


def _times(row: TraceRow) -> Sequence[int]:
    times = (row.issued, row.dispatched, row.executed, row.retired)
    return [cycle for cycle in times if cycle is not None]


def _picture(rows: Sequence[TraceRow], cycles: Sequence[int]) -> str:
    """The letters of an instruction's uops."""
    begin = min((row.issued for row in rows if row.issued is not None), default=None)
    if begin is None:
        return "(fused)"
    ends = [row.retired for row in rows if row.kind != "fused"]
    end = cycles[-1] + 1 if None in ends else max(cycle for cycle in ends if cycle is not None)
    busy = [
        range(row.dispatched, row.executed)
        for row in rows
        if row.dispatched is not None and row.executed is not None
    ]
    done = max((each.stop for each in busy), default=begin)

    def letter(cycle: int) -> str:
        if cycle < begin or cycle > end:
            return " "
        if cycle in (begin, end):
            return "D" if cycle == begin else "R"
        if any(cycle in each for each in busy):
            return "e"
        return "=" if cycle < done else "E" if cycle == done else "-"

    return "".join(map(letter, cycles)).rstrip()


def _waits(
    drawn: Timeline, texts: Sequence[str], rounds: Sequence[int], instruction: int, prediction: Prediction
) -> Sequence[str]:
    """The longest waits of an instruction in the first of these iterations, in order of time."""
    words = vocabulary.of(prediction.microarchitecture)
    own = [n for n, row in enumerate(drawn.rows) if (row.round, row.instruction) == (rounds[0], instruction)]
    found: dict[tuple[str, str], tuple[Wait, str]] = {}
    for number in own:
        for wait, sentence in sentences(drawn, number, texts, words, numbered=False):
            key = wait.cause, wait.value
            length = wait.end - wait.begin
            if wait.cause not in _OWN_TIME and (key not in found or length > _length(found[key])):
                found[key] = wait, f"{wording.cycles(length)} {sentence}"
    longest = sorted(found.values(), key=_length, reverse=True)[:_MOST_WAITS]
    return [sentence for _, sentence in sorted(longest, key=lambda each: each[0].begin)]


def _length(found: tuple[Wait, str]) -> int:
    return found[0].end - found[0].begin
