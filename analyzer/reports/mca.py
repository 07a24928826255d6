"""Renders an analysis in the shape of llvm-mca's views, for programs and people that read those.

The layout follows what llvm-mca 14 prints. The figures are Cyclelens's: cycles are those of the steady state,
uops are the ones that take an issue slot (micro- and macro-fused pairs count once), and a resource is a port
or unit of the core.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cyclelens.analyzer.insight import as_written, costs, wording
from cyclelens.analyzer.insight.pressure import port_pressure
from cyclelens.analyzer.insight.rates import rates
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.reports import chains
from cyclelens.analyzer.reports.rows import rows
from msgspec import Struct

_THROUGHPUT_LIMITS = ("Issue", "Ports", "Divider", "Throughput")
"""Bounds of the block without its dependencies and without the front end, which llvm-mca does not model."""
_COLUMN = 7
_DECIMALS = 2


class McaViews(Struct, frozen=True):
    """What to print."""

    iterations: int
    summary: bool = True
    instruction_info: bool = True
    resource_pressure: bool = True
    bottlenecks: bool = False
    timeline: tuple[int, int] | None = None
    """Most iterations and most cycles; None: no timeline."""


class McaSummary(Struct, frozen=True):
    """Figures of the summary view."""

    instructions: int
    cycles: int
    uops: int
    width: int
    reciprocal_throughput: float

    @property
    def uops_per_cycle(self) -> float:
        return self.uops / self.cycles if self.cycles else 0.0

    @property
    def instructions_per_cycle(self) -> float:
        return self.instructions / self.cycles if self.cycles else 0.0


def summary_of(prediction: Prediction, iterations: int) -> McaSummary:
    """Totals of ``iterations`` in the steady state."""
    cycles = prediction.shown_cycles
    limits = [prediction.bounds[name] for name in _THROUGHPUT_LIMITS if name in prediction.bounds]
    return McaSummary(
        len(prediction.instructions) * iterations,
        round(cycles * iterations),
        round(rates(prediction).uops * prediction.cycles_per_iteration * iterations),
        registry.get(prediction.microarchitecture).issue_width,
        max(limits, default=0.0),
    )


def lines(regions: Sequence[RegionAnalysis], views: McaViews) -> Iterator[str]:
    """All views of every region that has a figure."""
    for number, region in enumerate(regions):
        if region.region.name or len(regions) > 1:
            yield ""
            yield f"[{number}] Code Region{f' - {region.region.name}' if region.region.name else ''}"
            yield ""
        if not region.predictions:
            yield f"No figure: {region.note or '; '.join(each.reason for each in region.missing)}"
            continue
        yield from _region(region, region.predictions[0], views)


def _region(region: RegionAnalysis, prediction: Prediction, views: McaViews) -> Iterator[str]:
    texts = as_written.texts(region, prediction)
    if views.summary:
        yield from _summary(prediction, views.iterations)
    if views.bottlenecks:
        yield ""
        yield "Throughput Bottlenecks: "
        yield f"  {wording.bound_of(prediction)}"
        yield from (f"  {line}" for line in chains.lines(region, prediction))
        yield ""
    if views.instruction_info:
        yield ""
        yield from _instruction_info(prediction, texts)
    if views.resource_pressure:
        yield ""
        yield from _resource_pressure(region, prediction, texts)
    if views.timeline is not None:
        yield ""
        yield from _timeline(prediction, texts, *views.timeline)


def _summary(prediction: Prediction, iterations: int) -> Iterator[str]:
    found = summary_of(prediction, iterations)
    yield f"Iterations:        {iterations}"
    yield f"Instructions:      {found.instructions}"
    yield f"Total Cycles:      {found.cycles}"
    yield f"Total uOps:        {found.uops}"
    yield ""
    yield f"Dispatch Width:    {found.width}"
    yield f"uOps Per Cycle:    {found.uops_per_cycle:.2f}"
    yield f"IPC:               {found.instructions_per_cycle:.2f}"
    yield f"Block RThroughput: {found.reciprocal_throughput:.1f}"
    yield ""


def _instruction_info(prediction: Prediction, texts: Sequence[str]) -> Iterator[str]:
    yield "Instruction Info:"
    yield "[1]: #uOps"
    yield "[2]: Latency"
    yield "[3]: RThroughput"
    yield "[4]: MayLoad"
    yield "[5]: MayStore"
    yield "[6]: HasSideEffects (U)"
    yield ""
    yield "".join(f"[{number}]".ljust(_COLUMN) for number in range(1, 7)) + "Instructions:"
    for each, text in zip(_instructions(prediction), texts, strict=True):
        latency = "-" if each.latency is None else str(each.latency)
        throughput = "-" if each.throughput is None else f"{each.throughput:.2f}"
        marks = (("*", each.loads), ("*", each.stores), ("U", each.has_side_effects))
        cells = (str(each.uops), latency, throughput, *(mark if is_so else "" for mark, is_so in marks))
        yield "".join(_cell(cell) for cell in cells) + text
    yield ""


class _Info(Struct, frozen=True):
    """One row of the instruction info; None where the tables say nothing."""

    uops: int
    latency: int | None
    throughput: float | None
    loads: bool
    stores: bool
    has_side_effects: bool


def _instructions(prediction: Prediction) -> Iterator[_Info]:
    for template in prediction.instructions:
        cost = costs.by_itself(template, prediction.microarchitecture)
        yield _Info(
            template.uop_count if cost is None or cost.uops is None else cost.uops,
            None if cost is None or cost.latency is None else cost.latency[1],
            None if cost is None else cost.throughput,
            any(each.read for each in template.memory_operands),
            any(each.written for each in template.memory_operands),
            template.serializing or template.load_serializing or template.store_serializing,
        )


def _ports(prediction: Prediction) -> list[str]:
    return list(registry.get(prediction.microarchitecture).units.names)


def _resource_pressure(region: RegionAnalysis, prediction: Prediction, texts: Sequence[str]) -> Iterator[str]:
    ports = _ports(prediction)
    heading = "".join(f"[{number}]".ljust(_COLUMN) for number in range(len(ports)))
    yield "Resources:"
    yield from (f"{f'[{number}]':<5} - {port}" for number, port in enumerate(ports))
    yield ""
    yield ""
    yield "Resource pressure per iteration:"
    yield heading
    yield _cells(port_pressure(prediction), ports)
    yield ""
    yield "Resource pressure by instruction:"
    yield f"{heading}Instructions:"
    for row in rows(region, prediction):
        yield _cells(row.usage.ports, ports) + (texts[row.index] if row.kind == "instruction" else row.text)
    yield ""


def _cells(usage: Mapping[str, float], ports: Iterable[str]) -> str:
    shares = (f"{usage.get(port, 0.0):.2f}" for port in ports)
    return "".join(_cell("-" if share == "0.00" else share) for share in shares)


def _cell(text: str) -> str:
    """A cell of a table; only figures with decimals begin at its first character."""
    return (text if "." in text else f" {text}").ljust(_COLUMN)


def _timeline(
    prediction: Prediction, texts: Sequence[str], most_iterations: int, most_cycles: int
) -> Iterator[str]:
    """D: issued by the renamer, which llvm-mca calls dispatch; =: waits; e, E: executes, and its last cycle;
    -: waits to retire; R: retires."""
    trace = prediction.simulation.trace
    assert trace is not None, "asked for with the analysis"
    instances: dict[tuple[int, int], list[TraceRow]] = {}
    for row in trace.rows:
        if row.round < most_iterations and row.issued is not None and row.retired is not None:
            instances.setdefault((row.round, row.instruction), []).append(row)
    spans = {key: _Lifetime.of(found) for key, found in instances.items()}
    if not spans:
        return
    first = min(span.issued for span in spans.values())
    last = min(max(span.retired for span in spans.values()), first + (most_cycles or 1 << 30) - 1)
    length = last - first + 1
    yield "Timeline view:"
    digits = "".join(str(cycle % 10) for cycle in range(length))
    odd = "".join(digit if cycle // 10 % 2 else " " for cycle, digit in enumerate(digits))
    even = "".join(" " if cycle // 10 % 2 else digit for cycle, digit in enumerate(digits))
    if length > 10:
        yield f"{'':10}{odd}"
    yield f"{'Index':10}{even}"
    yield ""
    for (iteration, instruction), span in spans.items():
        if span.retired > last:
            yield "Truncated display due to cycle limit"
            break
        picture = "".join(
            span.letter(first + cycle) or ("." if cycle % 5 == 0 or cycle == length - 1 else " ")
            for cycle in range(length)
        )
        yield f"{f'[{iteration},{instruction}]':10}{picture}   {texts[instruction]}"
    yield ""


class _Lifetime(Struct, frozen=True):
    """Cycles of one instruction: from the first uop issued to the last retired."""

    issued: int
    dispatched: int | None
    """None if the renamer carried it out."""
    executed: int | None
    retired: int

    @classmethod
    def of(cls, found: Sequence[TraceRow]) -> _Lifetime:
        """The span of an instruction's uops."""
        dispatched = [row.dispatched for row in found if row.dispatched is not None]
        executed = [row.executed for row in found if row.executed is not None]
        return cls(
            min(row.issued for row in found if row.issued is not None),
            min(dispatched, default=None),
            max(executed, default=None) if dispatched else None,
            max(row.retired for row in found if row.retired is not None),
        )

    def letter(self, cycle: int) -> str:
        """The letter of a cycle; empty outside the span."""
        if not self.issued <= cycle <= self.retired:
            return ""
        if cycle == self.retired:
            return "R"
        if cycle == self.issued:
            return "D"
        if self.dispatched is None or self.executed is None or cycle > self.executed:
            return "-"
        if cycle < self.dispatched:
            return "="
        return "E" if cycle == self.executed else "e"


