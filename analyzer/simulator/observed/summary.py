"""Computes figures from the columns: throughput, averages per instruction, and the trace (uiCA model,
chapter 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.simulation import (
    Input,
    Refusal,
    Scheduling,
    Simulation,
    Trace,
    TraceRow,
)
from cyclelens.analyzer.model.units import Units
from cyclelens.analyzer.simulator.observed.tally import Tally
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    ELIMINATED,
    HELD_NAMES,
    ISSUE_GROUP,
    LOAD,
    MERGE,
    NONE,
    QUEUED_NAMES,
    REFUSALS,
    RETIRING,
    RS_FULL,
    SCHEDULERS,
    SOURCE_NAMES,
    SYNC,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS
from cyclelens.analyzer.simulator.wanted import Wanted


class Run(NamedTuple):
    """Description of a finished run."""

    window: tuple[int, int]
    """The first and the last relevant round."""
    cycles_per_iteration: float
    cycles: int
    period: tuple[int, int] | None
    lsd_unroll: int
    buffers: tuple[Buffer, ...]
    """Empty if no trace is wanted."""


def summarize(columns: Columns, microarchitecture: Microarchitecture, run: Run, wanted: Wanted) -> Simulation:
    """The results of a finished run."""
    first, last = run.window
    tally = Tally(columns, microarchitecture.units, first, last) if wanted.details else None
    return Simulation(
        cycles_per_iteration=run.cycles_per_iteration,
        simulated_cycles=run.cycles,
        period=run.period,
        first_round=first,
        last_round=last,
        usage=tally.usage() if tally else (),
        merge_usage=tally.merge_usage() if tally else (),
        sync_usage=tally.sync_usage() if tally else (),
        first_sources=tally.first_sources() if tally else (),
        elimination=tally.not_eliminated() if tally else (),
        renamed_loads=tally.renamed_loads() if tally else (),
        colliding_loads=tally.colliding_loads() if tally else (),
        failed_forwards=tally.failed_forwards() if tally else (),
        busiest_port=tally.busiest_port() if tally else 0.0,
        lsd_unroll=run.lsd_unroll,
        trace=_trace(columns, microarchitecture, run, wanted.trace_rounds) if wanted.trace else None,
    )


def _trace(columns: Columns, core: Microarchitecture, run: Run, first_rounds: int | None) -> Trace:
    """The trace of the rounds up to the last relevant one; of ``first_rounds``, if given, only the events."""
    units, cycles, last_round = core.units, run.cycles, run.window[1]
    if first_rounds is not None:
        count = min(first_rounds, last_round + 1) * columns.program.instructions
        return Trace(tuple(_rows(columns, units, min(count, columns.instances))[0]), cycles)
    rows, uops = _rows(columns, units, columns.instances)
    by_uop = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    end = next((number for number, row in enumerate(rows) if row.round > last_round), len(rows))
    return Trace(
        rows=tuple(rows[:end]),
        cycles=cycles,
        inputs=tuple(_inputs(columns, uops, end)),
        scheduling=tuple(_scheduling(columns, uops, end)),
        later=tuple(rows[end:]),
        refusals=tuple(_refusals(columns, core, by_uop, cycles)),
        unfinished=tuple(by_uop.get(columns.unfinished[cycle]) for cycle in range(cycles)),
        buffers=run.buffers,
    )


def _refusals(
    columns: Columns, core: Microarchitecture, by_uop: dict[int, int], cycles: int
) -> Iterator[Refusal]:
    """The reasons for empty slots, by cycle."""
    for cycle in range(cycles):
        number = columns.refusal[cycle] % RETIRING
        scheduler = columns.refusal[cycle] // SCHEDULERS
        uop = by_uop.get(columns.refused_by[cycle]) if number >= ISSUE_GROUP else None
        what = core.schedulers[scheduler - 1].buffer if scheduler else REFUSALS[number]
        yield Refusal(what, number >= RS_FULL, uop)


def _scheduling(columns: Columns, uops: list[int], end: int) -> Iterator[Scheduling]:
    """Scheduling of the rows before ``end``; ``uops``: the uops of all rows."""
    rows = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    for uop in uops[:end]:
        if uop == NONE or columns.ready[uop] < 0:
            yield Scheduling()
            continue
        last = None
        if columns.last_input[uop] != NONE:
            last = sum(
                columns.value_uop[columns.input_value[place]] in rows
                for place in range(columns.first_input[uop], columns.last_input[uop])
            )
        queued = QUEUED_NAMES[columns.queued[uop]]
        yield Scheduling(
            allowed=columns.allowed[uop],
            last=last,
            inputs_ready=columns.inputs_ready[uop],
            held=HELD_NAMES[columns.held[uop]],
            queued=queued,
            behind=rows.get(columns.behind[uop]) if queued else None,
        )


def _inputs(columns: Columns, uops: list[int], end: int) -> Iterator[tuple[Input, ...]]:
    """The inputs from other uops, for the rows before ``end``; ``uops``: the uops of all rows."""
    program = columns.program
    rows = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    for uop in uops[:end]:
        if uop == NONE or columns.port[uop] < 0 or columns.issued[uop] < 0:
            yield ()
            continue
        static = columns.static[uop]
        inputs = []
        for operand in range(program.u_in_count[static]):
            value = columns.input_value[columns.first_input[uop] + operand]
            producer = rows.get(columns.value_uop[value])
            if producer is not None:
                position = program.u_in0[static] + operand
                name = "" if program.in_internal[position] else KEYS.names[program.in_key[position]]
                inputs.append(Input(producer, name, _event(columns.value_ready[value])))
        store = columns.store[uop]
        if program.u_kind[static] == LOAD and store != NONE:
            writes = (
                columns.store_uop[store] if columns.store_last[store] == NONE else columns.store_last[store]
            )
            known, data = columns.store_address[store], columns.store_data[store]
            ready = max(known, data) if min(known, data) >= 0 else UNKNOWN
            if columns.blocked[uop]:
                # It cannot forward: the store has to leave the store buffer first.
                ready = columns.store_left[store]
            inputs.append(Input(rows[writes], "memory", _event(ready)))
        yield tuple(inputs)


def _rows(columns: Columns, units: Units, instances: int) -> tuple[list[TraceRow], list[int]]:
    """One row per uop of the first ``instances`` instructions in program order, and their uops: NONE for the
    second half of a macro-fused pair."""
    program = columns.program
    count = program.instructions
    extra: dict[int, list[int]] = {}
    for uop in range(columns.uops):
        if program.u_kind[columns.static[uop]] in (SYNC, MERGE) and columns.instance[uop] >= 0:
            extra.setdefault(columns.instance[uop], []).append(uop)
    rows = []
    uops = []
    for instance in range(instances):
        i = instance % count
        before = extra.get(instance, [])
        for kind, name in ((MERGE, "merge"), (SYNC, "sync")):
            for uop in before:
                if program.u_kind[columns.static[uop]] == kind:
                    rows.append(_row(columns, units, uop, name, (0, 0, 0)))
                    uops.append(uop)
        if program.i_second[i]:
            rows.append(_fused_row(columns, instance))
            uops.append(NONE)
            continue
        uop = columns.instance_uop0[instance]
        for idq_number in range(program.i_idq_count[i]):
            idq_uop = program.i_idq0[i] + idq_number
            for fused_number in range(program.q_fused_count[idq_uop]):
                fused = program.q_fused0[idq_uop] + fused_number
                for uop_number in range(program.f_uop_count[fused]):
                    rows.append(_row(columns, units, uop, "uop", (idq_number, fused_number, uop_number)))
                    uops.append(uop)
                    uop += 1
    return rows, uops


def _event(cycle: int) -> int | None:
    return cycle if cycle >= 0 else None


def _row(columns: Columns, units: Units, uop: int, kind: str, number: tuple[int, int, int]) -> TraceRow:
    """``number``: of the IDQ uop, of the fused uop in it, and of the uop in that."""
    program = columns.program
    instance = columns.instance[uop]
    port = columns.port[uop]
    return TraceRow(
        round=instance // program.instructions,
        instruction=instance % program.instructions,
        kind=kind,
        idq_uop=number[0],
        fused_uop=number[1],
        uop=number[2],
        predecoded=None if kind == "merge" else _event(columns.predecoded[instance]),
        removed_from_iq=None if kind == "merge" else _event(columns.removed[instance]),
        source=SOURCE_NAMES[columns.source[uop]],
        added_to_idq=_event(columns.added[uop]),
        issued=_event(columns.issued[uop]),
        ready=_event(columns.ready[uop]),
        dispatched=_event(columns.dispatched[uop]),
        executed=_event(columns.executed[uop]),
        retired=_event(columns.retired[uop]),
        port="elim" if port == ELIMINATED else "" if port == NONE else units.names[port],
        ports=units.of(program.u_port_mask[columns.static[uop]]).text,
    )


def _fused_row(columns: Columns, instance: int) -> TraceRow:
    """The row of the second half of a macro-fused pair, which has no uops of its own."""
    count = columns.program.instructions
    predecoded = _event(columns.predecoded[instance])
    removed = _event(columns.removed[instance])
    position = (instance // count, instance % count)
    nothing = (None, None, None, None, None, None)
    return TraceRow(*position, "fused", 0, 0, 0, predecoded, removed, "", *nothing, "", "")
