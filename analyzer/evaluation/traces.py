"""Finds the first event in which two traces of the same block differ, and names the rules behind it.

Later differences usually follow from the first one, so only that one is reported.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import cast

from cyclelens.analyzer.evaluation.files import DatasetError, lines_of, open_text
from cyclelens.analyzer.model.simulation import TraceRow
from msgspec import Struct
from msgspec.structs import replace

ELIMINATED = "elim"
"""Port of an eliminated move in a reference trace."""

_UOP_RULE = "uop templates: expansion, micro-fusion, unlamination"
_FRONT_END_RULES = {
    "MITE": "decoders (rules C1 to C8)",
    "MS": "microcode sequencer (rules MS1 to MS3)",
    "DSB": "uop cache: lines and delivery (rules K1 to K4, X1 to X5)",
    "SE": "stack engine (rules E1 to E5)",
}
_SOURCE_RULE = "front-end source: cacheability, switches, loop stream detector (rules Q1 to Q5, S1 to S3, N1)"
_COLUMNS = tuple(name for name in TraceRow.__struct_fields__ if name != "ports")


class _Event(Struct, frozen=True):
    """One column of a trace and the rules that determine it."""

    name: str
    rule: Callable[[TraceRow], str]
    value: Callable[[TraceRow], int | str | None]
    cycle: Callable[[TraceRow], int | None]


def _cycle_event(name: str, rule: str | Callable[[TraceRow], str]) -> _Event:
    def value(row: TraceRow) -> int | None:
        return cast("int | None", getattr(row, name))

    return _Event(name, rule if callable(rule) else lambda _: rule, value, value)


def _front_end_rule(row: TraceRow) -> str:
    return _FRONT_END_RULES.get(row.source, _SOURCE_RULE)


def _entry(row: TraceRow) -> int | None:
    """Cycle in which a uop entered the uop queue, or its issue cycle if the trace does not show it."""
    return row.added_to_idq if row.added_to_idq is not None else row.issued


def _port(row: TraceRow) -> str:
    eliminated = not row.port and row.ports and row.dispatched is None and row.executed is not None
    return ELIMINATED if eliminated else row.port


def _port_rule(row: TraceRow) -> str:
    return "move elimination (rules V4, Y1 to Y4)" if _port(row) == ELIMINATED else "port binding"


# In pipeline order.
_EVENTS = (
    _cycle_event("predecoded", "predecoder"),
    _Event("source", lambda _: _SOURCE_RULE, lambda row: row.source, _entry),
    _cycle_event("removed_from_iq", "decoders (rules C1 to C8)"),
    _cycle_event("added_to_idq", _front_end_rule),
    _cycle_event("issued", "renamer (rules R1 to R4), or a full reorder buffer or scheduler"),
    _Event("port", _port_rule, _port, lambda row: row.issued),
    _cycle_event("ready", "ready time: latencies, dependencies, forwarding, pointer chasing, fences"),
    _cycle_event("dispatched", "dispatch: oldest first, and rules Z1 to Z4"),
    _cycle_event("executed", "completion"),
    _cycle_event("retired", "retirement"),
)


class TraceDifference(Struct, frozen=True):
    """The first difference of two traces.

    If uops are missing or grouped differently, ``event`` is ``uops`` and the values describe the uops of the
    instruction's instance."""

    cycle: int | None
    round: int
    instruction: int
    kind: str
    uop: int
    """Index among the uops of its kind in this instance."""
    event: str
    ours: str
    reference: str
    rule: str
    differing_events: int = 1
    """Total number of differing events."""

    def __str__(self) -> str:
        where = f"round {self.round}, instruction {self.instruction}, {self.kind} {self.uop}"
        cycle = "" if self.cycle is None else f"cycle {self.cycle}: "
        return (
            f"{cycle}{where}: {self.event} is {self.ours}, reference {self.reference} - {self.rule} "
            f"({self.differing_events} differing)"
        )


_InstanceKey = tuple[int, int, str]


def _instances(rows: Iterable[TraceRow], rounds: int) -> dict[_InstanceKey, list[TraceRow]]:
    """Uops by (round, instruction, kind), in program order; second halves of fused pairs have no uops."""
    found: dict[_InstanceKey, list[TraceRow]] = {}
    for row in rows:
        if row.kind != "fused" and row.round < rounds:
            found.setdefault((row.round, row.instruction, row.kind), []).append(row)
    return found


def _grouping(rows: Sequence[TraceRow]) -> tuple[tuple[int, ...], ...]:
    """Uops in each fused uop, by IDQ uop; only the boundaries matter, not the identifiers."""
    idq: list[list[int]] = []
    previous: TraceRow | None = None
    for row in rows:
        if previous is None or row.idq_uop != previous.idq_uop:
            idq.append([1])
        elif row.fused_uop != previous.fused_uop:
            idq[-1].append(1)
        else:
            idq[-1][-1] += 1
        previous = row
    return tuple(tuple(fused) for fused in idq)


