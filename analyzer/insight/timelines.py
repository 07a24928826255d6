"""The timeline as it is shown: from the steady state on, with values named as their readers write them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from cyclelens.analyzer.insight.waits import Timeline, timeline
from cyclelens.analyzer.model.result import Prediction, TraceRow
from cyclelens.analyzer.model.uops import InstructionTemplate

_LEAST_ROUNDS = 3


def steady_row(prediction: Prediction) -> int:
    """The first row of the trace that belongs to the iterations over which averages are taken; 0 if the trace
    ends before them, or if there is none."""
    trace = prediction.simulation.trace
    if trace is None:
        return 0
    first = bisect_left(trace.rows, prediction.simulation.first_round, key=lambda row: row.round)
    return first if first < len(trace.rows) else 0


def shown(prediction: Prediction, most_rows: int | None = None) -> Timeline:
    """A prediction's timeline from its beginning, with about ``most_rows`` rows of its steady state, but at
    least three iterations of it; by default all. Raises ValueError if the simulation was run without a trace.
    """
    trace = prediction.simulation.trace
    if trace is not None and most_rows is not None:
        first = steady_row(prediction)
        least = trace.rows[first].round + _LEAST_ROUNDS if trace.rows else 0
        most_rows = max(first + most_rows, bisect_left(trace.rows, least, key=lambda row: row.round))
    drawn = timeline(prediction, most_rows)

    def name(row: TraceRow, value: str) -> str:
        return _name(prediction.instructions[row.instruction], value) if row.kind == "uop" else value.lower()

    inputs = tuple(
        tuple(one._replace(value=name(row, one.value)) for one in read)
        for row, read in zip(drawn.rows, drawn.inputs, strict=False)
    )
    waits = tuple(
        tuple(
            wait._replace(value=name(row, wait.value)) if wait.cause == "input" else wait for wait in listed
        )
        for row, listed in zip(drawn.rows, drawn.waits, strict=True)
    )
    return replace(drawn, inputs=inputs, waits=waits)


def _name(template: InstructionTemplate, value: str) -> str:
    """What an instruction calls a value that the renamer knows by this name."""
    operands = (*template.register_inputs, *template.address_inputs)
    written = (operand.name.lower() for operand in operands if operand.canonical == value)
    return next(written, value)