def render_json(regions: Sequence[RegionAnalysis], views: McaViews, core: str) -> str:
    """The views in llvm-mca's JSON. A latency or throughput that the tables lack is null."""
    shown = [region for region in regions if region.predictions]
    document = {
        "CodeRegions": [_region_document(region, region.predictions[0], views) for region in shown],
        "SimulationParameters": {"-march": "x86_64", "-mcpu": core, "-mtriple": "x86_64"},
        "TargetInfo": {"CPUName": core, "Resources": list(registry.get(core).units.names)},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _region_document(region: RegionAnalysis, prediction: Prediction, views: McaViews) -> dict[str, Any]:
    ports, found = _ports(prediction), summary_of(prediction, views.iterations)
    texts = list(as_written.texts(region, prediction))
    result: dict[str, Any] = {"Instructions": texts, "Name": region.region.name}
    if views.summary:
        result["SummaryView"] = {
            "BlockRThroughput": round(found.reciprocal_throughput, _DECIMALS),
            "DispatchWidth": found.width,
            "IPC": found.instructions_per_cycle,
            "Instructions": found.instructions,
            "Iterations": views.iterations,
            "TotalCycles": found.cycles,
            "TotaluOps": found.uops,
            "uOpsPerCycle": found.uops_per_cycle,
        }
    if views.instruction_info:
        result["InstructionInfoView"] = {
            "InstructionList": [
                {
                    "Instruction": index,
                    "Latency": each.latency,
                    "NumMicroOpcodes": each.uops,
                    "RThroughput": each.throughput,
                    "hasUnmodeledSideEffects": each.has_side_effects,
                    "mayLoad": each.loads,
                    "mayStore": each.stores,
                }
                for index, each in enumerate(_instructions(prediction))
            ]
        }
    if views.resource_pressure:
        usages = [(row.index, row.usage.ports) for row in rows(region, prediction)]
        usages.append((len(texts), port_pressure(prediction)))
        result["ResourcePressureView"] = {
            "ResourcePressureInfo": [
                {"InstructionIndex": index, "ResourceIndex": ports.index(port), "ResourceUsage": share}
                for index, usage in usages
                for port, value in usage.items()
                if (share := round(value, _DECIMALS))
            ]
        }
    return result
