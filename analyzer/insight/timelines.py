"""Prepares timelines for display: from the steady state on, with values named as the readers write them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from cyclelens.analyzer.insight.waits import Timeline, ValueEdge, timeline
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec.structs import replace

_LEAST_ROUNDS = 3


def steady_row(prediction: Prediction, rows: Sequence[TraceRow]) -> int:
    """Index of the first row of the measured iterations; 0 if the rows end before."""
    first = bisect_left(rows, prediction.simulation.first_round, key=lambda row: row.round)
    return first if first < len(rows) else 0


def shown(prediction: Prediction, most_rows: int | None = None) -> Timeline:
    """A prediction's timeline with about ``most_rows`` rows of the steady state, but at least three
    iterations; by default all rows. A warm-up of more than ``most_rows`` rows is left out.

    Raises ValueError if the simulation was run without a trace.
    """
    trace = prediction.simulation.trace
    if trace is None or most_rows is None:
        drawn = timeline(prediction)
    else:
        first = steady_row(prediction, trace.rows)
        least = trace.rows[first].round + _LEAST_ROUNDS if trace.rows else 0
        end = max(first + most_rows, bisect_left(trace.rows, least, key=lambda row: row.round))
        drawn = timeline(prediction, end)
        if first > most_rows:
            drawn = _from_row(drawn, first)

    def name(row: TraceRow, value: str) -> str:
        return _name(prediction.instructions[row.instruction], value) if row.kind == "uop" else value.lower()

    inputs = tuple(
        tuple(replace(one, value=name(row, one.value)) for one in read)
        for row, read in zip(drawn.rows, drawn.inputs, strict=False)
    )
    waits = tuple(
        tuple(
            replace(wait, value=name(row, wait.value)) if wait.cause == "input" else wait for wait in listed
        )
        for row, listed in zip(drawn.rows, drawn.waits, strict=True)
    )
    return replace(drawn, inputs=inputs, waits=waits)


def _from_row(drawn: Timeline, first: int) -> Timeline:
    """The timeline from row ``first`` on. Earlier rows that others refer to get
    numbers after the last row."""
    rows = drawn.rows[first:]
    numbers = {number: number - first for number in range(first, len(drawn.rows))}

    def moved(old: int) -> int:
        return numbers.setdefault(old, len(numbers))

    begin = min((row.issued for row in rows if row.issued is not None), default=0)
    inputs = tuple(
        tuple(replace(one, producer=moved(one.producer)) for one in read) for read in drawn.inputs[first:]
    )
    waits = tuple(
        tuple(wait if wait.uop is None else replace(wait, uop=moved(wait.uop)) for wait in listed)
        for listed in drawn.waits[first:]
    )
    ports = {
        port: {cycle: moved(row) for cycle, row in taken.items() if cycle >= begin}
        for port, taken in drawn.ports.items()
    }
    return replace(
        drawn,
        rows=rows,
        inputs=inputs,
        waits=waits,
        chain=frozenset(
            ValueEdge(edge.producer - first, edge.consumer - first)
            for edge in drawn.chain
            if min(edge.producer, edge.consumer) >= first
        ),
        ports=ports,
        later={new: drawn.row(old) for old, new in numbers.items() if new >= len(rows)},
    )


def _name(template: InstructionTemplate, value: str) -> str:
    """The instruction's own name for a value that the renamer knows by ``value``."""
    operands = (*template.register_inputs, *template.address_inputs)
    written = (operand.name.lower() for operand in operands if operand.canonical == value)
    return next(written, value)