def _describe(rows: Sequence[TraceRow] | None) -> str:
    if not rows:
        return "absent"
    return " | ".join(" ".join("+".join("u" * size) for size in fused) for fused in _grouping(rows))


def _first_cycle(rows: Sequence[TraceRow]) -> int | None:
    cycles = [event.cycle(row) for row in rows for event in _EVENTS]
    return min((cycle for cycle in cycles if cycle is not None), default=None)


def _rounds(rows: Sequence[TraceRow]) -> int:
    return 1 + max((row.round for row in rows), default=-1)


def first_difference(
    ours: Sequence[TraceRow], reference: Sequence[TraceRow], *, rounds: int | None = None
) -> TraceDifference | None:
    """The earliest difference in the rounds common to both traces, at most the first ``rounds``.

    The order is by cycle, then program order, then pipeline stage. Uops that differ in number or grouping in
    round 0 come first: the templates differ, so no cycle can be right.
    """
    # A trace ends with the last round that counts for the figure, so the other one may be slightly longer.
    held = max(1, min(_rounds(ours), _rounds(reference)))
    rounds = held if rounds is None else min(rounds, held)
    mine = _instances(ours, rounds)
    theirs = _instances(reference, rounds)
    order = {key: number for number, key in enumerate(dict.fromkeys([*theirs, *mine]))}
    candidates: list[tuple[tuple[int, int, int, int], TraceDifference]] = []
    for key, number in order.items():
        left, right = mine.get(key, []), theirs.get(key, [])
        if _grouping(left) != _grouping(right):
            candidates.append(_grouping_difference(key, number, left, right))
            continue
        for position, (row, other) in enumerate(zip(left, right, strict=True)):
            for stage, event in enumerate(_EVENTS):
                value, expected = event.value(row), event.value(other)
                if value == expected:
                    continue
                cycles = [c for c in (event.cycle(row), event.cycle(other)) if c is not None]
                cycle = min(cycles, default=None)
                rule = event.rule(row if _port(row) == ELIMINATED else other)
                difference = TraceDifference(
                    cycle, *key, position, event.name, _shown(value), _shown(expected), rule
                )
                rank = (-1 if cycle is None else cycle, number, position, stage)
                candidates.append((rank, difference))
    if not candidates:
        return None
    _, first = min(candidates, key=lambda candidate: candidate[0])
    return replace(first, differing_events=len(candidates))


def _grouping_difference(
    key: _InstanceKey, number: int, ours: Sequence[TraceRow], reference: Sequence[TraceRow]
) -> tuple[tuple[int, int, int, int], TraceDifference]:
    round_number, _, kind = key
    cycle = _first_cycle([*ours, *reference])
    rule = {
        "sync": "stack engine (rules E1 to E5)",
        "merge": "merging of high-8 registers (rules H1, H2, R1)",
    }.get(kind, _UOP_RULE)
    difference = TraceDifference(cycle, *key, 0, "uops", _describe(ours), _describe(reference), rule)
    template = kind == "uop" and round_number == 0
    return (-2 if template or cycle is None else cycle, number, 0, 0), difference


def _shown(value: int | str | None) -> str:
    return "never" if value is None else str(value) or "none"


def read_traces(path: Path) -> Iterator[tuple[str, tuple[TraceRow, ...]]]:
    """Name and trace of every kernel in a reference file (CSV, optionally compressed), in file order.

    Each row names its kernel, and the rows of a kernel are contiguous. Raises ``DatasetError`` for any other
    file.
    """
    with open_text(path) as stream:
        reader = csv.DictReader(lines_of(path, stream))
        missing = [name for name in ("kernel", *_COLUMNS) if name not in (reader.fieldnames or ())]
        if missing:
            raise DatasetError(f"{path}: not a trace file, it lacks the column {missing[0]}")
        for kernel, rows in groupby(reader, key=lambda row: row["kernel"]):
            try:
                yield kernel, tuple(_row(row) for row in rows)
            except (TypeError, ValueError) as error:
                raise DatasetError(f"{path}, line {reader.line_num}: {error}") from None


def _row(row: Mapping[str, str]) -> TraceRow:
    def cycle(name: str) -> int | None:
        return int(row[name]) if row[name] else None

    return TraceRow(
        round=int(row["round"]),
        instruction=int(row["instruction"]),
        kind=row["kind"],
        idq_uop=int(row["idq_uop"]),
        fused_uop=int(row["fused_uop"]),
        uop=int(row["uop"]),
        predecoded=cycle("predecoded"),
        removed_from_iq=cycle("removed_from_iq"),
        source=row["source"],
        added_to_idq=cycle("added_to_idq"),
        issued=cycle("issued"),
        ready=cycle("ready"),
        dispatched=cycle("dispatched"),
        executed=cycle("executed"),
        retired=cycle("retired"),
        port=row["port"],
        ports="",
    )
