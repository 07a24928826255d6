"""What happens to every uop in which cycle, as text.

                                        0         10
    round  instruction          ports   01234567890123456789
        0  add %rax, %rbx   p6 of 0156  P  QI....D.ER

The letters: P predecoded, Q added to the IDQ, I issued, r ready, D dispatched, E executed, R retired. Dots
fill the time between issue and retirement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cyclelens.analyzer.model.result import Prediction, TraceRow

DEFAULT_ROUNDS = 3
MAX_CYCLES = 120
"""Cycles drawn at most: wider pictures cannot be read."""
LEGEND = (
    "P predecoded, Q added to the IDQ, I issued, r ready, D dispatched, E executed, R retired.\n"
    "Of several in one cycle the last is shown."
)

_LABEL_WIDTH = 36
_PORTS_WIDTH = 10


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
    texts = {
        index: (labels or {}).get(index, template.instruction.text)
        for index, template in enumerate(prediction.instructions)
    }
    head = f"{'round':>5}  {'instruction':<{_LABEL_WIDTH}}  {'ports':>{_PORTS_WIDTH}}  "
    lines = [head + line for line in _ruler(start, cut)]
    lines[0] = " " * len(head) + lines[0][len(head) :]
    previous: tuple[int, int, str] | None = None
    for row in chosen:
        group = (row.round, row.instruction, row.kind)
        label, number = "", ""
        if group != previous:
            label = _label(row, texts[row.instruction])
            number = str(row.round) if previous is None or previous[0] != row.round else ""
            previous = group
        picture = _picture(row, start, cut).rstrip()
        what = f"{number:>5}  {label:<{_LABEL_WIDTH}}  {_port(row):>{_PORTS_WIDTH}}"
        lines.append(f"{what}  {picture}".rstrip())
    if cut < end:
        lines.append(f"(cut after cycle {cut - 1}; the last of these rounds ends in cycle {end - 1})")
    lines.append(LEGEND)
    return "\n".join(lines)


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


def _port(row: TraceRow) -> str:
    if row.port == "elim":
        return "eliminated"
    if row.port:
        return f"p{row.port} of {row.ports}"
    return "fused" if row.kind == "fused" else "-"


def _label(row: TraceRow, text: str) -> str:
    if row.kind == "sync":
        text = "(stack sync)"
    elif row.kind == "merge":
        text = "(register merge)"
    text = " ".join(text.split())
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
