"""One instruction as Markdown for a hover: its cost, the ports it used, its hazards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from cyclelens.analyzer.common.escaping import code, printable, prose
from cyclelens.analyzer.insight import absence, as_written, costs, mispredictions, vocabulary, wording, work
from cyclelens.analyzer.insight.assumption_codes import WARM_CACHES
from cyclelens.analyzer.insight.confidence import doubt
from cyclelens.analyzer.insight.source_lines import by_line
from cyclelens.analyzer.isa.meanings import meaning
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait
from cyclelens.analyzer.reports import chains

_MOST_CHAIN_LINES = 6
"""Lines of the critical chains in a hover; reports show all of them."""
_ENCODERS = {
    "cyclelens": "Cyclelens",
    "keystone": "Keystone",
    "gnu as": "GNU as",
    "nasm": "NASM",
    "iced-x86": "iced-x86",
} | {"object file": "the object file's producer"}


def instruction_card(region: RegionAnalysis, instruction: int) -> str:
    """Markdown for the instruction with this index on the primary core.

    Without a prediction the card says why. Raises IndexError if there is no such instruction.
    """
    if not region.predictions:
        return f"No prediction: {prose(region.note)}" if region.note else ""
    return "\n".join(_card(region, region.predictions[0], instruction))


def instruction_cards(region: RegionAnalysis) -> dict[int, str]:
    """Line -> the cards of its instructions, one below the other; repeated ones (``.rept``) once."""
    lines: dict[int, list[str]] = {}
    for index, statement in enumerate(region.instruction_lines):
        cards = lines.setdefault(region.region.lines[statement].line, [])
        card = instruction_card(region, index)
        if card and card not in cards:
            cards.append(card)
    return {line: "\n\n---\n\n".join(cards) for line, cards in lines.items()}


def line_cards(region: RegionAnalysis) -> dict[int, str]:
    """Markdown per source line of a compiled region: what the line costs and its instructions."""
    if not region.predictions:
        return {}
    prediction = region.predictions[0]
    words = vocabulary.of(prediction.microarchitecture)
    cards = {}
    for figures in by_line(region, prediction):
        parts = [f"{wording.figure(figures.issued) or '0'} {words.uop}"]
        parts += [f"lost {figures.lost:.2f} cycles"] if figures.lost >= 0.005 else []
        parts += [f"chain +{figures.chain}"] if figures.chain else []
        parts += [prose(label) for label in figures.labels]
        rows = [
            f"| {code(text)} | {_cost(prediction, index)} |"
            for text, index in zip(figures.instructions, figures.indices, strict=True)
        ]
        name = region.region.name
        heading = f"**{' · '.join(parts)}** per iteration of {code(name)} on {prediction.microarchitecture}"
        table = [f"| instruction | {words.unit}s | latency |", "|---|---|---|", *rows]
        cards[figures.place[1]] = "\n".join([heading, "", *table])
    return cards


def inlined_card(name: str, templates: Collection[InstructionTemplate], microarchitecture: str) -> str:
    """Markdown for an intrinsic or another function of the compiler's headers: the cost of each instruction
    that it was compiled to in this file."""
    words = vocabulary.of(microarchitecture)
    rows = []
    for template in templates:
        cost = costs.by_itself(template, microarchitecture)
        told = (
            "? | ? | ? |"
            if cost is None
            else (f"{cost.ports_text} | {cost.latency_text} | {cost.throughput:.2f} |")
        )
        rows.append(f"| {code(template.instruction.text)} | {told}")
    return "\n".join(
        [
            f"**{code(name)}** on {microarchitecture}: cycles to the result, and between independent ones",
            "",
            f"| became | {words.unit}s | latency | alone |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _cost(prediction: Prediction, index: int) -> str:
    template = prediction.instructions[index]
    if template.fused_with_previous:
        return "fused with the previous one |"
    latencies = set(template.latencies.values())
    allowed = ", ".join(f"{count}×{label}" for label, count in _allowed(template).items())
    return f"{allowed} | {_span(latencies) if latencies else ''}"


def _allowed(template: InstructionTemplate) -> Counter[str]:
    """How many uops may use each set of units."""
    return Counter(uop.units.label for uop in template.uops if uop.units.mask)


def _card(region: RegionAnalysis, prediction: Prediction, index: int) -> Iterator[str]:
    template = prediction.instructions[index]
    name = prediction.microarchitecture
    text = as_written.text(region, prediction, index) or template.instruction.code.hex()
    if does := meaning(template.instruction.mnemonic):
        yield does
        yield ""
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
        derived = "; these figures are derived, not measured" if template.facts.constructed else ""
        yield f"[{template.facts.name} on uops.info]({_link(template.facts.name)}){derived}"


def _items(region: RegionAnalysis, prediction: Prediction, index: int, encoder: str) -> Iterator[str]:
    template = prediction.instructions[index]
    words = vocabulary.of(prediction.microarchitecture)
    encoded = template.instruction.code
    encoding = f"{len(encoded)} bytes: {code(encoded.hex(' '))}, encoded by {_ENCODERS.get(encoder, encoder)}"
    if template.fused_with_previous:
        before = as_written.text(region, prediction, index - 1)
        yield f"macro-fused: one uop together with {code(before)} before it"
        yield encoding
        return
    if template.fused_with_next:
        yield f"macro-fused with {code(as_written.text(region, prediction, index + 1))} after it"
    if template.facts is None:
        yield f"no figures: counted as one uop without a {words.unit}"
        yield encoding
        return
    allowed = _allowed(template)
    if prediction.account is not None:
        lost = wording.lost(words, prediction.account, index)
        if lost:
            yield lost
    sets = ", ".join(f"{count}×{label}" for label, count in allowed.items())
    usage = prediction.simulation.usage[index]
    label = registry.get(prediction.microarchitecture).units.label
    used = ", ".join(
        f"{label(port)} {uops:.2f}" for port, uops in sorted(usage.ports.items()) if uops >= 0.005
    )
    yield (
        f"uops: {sum(allowed.values())} executed{f' ({sets})' if sets else ''}, "
        f"{len(template.fused_uops)} {words.issued}{f'; per iteration: {used}' if used else ''}"
    )
    latencies = set(template.latencies.values())
    if not latencies:
        latencies = {cycles for uop in template.uops for _, cycles in uop.outputs}
    if latencies:
        yield f"latency: {_span(latencies)}"
    if template.divider_cycles and any(uop.traits & Trait.ALONE for uop in template.uops):
        yield f"one at a time: the next of its kind starts {wording.cycles(template.divider_cycles)} later"
    elif template.divider_cycles:
        what = f"one {words.unit}" if template.holds_unit else "divider"
        yield f"{what}: busy for {wording.cycles(template.divider_cycles)}"
    if template.ms_uops:
        yield f"microcoded: {template.ms_uops} uops from the microcode sequencer"
    elif template.complex_decoder:
        yield "needs the complex decoder"
    source = wording.sources(words, usage.sources)
    yield f"delivered by: {source}; {encoding}" if source else encoding


def _span(cycles: Collection[int]) -> str:
    low, high = min(cycles), max(cycles)
    if low == high:
        return f"{low} cycle{'' if low == 1 else 's'}"
    return f"{low} to {high} cycles, depending on the operands"


def _link(name: str) -> str:
    """URL of a variant's page: every run of other characters in its name becomes one underscore."""
    return f"https://uops.info/html-instr/{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}.html"


