"""Builds model objects by hand: a test states the fields that it is about and leaves the rest at
defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.facts import Figures, InstructionFacts
from cyclelens.analyzer.model.result import Analysis, Assumption, Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.simulation import LineUsage, Simulation, Trace
from cyclelens.analyzer.model.source import Problem, Region, SourceLine
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, UopTemplate

from testkit.instructions import made_up
from testkit.unit_sets import unit_set, unit_uses


def facts(name: str = "ADD (R64, R64)", **fields: Any) -> InstructionFacts:
    """A record without operands."""
    return InstructionFacts(
        name=name, iform="", microarchitecture="SKL", attributes={}, operands=(), base=Figures(), **fields
    )


def template(
    text: str = "add rax, rbx", *, ports: Sequence[str] = ("0156",), **fields: Any
) -> InstructionTemplate:
    """An instruction with one compute uop for each port set, each a fused and an IDQ uop of its own."""
    uops = tuple(UopTemplate(UopKind.COMPUTE, unit_set(allowed)) for allowed in ports)
    values: dict[str, Any] = {
        "instruction": made_up(text),
        "facts": facts(),
        "name": text,
        "uops": uops,
        "fused_uops": (1,) * len(uops),
        "idq_uops": (1,) * len(uops),
        "uop_count": len(uops),
        "retire_slots": len(uops),
        "mite_uops": len(uops),
        "ms_uops": 0,
        "complex_decoder": False,
        "available_simple_decoders": 4,
        "uses": unit_uses(*((allowed, 1) for allowed in ports)),
    }
    return InstructionTemplate(**(values | fields))


def usage(
    ports: Mapping[str, float] | None = None, sources: Mapping[str, float] | None = None, **fields: Any
) -> LineUsage:
    """One instruction's averages; by default one uop from the DSB that uses no port."""
    values: dict[str, Any] = {"issued": 1.0, "executed": sum((ports or {}).values())}
    return LineUsage(
        ports=ports or {}, sources=sources if sources is not None else {"DSB": 1.0}, **(values | fields)
    )


def simulation(
    cycles: float = 1.0,
    usages: Sequence[LineUsage] = (),
    *,
    first_sources: Sequence[str] = (),
    merge: Mapping[int, LineUsage] | None = None,
    sync: Mapping[int, LineUsage] | None = None,
    elimination: Sequence[float] = (),
    busiest_port: float = 0.0,
    trace: Trace | None = None,
) -> Simulation:
    """A finished simulation of as many instructions as there are usages."""
    count = len(usages)
    return Simulation(
        cycles_per_iteration=cycles,
        simulated_cycles=500,
        visited_cycles=500,
        first_round=5,
        last_round=10,
        usage=tuple(usages),
        merge_usage=tuple((merge or {}).get(index) for index in range(count)),
        sync_usage=tuple((sync or {}).get(index) for index in range(count)),
        first_sources=tuple(first_sources) or ("DSB",) * count,
        elimination=tuple(elimination) or (1.0,) * count,
        busiest_port=busiest_port,
        trace=trace,
    )


def prediction(
    templates: Sequence[InstructionTemplate],
    *,
    cycles: float = 1.0,
    usages: Sequence[LineUsage] = (),
    microarchitecture: str = "SKL",
    mode: Mode = Mode.LOOP,
    bottlenecks: Sequence[str] = ("Dependencies",),
    bounds: Mapping[str, float] | None = None,
    front_end: Mapping[str, float] | None = None,
    assumptions: Sequence[Assumption] = (),
    **simulated: Any,
) -> Prediction:
    """A prediction for these instructions."""
    return Prediction(
        microarchitecture=microarchitecture,
        mode=mode,
        alignment=0,
        cycles_per_iteration=cycles,
        bottlenecks=tuple(bottlenecks),
        bounds=bounds or {},
        front_end=front_end or {"DSB": float(len(templates))},
        instructions=tuple(templates),
        simulation=simulation(cycles, usages or [usage() for _ in templates], **simulated),
        assumptions=tuple(assumptions),
    )


def region_analysis(
    *predictions: Prediction,
    statements: Sequence[str] = (),
    lines: Sequence[int] = (),
    first_line: int = 2,
    name: str = "kernel",
    findings: Sequence[Finding] = (),
    note: str = "",
) -> RegionAnalysis:
    """A region whose marker is on ``first_line``, with one statement per line behind it unless ``lines`` says
    on which each one is; statements start in column 4 and are one instruction each."""
    texts = (
        list(statements) or [item.instruction.text for item in predictions[0].instructions]
        if predictions
        else []
    )
    numbers = list(lines) or [first_line + 1 + index for index in range(len(texts))]
    source = tuple(
        SourceLine(
            line=number, column=4, end_column=4 + len(text), text=text, code=b"\x90", backend="cyclelens"
        )
        for number, text in zip(numbers, texts, strict=True)
    )
    region = Region(
        name=name, first_line=first_line, last_line=(numbers or [first_line])[-1] + 1, lines=source
    )
    return RegionAnalysis(
        region=region,
        instruction_lines=tuple(range(len(texts))),
        predictions=predictions,
        findings=tuple(findings),
        note=note,
    )


def analysis(*regions: RegionAnalysis, problems: Sequence[Problem] = ()) -> Analysis:
    """An analysis of these regions."""
    return Analysis(regions=regions, problems=tuple(problems))
