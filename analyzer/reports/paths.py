"""The paths through a region with branches, and its blocks, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.insight import mispredictions, paths
from cyclelens.analyzer.model.mispredictions import Mispredictions
from cyclelens.analyzer.model.paths import BlockFigure, BranchingAnalysis, Path
from cyclelens.analyzer.model.source import UNKNOWN_LINE


def lines(analysis: BranchingAnalysis) -> Iterator[str]:
    """A line per path, one for the average, and one per block.

    Figures are in cycles per iteration of the region; those of blocks in cycles per execution.
    """
    names = list(dict.fromkeys(name for block in analysis.blocks for name in block.cycles))
    if not names:
        return
    rows = [(_described(analysis, path), path.cycles, _share(path.share)) for path in analysis.paths]
    if analysis.averages:
        rows.append((f"on average {analysis.given}", analysis.averages, ""))
    sums = analysis.mispredictions
    if sums:
        given = next(iter(sums.values())).given
        shown = {name: each.cycles for name, each in sums.items()}
        rows.append((f"{given[:1].upper()}{given[1:]}", shown, _sum_of(sums)))
    rows += [(_block(block), block.cycles, _executions(block)) for block in analysis.blocks]
    title = "Paths and blocks:" if analysis.paths else "Blocks:"
    width = max(len(title), *(len(text) for text, _, _ in rows))
    yield f"{title:<{width}}  {'  '.join(f'{name:>6}' for name in names)}"
    for text, cycles, often in rows:
        yield f"{text:<{width}}  {_figures(cycles, names)}  {often}".rstrip()


def _figures(cycles: Mapping[str, float], names: list[str]) -> str:
    return "  ".join(f"{cycles[name]:6.2f}" if name in cycles else " " * 6 for name in names)


def _described(analysis: BranchingAnalysis, path: Path) -> str:
    branching = analysis.branching
    jumps = [
        paths.described(branching.jumps[fork])
        for fork, taken in zip(branching.forks, path.taken, strict=True)
        if taken
    ]
    return f"{', '.join(jumps)} jump{'s' * (len(jumps) == 1)}" if jumps else "no branch within it jumps"


def _block(block: BlockFigure) -> str:
    if UNKNOWN_LINE in (block.first_line, block.last_line):
        return block.name
    first, last = block.first_line + 1, block.last_line + 1
    return f"{block.name}, {f'line {first}' if first == last else f'lines {first} to {last}'}"


def _sum_of(sums: Mapping[str, Mispredictions]) -> str:
    """The parts of the first core's sum, and which cores have only a lower bound."""
    least = [name for name, each in sums.items() if each.is_lower_bound]
    parts = f"= {mispredictions.parts(next(iter(sums.values())))}"
    return f"{parts}; at least on {', '.join(least)}" if least else parts


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%} of iterations"


def _executions(block: BlockFigure) -> str:
    return "" if block.executions is None else f"{block.executions:.2f} times"
