# Computes figures from the tables of a run: throughput, averages per instruction, and the trace (uiCA model,
# chapter 5).


cdef object summarize(Clock pipeline, tuple window, object request):
    """The results of a finished run. ``window``: its first and last relevant round."""
    tables, microarchitecture = pipeline.tables, pipeline.microarchitecture
    cdef Tally tally
    first, last = window
    period = (pipeline.period_cycles, pipeline.period_rounds) if pipeline.period_cycles else None
    tally = Tally(tables, microarchitecture.units, first, last) if request.details else None
    return Simulation(
        cycles_per_iteration=_cycles_per_iteration(pipeline, window),
        simulated_cycles=pipeline.cycle + 1,
        visited_cycles=pipeline.visited,
        period=period,
        first_round=first,
        last_round=last,
        usage=tally.usage() if tally else (),
        merge_usage=tally.merge_usage() if tally else (),
        sync_usage=tally.sync_usage() if tally else (),
        first_sources=tally.first_sources() if tally else (),
        elimination=tally.not_eliminated() if tally else (),
        renamed_loads=tally.renamed_loads() if tally else (),
        colliding_loads=tally.colliding_loads() if tally else (),
        merging_stores=tally.merging_stores() if tally else (),
        failed_forwards=tally.failed_forwards() if tally else (),
        busiest_port=tally.busiest_port() if tally else 0.0,
        lsd_unroll=pipeline.front_end.lsd_unroll,
        trace=_trace(pipeline, last, request.trace_rounds) if request.trace else None,
    )


cdef object _trace(Clock pipeline, int last_round, object first_rounds):
    """The trace of the rounds up to the last relevant one; of ``first_rounds``, if given, only the events."""
    cdef Tables tables = pipeline.tables
    core = pipeline.microarchitecture
    units, cycles = core.units, pipeline.cycle + 1
    if first_rounds is not None:
        count = min(first_rounds, last_round + 1) * tables.program.instructions
        return Trace(tuple(_rows(tables, units, min(count, tables.instances))[0]), cycles)
    rows, uops = _rows(tables, units, tables.instances)
    by_uop = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    end = next((number for number, row in enumerate(rows) if row.round > last_round), len(rows))
    return Trace(
        rows=tuple(rows[:end]),
        cycles=cycles,
        inputs=tuple(_inputs(tables, uops, end)),
        scheduling=tuple(_scheduling(tables, uops, end)),
        later=tuple(rows[end:]),
        refusals=tuple(_refusals(tables, core, by_uop, cycles)),
        unfinished=tuple(by_uop.get(tables.cycle[cycle].unfinished) for cycle in range(cycles)),
        buffers=pipeline.buffers(),
    )


def _refusals(Tables tables, core, dict by_uop, cycles):
    """The reasons for empty slots, by cycle."""
    for cycle in range(cycles):
        number = tables.cycle[cycle].refusal % RETIRING
        scheduler = tables.cycle[cycle].refusal // SCHEDULERS
        uop = by_uop.get(tables.cycle[cycle].refused_by) if number >= ISSUE_GROUP else None
        what = core.schedulers[scheduler - 1].buffer if scheduler else REFUSALS[number]
        yield Refusal(what, number >= RS_FULL, uop)


def _scheduling(Tables tables, list uops, end):
    """Scheduling of the rows before ``end``; ``uops``: the uops of all rows."""
    rows = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    for uop in uops[:end]:
        if uop == NONE or tables.uop[uop].ready < 0:
            yield Scheduling()
            continue
        last = None
        if tables.uop[uop].last_input != NONE:
            first = tables.uop[uop].first_input
            # Behind its operands a load has the address and the data of the store that it forwards from:
            # both are the one input "memory".
            memory = first + tables.program.uop[tables.uop[uop].static].in_count
            last = sum(
                tables.value[tables.input[place].value].uop in rows
                for place in range(first, min(tables.uop[uop].last_input, memory))
            )
        queued = QUEUED_NAMES[tables.uop[uop].queued]
        yield Scheduling(
            allowed=tables.uop[uop].allowed,
            last=last,
            inputs_ready=tables.uop[uop].inputs_ready,
            held=HELD_NAMES[tables.uop[uop].held],
            queued=queued,
            behind=rows.get(tables.uop[uop].behind) if queued else None,
        )


