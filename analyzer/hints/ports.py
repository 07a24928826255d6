"""Shows what an instruction uses of the limiting ports, in uops per iteration.

vmovaps %ymm0, (%rdi)                p4 1.00        (p4 is busy all the time)
vfmadd231ps (%rdi), %ymm1, %ymm0     p01 1.00
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.pressure import port_pressure, saturated_ports
from cyclelens.analyzer.insight.vocabulary import Vocabulary
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Hint, RegionAnalysis
from cyclelens.analyzer.model.simulation import LineUsage
from cyclelens.analyzer.model.units import Units
from cyclelens.analyzer.model.uops import InstructionTemplate

KIND = "ports"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint per instruction that uses a limiting port; none unless ports limit the region."""
    prediction = region.predictions[0] if region.predictions else None
    if prediction is None or "Ports" not in prediction.bottlenecks:
        return
    units = registry.get(prediction.microarchitecture).units
    words = vocabulary.of(prediction.microarchitecture)
    busy = saturated_ports(prediction)
    pressure = port_pressure(prediction)
    shares = {port: pressure[port] / prediction.cycles_per_iteration for port in busy}
    for index, template in enumerate(prediction.instructions):
        usage = prediction.simulation.usage[index]
        label = busy_ports(template, usage, busy, units)
        if label:
            statement = statement_of(region, index)
            yield Hint(
                line=statement.line,
                column=statement.end_column,
                label=label,
                tooltip="\n".join(_tooltip(template, usage, shares, units, words)),
                kind=KIND,
            )


def busy_ports(template: InstructionTemplate, usage: LineUsage, busy: frozenset[str], units: Units) -> str:
    """The saturated ports that the instruction may use and its uops per iteration on them: ``p01 1.00``."""
    used = {port: uops for port, uops in usage.ports.items() if port in busy and uops >= 0.005}
    if not used:
        return ""
    allowed = {name for uop in template.uops for name in uop.units.names} & busy
    return f"{units.named(sorted(allowed | used.keys())).label} {sum(used.values()):.2f}"


def port_sets(template: InstructionTemplate) -> str:
    """Allowed ports of each uop in program order; equal ones are counted: ``2×p01 p23``."""
    sets: dict[str, int] = {}
    for uop in template.uops:
        if uop.units.names:
            sets[uop.units.label] = sets.get(uop.units.label, 0) + 1
    return " ".join(label if count == 1 else f"{count}×{label}" for label, count in sets.items())


def _tooltip(
    template: InstructionTemplate,
    usage: LineUsage,
    shares: Mapping[str, float],
    units: Units,
    words: Vocabulary,
) -> Iterator[str]:
    yield f"Allowed {words.unit}s: {port_sets(template)}"
    used = [f"{units.label(port)} {uops:.2f}" for port, uops in sorted(usage.ports.items()) if uops >= 0.005]
    if used:
        yield f"Used, uops per iteration: {', '.join(used)}"
    for port in sorted(shares.keys() & usage.ports.keys()):
        name = words.one_unit(port)
        yield f"{name[:1].upper()}{name[1:]} is busy in {shares[port]:.0%} of the cycles."
