"""Rows of a region's table, shared by the formats: one per instruction and one per extra uop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from textwrap import shorten

from cyclelens.analyzer.insight import as_written, wording
from cyclelens.analyzer.insight.renaming import renamings
from cyclelens.analyzer.model.result import Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.simulation import LineUsage
from cyclelens.analyzer.model.source import SourceLine
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct

_LONGEST_USE = 60
"""Most characters shown of a macro's use."""


class Row(Struct, frozen=True):
    """One row of the table; figures are averages per iteration."""

    kind: str
    """``instruction``, ``merge``, ``sync``."""
    index: int
    """Index of the instruction that the row belongs to."""
    statement: SourceLine
    template: InstructionTemplate
    text: str
    usage: LineUsage
    notes: tuple[str, ...]
    use: str = ""
    """The macro's use as written, on the first row of a macro that makes several; otherwise empty."""


def rows(region: RegionAnalysis, prediction: Prediction) -> Iterator[Row]:
    """Instructions in order, each after the merge and stack-synchronisation uops that precede it."""
    simulation = prediction.simulation
    texts = as_written.texts(region, prediction)
    statements = [region.region.lines[line] for line in region.instruction_lines]
    uses = dict(_uses(statements))
    labels: dict[int, list[str]] = {}
    for number, label, _ in renamings(prediction):
        labels.setdefault(number, []).append(label)
    for index, template in enumerate(prediction.instructions):
        statement, use = statements[index], uses.get(index, "")
        for kind, usage in (("merge", simulation.merge_usage[index]), ("sync", simulation.sync_usage[index])):
            if usage is not None:
                text = "(register merge)" if kind == "merge" else "(stack sync)"
                yield Row(kind, index, statement, template, text, usage, (), use)
                use = ""
        notes = tuple(_notes(region, prediction, index, template, labels.get(index, ())))
        usage = simulation.usage[index]
        yield Row("instruction", index, statement, template, texts[index], usage, notes, use)


def _uses(statements: Sequence[SourceLine]) -> Iterator[tuple[int, str]]:
    """Yields (index of the first instruction, text) for each macro use that makes several instructions."""
    first = 0
    for (_, _, use), made in groupby(statements, attrgetter("line", "column", "use")):
        count = len(list(made))
        if use and count > 1:
            yield first, shorten(use, _LONGEST_USE, placeholder=" ...")
        first += count


def grouped(region: RegionAnalysis, findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Merges findings with the same message: (all their places, such as ``lines 48 to 51``; the finding)."""
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.code, finding.message), []).append(finding)
    for each in same.values():
        statements = [region.region.lines[region.instruction_lines[one.instruction]] for one in each]
        yield wording.places(statements), each[0]


def _notes(
    region: RegionAnalysis,
    prediction: Prediction,
    index: int,
    template: InstructionTemplate,
    renamed: Iterable[str],
) -> Iterator[str]:
    if template.fused_with_previous:
        yield f"fused with {prediction.instructions[index - 1].instruction.mnemonic}"
    yield from renamed
    for finding in region.findings:
        if finding.instruction == index and finding.microarchitecture in ("", prediction.microarchitecture):
            yield finding.label or finding.code