def _inputs(Tables tables, list uops, end):
    """The inputs from other uops, for the rows before ``end``; ``uops``: the uops of all rows."""
    program = tables.program
    rows = {uop: row for row, uop in enumerate(uops) if uop != NONE}
    for uop in uops[:end]:
        if uop == NONE or tables.uop[uop].port < 0 or tables.uop[uop].issued < 0:
            yield ()
            continue
        static = tables.uop[uop].static
        inputs = []
        for operand in range(program.uop[static].in_count):
            value = tables.input[tables.uop[uop].first_input + operand].value
            producer = rows.get(tables.value[value].uop)
            if producer is not None:
                position = program.uop[static].in0 + operand
                name = "" if program.operand[position].internal else KEYS.names[program.operand[position].key]
                inputs.append(Input(producer, name, _event(tables.value[value].ready)))
        store = tables.uop[uop].store
        if program.uop[static].kind == LOAD and store != NONE:
            writes = (
                tables.store[store].uop if tables.store[store].last == NONE else tables.store[store].last
            )
            known, data = tables.store[store].address, tables.store[store].data
            ready = max(known, data) if min(known, data) >= 0 else UNKNOWN
            if tables.uop[uop].blocked:
                # It cannot forward: the store has to leave the store buffer first.
                ready = tables.store[store].left
            inputs.append(Input(rows[writes], "memory", _event(ready)))
        yield tuple(inputs)


def _rows(Tables tables, units, instances):
    """One row per uop of the first ``instances`` instructions in program order, and their uops: NONE for the
    second half of a macro-fused pair."""
    cdef dict extra
    program = tables.program
    count = program.instructions
    extra = {}
    for uop in range(tables.uops):
        if program.uop[tables.uop[uop].static].kind in (SYNC, MERGE) and tables.uop[uop].instance >= 0:
            extra.setdefault(tables.uop[uop].instance, []).append(uop)
    rows = []
    uops = []
    for instance in range(instances):
        i = instance % count
        before = extra.get(instance, [])
        for kind, name in ((MERGE, "merge"), (SYNC, "sync")):
            for uop in before:
                if program.uop[tables.uop[uop].static].kind == kind:
                    rows.append(_row(tables, units, uop, name, (0, 0, 0)))
                    uops.append(uop)
        if program.instruction[i].second:
            rows.append(_fused_row(tables, instance))
            uops.append(NONE)
            continue
        uop = tables.instance[instance].uop0
        for idq_number in range(program.instruction[i].idq_count):
            idq_uop = program.instruction[i].idq0 + idq_number
            for fused_number in range(program.idq_uop[idq_uop].fused_count):
                fused = program.idq_uop[idq_uop].fused0 + fused_number
                for uop_number in range(program.fused_uop[fused].uop_count):
                    rows.append(_row(tables, units, uop, "uop", (idq_number, fused_number, uop_number)))
                    uops.append(uop)
                    uop += 1
    return rows, uops


def _event(cycle):
    return cycle if cycle >= 0 else None


def _row(Tables tables, units, uop, kind, tuple number):
    """``number``: of the IDQ uop, of the fused uop in it, and of the uop in that."""
    program = tables.program
    instance = tables.uop[uop].instance
    port = tables.uop[uop].port
    return TraceRow(
        round=instance // program.instructions,
        instruction=instance % program.instructions,
        kind=kind,
        idq_uop=number[0],
        fused_uop=number[1],
        uop=number[2],
        predecoded=None if kind == "merge" else _event(tables.instance[instance].predecoded),
        removed_from_iq=None if kind == "merge" else _event(tables.instance[instance].removed),
        source=SOURCE_NAMES[tables.uop[uop].source],
        added_to_idq=_event(tables.uop[uop].added),
        issued=_event(tables.uop[uop].issued),
        ready=_event(tables.uop[uop].ready),
        dispatched=_event(tables.uop[uop].dispatched),
        executed=_event(tables.uop[uop].executed),
        retired=_event(tables.uop[uop].retired),
        port="elim" if port == ELIMINATED else "" if port == NONE else units.names[port],
        ports=units.of(program.uop[tables.uop[uop].static].port_mask).text,
    )


def _fused_row(Tables tables, instance):
    """The row of the second half of a macro-fused pair, which has no uops of its own."""
    count = tables.program.instructions
    predecoded = _event(tables.instance[instance].predecoded)
    removed = _event(tables.instance[instance].removed)
    position = (instance // count, instance % count)
    nothing = (None, None, None, None, None, None)
    return TraceRow(*position, "fused", 0, 0, 0, predecoded, removed, "", *nothing, "", "")
