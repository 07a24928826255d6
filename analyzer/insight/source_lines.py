"""Figures of a loop by source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cyclelens.analyzer.insight import as_written
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE, SourceLine
from msgspec import Struct

Place = tuple[str, int]
"""(file as the compiler names it, zero-based line)."""


class LineFigures(Struct, frozen=True):
    """Figures of a source line's instructions in a loop; averages per iteration."""

    place: Place
    indices: tuple[int, ...]
    """Indices of its instructions."""
    instructions: tuple[str, ...]
    issued: float
    """Issued uops."""
    lost: float
    """Cycles of empty issue slots attributed to its instructions."""
    chain: int
    """Cycles that its instructions add to a critical chain: if several tie, to the one with most of them."""
    labels: tuple[str, ...] = ()
    """Short labels of its instructions' hazards."""


def home(lines: Iterable[SourceLine]) -> Place:
    """The line that represents a loop: the first one in the file with most of its instructions."""
    known = [line for line in lines if line.line != UNKNOWN_LINE]
    if not known:
        return ("", UNKNOWN_LINE)
    (file, _), *_ = Counter(line.file for line in known).most_common(1)
    return (file, min(line.line for line in known if line.file == file))


def _chains(prediction: Prediction) -> list[Counter[int]]:
    """Cycles by instruction of each critical chain; none unless chains limit the region."""
    if "Dependencies" not in prediction.bottlenecks:
        return []
    found = []
    for chain in dependencies(prediction).chains:
        cycles = Counter[int]()
        for step in chain:
            cycles[step.instruction] += step.latency
        found.append(cycles)
    return found


def by_line(region: RegionAnalysis, prediction: Prediction) -> list[LineFigures]:
    """Figures by file and line; instructions without a line come last."""
    texts = as_written.texts(region, prediction)
    chains = _chains(prediction)
    found: dict[Place, list[int]] = {}
    for index, statement in enumerate(region.instruction_lines):
        line = region.region.lines[statement]
        found.setdefault((line.file, line.line), []).append(index)
    account, usage = prediction.account, prediction.simulation.usage
    result = [
        LineFigures(
            place,
            tuple(instructions),
            tuple(texts[each] for each in instructions),
            sum(usage[each].issued for each in instructions),
            sum(account.lost_cycles(each) for each in instructions) if account is not None else 0.0,
            max((sum(chain[each] for each in instructions) for chain in chains), default=0),
            tuple(
                dict.fromkeys(
                    finding.label or finding.code
                    for finding in region.findings
                    if finding.instruction in instructions
                    and finding.microarchitecture in ("", prediction.microarchitecture)
                )
            ),
        )
        for place, instructions in found.items()
    ]
    return sorted(result, key=lambda line: (line.place[1] == UNKNOWN_LINE, *line.place))