def region_card(region: RegionAnalysis, *, hurried: bool = False) -> str:
    """Markdown for the region's marker: the figure of every core, and why the first one has its figure.

    Lines are short enough for a hover and readable where Markdown is not rendered. ``hurried``: leave out the
    reasons, because critical chains take longer than everything else.
    """
    if not region.predictions:
        return f"No prediction: {prose(region.note)}" if region.note else ""
    lines = [
        f"- **{work.leading(region, prediction)}{wording.figure_of(prediction)} {wording.unit(prediction)}**"
        f"{doubt(prediction)}"
        f"{wording.elsewhere(prediction)}{wording.one_pass(prediction)} on {prediction.microarchitecture}, "
        f"{wording.mode(prediction.mode)}, {wording.bound_of(prediction)}, {wording.front_end(prediction)}"
        for prediction in region.predictions
    ]
    if doing := work.sentence(region, region.predictions[0]):
        lines += [f"- {doing}"]
    lines += [f"- {prose(sentence)}" for sentence in mispredictions.sentences(region.predictions[0])]
    lines += [
        f"- {prose(each.message)}" for each in region.predictions[0].assumptions if each.code == WARM_CACHES
    ]
    if not hurried:
        lines += [f"- {sentence}" for sentence in _reasons(region.predictions[0])]
    chain = [] if hurried else list(map(printable, chains.lines(region, region.predictions[0])))
    if chain:
        more = ["  ..."] if len(chain) > _MOST_CHAIN_LINES else []
        lines += ["", "```text", *chain[:_MOST_CHAIN_LINES], *more, "```"]
    if region.missing:
        lines += ["", f"No figure: {prose(absence.sentence(region.missing))}"]
    if region.note:
        lines += ["", prose(region.note)]
    return "\n".join(lines)


def _reasons(prediction: Prediction) -> Iterator[str]:
    """What explains a figure: the bounds, the largest first, and the issue slots."""
    words = vocabulary.of(prediction.microarchitecture)
    bounds = sorted(prediction.bounds.items(), key=lambda bound: (-bound[1], bound[0]))
    if bounds:
        yield "bounds: " + ", ".join(
            f"{words.limit(name)} {cycles:.2f}" for name, cycles in bounds if cycles > 0
        )
    if prediction.account is not None:
        yield f"issue slots: {wording.slots(words, prediction.account)}"
