"""Turns one prediction's timeline into data for the page's script (``page/timeline.js``), which draws it."""

from __future__ import annotations

import json
from typing import Any

from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.insight.pressure import port_pressure, port_shares
from cyclelens.analyzer.insight.timelines import shown, steady_row
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.model.source import UNKNOWN_LINE, SourceLine
from cyclelens.analyzer.reports.rows import rows

MOST_ROWS = 6000
"""Most uops of the steady state per prediction in a page: about a megabyte."""

_ALL_PORTS = 8
_KINDS = ("uop", "sync", "merge", "fused")


def script_data(region: RegionAnalysis, prediction: Prediction) -> str:
    """JSON that may stand inside a script element. Raises ValueError without a trace."""
    text = json.dumps(_data(region, prediction), separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")


def source_line(statement: SourceLine) -> int | None:
    """One-based line in the analysed text; None if it is in another file or its line is unknown."""
    return None if statement.file or statement.line == UNKNOWN_LINE else statement.line + 1


def _data(region: RegionAnalysis, prediction: Prediction) -> dict[str, Any]:
    drawn = shown(prediction, MOST_ROWS)
    pressure, shares = port_pressure(prediction), port_shares(prediction)
    model = registry.get(prediction.microarchitecture)
    # A core with many ports shows only the used ones: each port takes a line from the uops.
    ports = [port for port in model.units.names if drawn.ports[port] or len(model.units) <= _ALL_PORTS]
    words = vocabulary.of(prediction.microarchitecture)
    causes = {cause: number for number, cause in enumerate(words.waits)}
    strings: dict[str, int] = {}

    def string(text: str) -> int:
        return strings.setdefault(text, len(strings))

    return {
        "cycles": drawn.cycles,
        "steady": steady_row(prediction, drawn.rows),
        "instructions": [
            {
                "text": row.text,
                "place": wording.place(row.statement),
                "line": source_line(row.statement),
            }
            for row in rows(region, prediction)
            if row.kind == "instruction"
        ],
        "rows": [_row(row) for row in drawn.rows],
        "later": {number: _row(row)[:3] for number, row in drawn.later.items()},
        "inputs": [
            [[value.producer, string(wording.value(value.value)), value.ready] for value in inputs]
            for inputs in drawn.inputs
        ],
        "waits": [
            [
                [
                    wait.begin,
                    wait.end,
                    causes[wait.cause],
                    -1 if wait.uop is None else wait.uop,
                    string(words.part(wording.value(wait.value))),
                ]
                for wait in waits
                if wait.end > wait.begin
            ]
            for waits in drawn.waits
        ],
        "causes": list(words.waits.values()),
        "events": words.events,
        "spans": dict(words.spans),
        "sources": {source: words.part(source) for source in wording.SOURCES},
        "unit": words.unit,
        "unitName": words.unit_name,
        "delay": causes["delay"],
        "strings": list(strings),
        "chain": sorted([edge.producer, edge.consumer] for edge in drawn.chain),
        "chainLimits": "Dependencies" in prediction.bottlenecks,
        "ports": ports,
        "portPrefix": model.units.prefix,
        "busy": [[shares.get(port, 0.0), pressure.get(port, 0.0)] for port in ports],
        "lanes": [sorted(drawn.ports[port].items()) for port in ports],
        "occupancy": [
            {
                "name": words.part(one.buffer.name),
                "size": one.buffer.size,
                "full": one.buffer.stalls_above,
                "counts": one.counts,
            }
            for one in drawn.occupancy
        ],
    }


def _row(row: TraceRow) -> list[Any]:
    place = [row.round, row.instruction, _KINDS.index(row.kind), row.port, row.ports, row.source]
    issue = [row.predecoded, row.added_to_idq, row.issued]
    return [*place, *issue, row.ready, row.dispatched, row.executed, row.retired]
