"""One instruction as Markdown, for a hover: what it costs, where it ran, what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from cyclelens.analyzer.escaping import code, printable, prose
from cyclelens.analyzer.insight import absence, as_written, vocabulary, wording, work
from cyclelens.analyzer.insight.confidence import doubt
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.reports import chains

_ENCODERS = {
    "cyclelens": "Cyclelens",
    "keystone": "Keystone",
    "gnu as": "GNU as",
    "nasm": "NASM",
    "llvm": "LLVM",
} | {"object file": "whoever made the object file"}


def instruction_card(region: RegionAnalysis, instruction: int) -> str:
    """Markdown for the instruction with this index on the primary microarchitecture.

    Without a prediction the card says why. Raises IndexError if there is no such instruction.
    """
    if not region.predictions:
        return f"No prediction: {prose(region.note)}" if region.note else ""
    return "\n".join(_card(region, region.predictions[0], instruction))


def _card(region: RegionAnalysis, prediction: Prediction, index: int) -> Iterator[str]:
    template = prediction.instructions[index]
    name = prediction.microarchitecture
    text = as_written.text(region, prediction, index) or template.instruction.code.hex()
    yield f"**{code(text)}** on {name}"
    yield ""
    encoder = region.region.lines[region.instruction_lines[index]].backend
    yield from (f"- {item}" for item in _items(region, prediction, index, encoder))
    findings = [
        finding
        for finding in region.findings
        if finding.instruction == index and finding.microarchitecture in ("", name)
    ]
    for finding in findings:
        yield ""
        yield f"**{finding.code}**: {prose(finding.message)}"
    if template.facts is not None:
        yield ""
        yield f"[{template.facts.name} on uops.info]({_link(template.facts.name)})"


def _items(region: RegionAnalysis, prediction: Prediction, index: int, encoder: str) -> Iterator[str]:
    template = prediction.instructions[index]
    words = vocabulary.of(prediction.microarchitecture)
    encoded = template.instruction.code
    yield f"{len(encoded)} bytes: {code(encoded.hex(' '))}, encoded by {_ENCODERS.get(encoder, encoder)}"
    if template.fused_with_previous:
        before = as_written.text(region, prediction, index - 1)
        yield f"macro-fused: one uop together with {code(before)} before it"
        return
    if template.fused_with_next:
        yield f"macro-fused with {code(as_written.text(region, prediction, index + 1))} after it"
    if template.facts is None:
        yield f"no figures: counted as one uop without a {words.unit}"
        return
    allowed: dict[str, int] = {}
    for uop in template.uops:
        if uop.units.mask:
            allowed[uop.units.label] = allowed.get(uop.units.label, 0) + 1
    issued, delivered = len(template.fused_uops), len(template.idq_uops)
    yield f"uops: {sum(allowed.values())} executed, {issued} {words.issued}, {delivered} from the front end"
    if allowed:
        yield f"allowed {words.unit}s: " + ", ".join(f"{count}×{label}" for label, count in allowed.items())
    usage = prediction.simulation.usage[index]
    label = registry.get(prediction.microarchitecture).units.label
    used = [f"{label(port)} {uops:.2f}" for port, uops in sorted(usage.ports.items()) if uops >= 0.005]
    if used:
        yield f"{words.unit}s used, uops per iteration: {', '.join(used)}"
    latencies = set(template.latencies.values())
    if not latencies:
        latencies = {cycles for uop in template.uops for _, cycles in uop.outputs}
    if latencies:
        yield f"latency: {_span(latencies)}"
    if template.divider_cycles:
        yield f"divider: busy for {template.divider_cycles} cycles"
    if template.ms_uops:
        yield f"microcoded: {template.ms_uops} uops from the microcode sequencer"
    elif template.complex_decoder:
        yield "needs the complex decoder"
    if template.facts.constructed:
        yield "these figures were put together from published tables, not measured"
    source = wording.sources(words, usage.sources)
    if source:
        yield f"delivered by: {source}"
    if prediction.account is not None:
        lost = wording.lost(words, prediction.account, index)
        if lost:
            yield lost


def _span(cycles: Collection[int]) -> str:
    low, high = min(cycles), max(cycles)
    if low == high:
        return f"{low} cycle{'' if low == 1 else 's'}"
    return f"{low} to {high} cycles, depending on the operands"


@lru_cache(maxsize=1024)
def _link(name: str) -> str:
    """Page of a variant: its name with every run of other characters replaced by one underscore."""
    return f"https://uops.info/html-instr/{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}.html"


def region_card(region: RegionAnalysis, *, hurried: bool = False) -> str:
    """Markdown for the region's marker: the figures of every microarchitecture and what limits them.
    ``hurried``: without the critical chains, which take longer than all the rest."""
    if not region.predictions:
        return f"No prediction: {prose(region.note)}" if region.note else ""
    lines = ["| | cycles/iter | mode | bottleneck | front end |", "|---|---:|---|---|---|"]
    lines += [
        f"| {prediction.microarchitecture} | {prediction.cycles_per_iteration:.2f}{doubt(prediction)}"
        f"{wording.elsewhere(prediction)} "
        f"| {wording.mode(prediction.mode)} | {wording.limits(prediction)} "
        f"| {wording.front_end(prediction)} |"
        for prediction in region.predictions
    ]
    account = region.predictions[0].account
    if account is not None:
        words = vocabulary.of(region.predictions[0].microarchitecture)
        lines += ["", f"{words.slots.capitalize()}: {wording.slots(words, account)}."]
    if doing := work.sentence(region, region.predictions[0].cycles_per_iteration):
        lines += ["", f"Work: {doing}."]
    chain = [] if hurried else list(map(printable, chains.lines(region, region.predictions[0])))
    if chain:
        lines += ["", "```text", *chain, "```"]
    if region.missing:
        lines += ["", f"No figure: {prose(absence.sentence(region.missing))}"]
    if region.note:
        lines += ["", prose(region.note)]
    return "\n".join(lines)
