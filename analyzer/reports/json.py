"""Renders the report as JSON for programs. ``docs/json.md`` describes the schema; a change that could break a
reader raises ``SCHEMA``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.confidence import is_lower_bound, reservations
from cyclelens.analyzer.insight.dependencies import Dependencies, dependencies
from cyclelens.analyzer.insight.rates import rates
from cyclelens.analyzer.insight.static_ports import static_ports
from cyclelens.analyzer.insight.timelines import shown
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.memory_levels import DataLevels
from cyclelens.analyzer.model.mispredictions import Mispredictions
from cyclelens.analyzer.model.paths import BranchingAnalysis, Weight
from cyclelens.analyzer.model.result import (
    Analysis,
    Assumption,
    Finding,
    MissingPrediction,
    Prediction,
    RegionAnalysis,
)
from cyclelens.analyzer.model.simulation import LineUsage, Trace, TraceRow
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, SourceLine
from cyclelens.analyzer.reports.rows import Row, rows
from msgspec.structs import asdict, astuple, replace

SCHEMA = 2

_DECIMALS = 4
"""Averages over a window are no more precise than this."""


def render(analysis: Analysis, file: str) -> str:
    """The whole report as one indented JSON object. Lines and columns are one-based."""
    return json.dumps(document(analysis, file), indent=2, ensure_ascii=False) + "\n"


def document(analysis: Analysis, file: str) -> dict[str, Any]:
    """The report as plain lists and dictionaries."""
    return {
        "schema": SCHEMA,
        "file": file,
        "dialect": analysis.dialect,
        "regions": [_region(region) for region in analysis.regions],
        "branchings": [_branching(branching) for branching in analysis.branchings],
        "problems": [_problem(problem) for problem in analysis.problems],
    } | ({"by_default": analysis.by_default} if analysis.by_default else {})


def _branching(analysis: BranchingAnalysis) -> dict[str, Any]:
    branching = analysis.branching
    return {
        "name": branching.name,
        "first_line": _line(branching.first_line),
        "last_line": _line(branching.last_line),
        "is_loop": branching.is_loop,
        "branches": [
            {
                "block": fork,
                "line": _line(branching.jumps[fork].line),
                "address": branching.jumps[fork].address,
                "source_text": branching.jumps[fork].text,
                "taken": share,
            }
            for fork, share in zip(branching.forks, analysis.shares, strict=True)
        ],
        "ways": [
            {
                "blocks": list(path.blocks),
                "taken": list(path.taken),
                "share": path.share and round(path.share, _DECIMALS),
                "cycles_per_iteration": _figures(path.cycles),
            }
            for path in analysis.paths
        ],
        "assumed_way": analysis.assumed if analysis.paths else None,
        "blocks": [
            {
                "name": block.name,
                "first_line": _line(block.first_line),
                "last_line": _line(block.last_line),
                "executions": block.executions and round(block.executions, _DECIMALS),
                "cycles_per_iteration": _figures(block.cycles),
            }
            for block in analysis.blocks
        ],
        "average": _figures(analysis.averages),
        "weight": _weight(analysis.weight),
        "mispredictions": {name: _mispredictions(each) for name, each in analysis.mispredictions.items()},
    }


def _mispredictions(found: Mispredictions) -> dict[str, Any]:
    return {
        "given": found.given,
        "cycles_per_iteration": round(found.cycles, _DECIMALS),
        "base": round(found.base, _DECIMALS),
        "per_iteration": round(found.count, _DECIMALS),
        "penalty": found.penalty,
        "at_least": found.is_lower_bound,
        "branch_free": None
        if found.without is None
        else {
            "line": _line(found.without.jump.line),
            "cycles_per_iteration": round(found.without.cycles, _DECIMALS),
            "break_even": found.break_even and round(found.break_even, _DECIMALS),
        },
        "branches": [
            {
                "line": _line(each.jump.line),
                "address": each.jump.address,
                "source_text": each.jump.text,
                "mispredicted": round(each.share, _DECIMALS),
                "executions": round(each.executions, _DECIMALS),
            }
            for each in found.branches
        ],
    }


def _weight(weight: Weight | None) -> dict[str, float] | None:
    """``share``: of the cycles of all regions in the profile."""
    if weight is None:
        return None
    values = {"iterations": weight.iterations, "samples": weight.samples, "share": weight.share}
    return {name: round(value, _DECIMALS) for name, value in values.items()}


def _region(analysis: RegionAnalysis) -> dict[str, Any]:
    region, work = analysis.region, work_of(analysis)
    return {
        "name": region.name,
        "first_line": _line(region.first_line),
        "last_line": _line(region.last_line),
        "options": dict(region.options),
        "incomplete": region.incomplete,
        "note": analysis.note,
        "weight": _weight(analysis.weight),
        "work": None if work is None else asdict(work),
        "predictions": [_prediction(analysis, prediction) for prediction in analysis.predictions],
        "missing": [_missing(analysis, missing) for missing in analysis.missing],
        "findings": [_finding(analysis, finding) for finding in analysis.findings],
    }


def _missing(analysis: RegionAnalysis, missing: MissingPrediction) -> dict[str, Any]:
    return {
        "microarchitecture": missing.microarchitecture,
        "extensions": list(missing.extensions),
        "message": missing.reason,
        "instructions": list(missing.instructions),
        "lines": _lines(analysis, missing.instructions),
    } | ({"left_out": missing.left_out} if missing.left_out else {})


def _assumption(analysis: RegionAnalysis, assumption: Assumption) -> dict[str, Any]:
    return {
        "code": assumption.code,
        "message": assumption.message,
        "instructions": list(assumption.instructions),
        "lines": _lines(analysis, assumption.instructions),
        "values": dict(assumption.values),
    }


def _lines(analysis: RegionAnalysis, instructions: Iterable[int]) -> list[int | None]:
    """The lines of these instructions, each once."""
    statements = (analysis.region.lines[analysis.instruction_lines[index]] for index in instructions)
    return list(dict.fromkeys(_line(statement.line) for statement in statements))


def _prediction(analysis: RegionAnalysis, prediction: Prediction) -> dict[str, Any]:
    simulation = prediction.simulation
    per_cycle = rates(prediction)
    result: dict[str, Any] = {
        "microarchitecture": prediction.microarchitecture,
        "mode": prediction.mode.value,
        "alignment": prediction.alignment,
        "cycles_per_iteration": prediction.cycles_per_iteration,
        "at_least": is_lower_bound(prediction),
        "port_binding": None if prediction.port_binding is None else asdict(prediction.port_binding),
        "positions": _positions(prediction),
        "window_cycles_per_iteration": simulation.cycles_per_iteration,
        "period": simulation.period and dict(zip(("cycles", "iterations"), simulation.period, strict=True)),
        "instructions_per_cycle": round(per_cycle.instructions, _DECIMALS),
        "uops_per_cycle": round(per_cycle.uops, _DECIMALS),
        "bottlenecks": list(prediction.bottlenecks),
        "bounds": _figures(prediction.bounds),
        "front_end": _figures(prediction.front_end),
        "lsd_unroll": simulation.lsd_unroll,
        "simulated_cycles": simulation.simulated_cycles,
        "first_round": simulation.first_round,
        "last_round": simulation.last_round,
        "rows": [_row(row) for row in rows(analysis, prediction)],
        "words": dict(vocabulary.of(prediction.microarchitecture).translations),
    }
    if prediction.once is not None:
        once = prediction.once
        result["once"] = {
            "cycles": once.cycles,
            "path_cycles": once.path_cycles,
            "path": [
                {"instruction": instruction, "latency": latency, "value": value}
                for instruction, latency, value in once.path
            ],
        }
    if prediction.mispredictions is not None:
        result["mispredictions"] = _mispredictions(prediction.mispredictions)
    result["data"] = None if prediction.data is None else _data(prediction.data)
    result["reservations"] = list(reservations(prediction))
    result["assumptions"] = [_assumption(analysis, each) for each in prediction.assumptions]
    result["dependencies"] = _dependencies(dependencies(prediction))
    static = static_ports(prediction)
    result["static_ports"] = {"even": _figures(static.even), "best": _figures(static.best)}
    if prediction.account is not None:
        result["account"] = _account(prediction.account)
    if simulation.trace is not None:
        result["trace"] = _trace(prediction, simulation.trace)
    return result


def _data(data: DataLevels) -> dict[str, Any]:
    return {
        "streams": [
            {
                "pointer": stream.pointer,
                "step": stream.step,
                "lines": round(stream.lines, _DECIMALS),
                "loaded": stream.loaded,
                "stored": stream.stored,
                "non_temporal": stream.non_temporal,
                "instructions": list(stream.instructions),
            }
            for stream in data.streams
        ],
        "scattered": list(data.scattered),
        "chased": list(data.chased),
        "far": list(data.far),
        "levels": [
            {
                "level": each.level,
                "cycles_per_iteration": each.cycles and round(each.cycles, _DECIMALS),
                "latency": each.latency,
            }
            for each in data.figures
        ],
        "machine_file": data.file or None,
        "chosen": data.chosen
        and {
            "where": data.chosen.where,
            "cycles_per_iteration": data.chosen.cycles and round(data.chosen.cycles, _DECIMALS),
        },
    }


def _positions(prediction: Prediction) -> list[dict[str, Any]]:
    """Groups the positions by figure; the group of the shown figure comes first."""
    found: dict[float, list[int]] = {prediction.cycles_per_iteration: []}
    for position in prediction.positions:
        found.setdefault(position.cycles_per_iteration, []).append(position.offset)
    return [{"cycles_per_iteration": cycles, "offsets": offsets} for cycles, offsets in found.items()]


def _dependencies(graph: Dependencies) -> dict[str, Any]:
    chains = [[asdict(step) for step in chain] for chain in graph.chains]
    return {
        "cycles_per_iteration": round(float(graph.cycles_per_iteration), _DECIMALS),
        "chain": chains[0] if chains else [],
        "chain_iterations": graph.chain_iterations[0] if chains else 0,
        "chains": [
            {"steps": chain, "iterations": iterations}
            for chain, iterations in zip(chains, graph.chain_iterations, strict=True)
        ],
        "more_chains": graph.more_chains,
        "slack": [None if room is None else round(float(room), _DECIMALS) for room in graph.slack],
        "path": list(graph.path),
        "path_cycles": graph.path_cycles,
        "edges": [
            {
                "producer": edge.producer,
                "consumer": edge.consumer,
                "value": edge.name,
                "latency": edge.latency,
                "carried": edge.carried,
                "critical": edge.critical,
            }
            for edge in graph.edges
        ],
    }


def _account(account: Account) -> dict[str, Any]:
    """Slots are integers, so they add up exactly."""
    return {
        "width": account.width,
        "rounds": account.rounds,
        "slots": account.slots,
        "used": list(account.used),
        "lost": [
            {"area": str(cause.area), "what": cause.what, "why": cause.why}
            | {"instruction": instruction, "slots": slots}
            for (cause, instruction), slots in sorted(account.lost.items())
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    template = row.template
    result: dict[str, Any] = {
        "kind": row.kind,
        "instruction": row.index,
        "line": _line(row.statement.line),
        "column": row.statement.column + 1,
    } | _origin(row.statement)
    if row.kind == "instruction":
        result |= {
            "source_text": row.statement.text,
            "text": template.instruction.text,
            "bytes": template.instruction.code.hex(),
            "encoded_by": row.statement.backend,
            "variant": template.facts.name if template.facts is not None else None,
            "estimated": template.facts is not None and template.facts.constructed,
            "fused_with_previous": template.fused_with_previous,
            "uops": [uop.units.text for uop in template.uops],
            "retire_slots": template.retire_slots,
            "mite_uops": template.mite_uops,
            "ms_uops": template.ms_uops,
            "notes": list(row.notes),
        }
    return result | _usage(row.usage)


def _usage(usage: LineUsage) -> dict[str, Any]:
    return {
        "sources": _figures(usage.sources),
        "issued": round(usage.issued, _DECIMALS),
        "executed": round(usage.executed, _DECIMALS),
        "ports": _figures(usage.ports),
        "divider": round(usage.divider, _DECIMALS),
    }


def _figures(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, _DECIMALS) for name, value in sorted(figures.items())}


def _finding(analysis: RegionAnalysis, finding: Finding) -> dict[str, Any]:
    statement = analysis.region.lines[analysis.instruction_lines[finding.instruction]]
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "microarchitecture": finding.microarchitecture,
        "instruction": finding.instruction,
        "line": _line(statement.line),
        "column": statement.column + 1,
        "end_column": statement.end_column + 1,
        "message": finding.message,
        "cost": finding.cost,
    } | _origin(statement)


def _line(line: int) -> int | None:
    return None if line == UNKNOWN_LINE else line + 1


def _origin(statement: SourceLine) -> dict[str, Any]:
    """For statements of object files only: their address, and the source file or None."""
    if statement.address is None:
        return {}
    return {"address": statement.address, "file": statement.file or None}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "severity": str(problem.severity),
        "line": _line(problem.line),
        "column": problem.column + 1,
        "end_column": problem.end_column + 1,
        "message": problem.message,
    } | ({"traceback": problem.traceback} if problem.traceback else {})


def _trace(prediction: Prediction, trace: Trace) -> dict[str, Any]:
    """Rows are lists in the order of ``columns``: a trace has thousands of them."""
    drawn = shown(prediction)

    def known(row: int | None) -> int | None:
        return row if row is not None and row < len(trace.rows) else None

    return {
        "cycles": trace.cycles,
        "columns": list(TraceRow.__struct_fields__),
        "rows": [list(astuple(row)) for row in trace.rows],
        "inputs": [[[known(one.producer), one.value, one.ready] for one in read] for read in drawn.inputs],
        "waits": [
            [list(astuple(replace(wait, uop=known(wait.uop)))) for wait in waits] for waits in drawn.waits
        ],
        "chain": sorted([edge.producer, edge.consumer] for edge in drawn.chain),
        "occupancy": {
            one.buffer.name: {"size": one.buffer.size, "counts": list(one.counts)} for one in drawn.occupancy
        },
    }
