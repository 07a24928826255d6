"""The scarce ports that an instruction needs.

vfmadd231ps (%rdi), %ymm1, %ymm0     p01 p23
imul %rsi, %rax                      p1 1.00        (p1 is busy all the time)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.hints.layout import statement_of
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.pressure import port_pressure, saturated_ports
from cyclelens.analyzer.insight.vocabulary import Vocabulary
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Hint, LineUsage, RegionAnalysis
from cyclelens.analyzer.model.units import Role, Units
from cyclelens.analyzer.model.uops import InstructionTemplate

KIND = "ports"


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint for every instruction that uses a busy port or that few ports can execute."""
    if not region.predictions:
        return
    prediction = region.predictions[0]
    units = registry.get(prediction.microarchitecture).units
    words = vocabulary.of(prediction.microarchitecture)
    busy = saturated_ports(prediction)
    pressure = port_pressure(prediction)
    shares = {port: pressure[port] / prediction.cycles_per_iteration for port in busy}
    for index, template in enumerate(prediction.instructions):
        usage = prediction.simulation.usage[index]
        label = busy_ports(usage, busy, units) or scarce_ports(template, units)
        if label:
            statement = statement_of(region, index)
            yield Hint(
                line=statement.line,
                column=statement.end_column,
                label=label,
                tooltip="\n".join(_tooltip(template, usage, shares, units, words)),
                kind=KIND,
            )


def busy_ports(usage: LineUsage, busy: frozenset[str], units: Units) -> str:
    """Average uops an iteration on ports that are busy all the time: ``p0 0.50 p1 0.50``."""
    used = {port: uops for port, uops in sorted(usage.ports.items()) if port in busy and uops >= 0.005}
    if len(used) > 2:
        return f"{units.named(used).label} {sum(used.values()):.2f}"
    return " ".join(f"{units.label(port)} {uops:.2f}" for port, uops in used.items())


def scarce_ports(template: InstructionTemplate, units: Units) -> str:
    """Allowed ports of the uops that have fewer than a plain ALU uop: ``p01 2×p23``.

    Branches have few ports by nature; they are worth a word only where their port is busy.
    """
    if template.is_branch or template.fused_with_next:
        return ""
    return port_sets(template, fewer_than=len(units.having(Role.ALU).names))


def port_sets(template: InstructionTemplate, fewer_than: int = 99) -> str:
    """Allowed ports of the uops in program order, equal ones counted."""
    sets: dict[str, int] = {}
    for uop in template.uops:
        if 0 < len(uop.units.names) < fewer_than:
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
