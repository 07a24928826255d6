"""Applies a recorded profile: how often branches jump, and which loops matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cyclelens.analyzer.insight.paths import Shares, choices
from cyclelens.analyzer.model.paths import Weight
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import END, Branching, Counts
from msgspec.structs import replace

GIVEN = "by the profile"
_ROUNDS = 1000
"""Iterations until the shares converge; each takes some microseconds."""
CountsOf = Mapping[str, Counts]
_Edge = tuple[int, int]


def shares(branching: Branching, counts: CountsOf, cycles: Mapping[str, float]) -> Shares:
    """Share of jumps of each fork; None where the profile has no data.

    ``cycles``: of each block, by name.
    """
    known = [counts.get(name) for name in branching.blocks]
    if not any(each is not None and (each.executed or _tell_executions(each)) for each in known):
        return (None,) * len(branching.forks)
    if not any(each is not None and each.executed for each in known):
        if branching.paths:
            return _from_ways(branching, [_samples(counts, name, cycles) for name in branching.blocks])
        return _from_flow(branching, [_executed(counts, name, cycles) for name in branching.blocks])
    found: list[float | None] = []
    for fork in branching.forks:
        each = known[fork]
        total = 0.0 if each is None else each.jumped + each.passed
        # A fork that was never reached does not matter.
        found.append(None if each is None else each.jumped / total if total else 0.0)
    return tuple(found)


def _from_ways(branching: Branching, blocks: Sequence[tuple[float, float]]) -> Shares:
    """Estimates the frequency of each path that makes the samples most likely.

    ``blocks``: (samples, expected samples per execution) of each. Samples fall some instructions too late, so
    no block alone tells how often it was executed.
    """
    often = [1.0] * len(branching.paths)
    for _ in range(_ROUNDS):
        executed = [0.0] * len(blocks)
        for path, times in zip(branching.paths, often, strict=True):
            for block in path:
                executed[block] += times
        for number, path in enumerate(branching.paths):
            units = sum(blocks[block][1] for block in path)
            found = sum(blocks[block][0] / executed[block] for block in path if executed[block])
            often[number] *= found / units if units else 0.0
    jumps = [choices(branching, path) for path in branching.paths]
    found_shares: list[float | None] = []
    for fork in range(len(branching.forks)):
        taken, passed = (
            sum(times for times, each in zip(often, jumps, strict=True) if each[fork] is jumped)
            for jumped in (True, False)
        )
        found_shares.append(taken / (taken + passed) if taken + passed else 0.0)
    return tuple(found_shares)


def _from_flow(branching: Branching, executed: Sequence[float | None]) -> Shares:
    """Solves the flow conservation of blocks edge by edge, starting from known counts.

    The end of an iteration is an edge to the first block.
    """

    def at(target: int) -> int:
        return branching.entry if target == END else target

    leaving: list[list[_Edge]] = [[] for _ in branching.blocks]
    coming: list[list[_Edge]] = [[] for _ in branching.blocks]
    for block, targets in enumerate(zip(branching.passed, branching.taken, strict=True)):
        for target in dict.fromkeys(at(each) for each in targets if each is not None):
            leaving[block].append((block, target))
            coming[target].append((block, target))
    flow: dict[_Edge, float] = {}
    changed = True
    while changed:
        changed = False
        for block, times in enumerate(executed):
            for edges in (coming[block], leaving[block]):
                unknown = [edge for edge in edges if edge not in flow]
                if times is not None and len(unknown) == 1:
                    rest = times - sum(flow[edge] for edge in edges if edge in flow)
                    flow[unknown[0]] = max(rest, 0.0)
                    changed = True
    found: list[float | None] = []
    for fork in branching.forks:
        passed, taken = branching.passed[fork], branching.taken[fork]
        assert passed is not None and taken is not None, "a fork has two successors"
        on, off = flow.get((fork, at(passed))), flow.get((fork, at(taken)))
        if on is None or off is None:
            found.append(None)
        else:
            found.append(off / (on + off) if on + off else 0.0)
    return tuple(found)


def _samples(counts: CountsOf, name: str, cycles: Mapping[str, float]) -> tuple[float, float]:
    found = counts.get(name)
    return (0.0, 0.0) if found is None else (found.samples, found.instructions or cycles.get(name, 0.0))


def _tell_executions(counts: Counts) -> bool:
    return bool(counts.samples) and not counts.has_branches


def _executed(counts: CountsOf, name: str, cycles: Mapping[str, float]) -> float | None:
    """Executions of a block; estimated from its samples if only those are known."""
    found = counts.get(name)
    if found is None:
        return None
    if found.executed or not _tell_executions(found):
        return found.executed
    unit = found.instructions or cycles.get(name)
    return found.samples / unit if unit else None


def weighed(analysis: Analysis, counts: CountsOf) -> Analysis:
    """The analysis with the share of all cycles that each region and each branching loop took, with their
    mispredicted branches."""
    branchings = {each.branching.name: each for each in analysis.branchings}
    parts = {name for each in analysis.branchings for name in each.branching.blocks}
    took: dict[str, tuple[float, Weight]] = {}
    for region in analysis.regions:
        name = region.region.name
        if name not in branchings and name not in parts:
            cycles = region.predictions[0].shown_cycles if region.predictions else 0.0
            took[name] = _took([(name, cycles)], name, counts)
    for name, each in branchings.items():
        figures = [(block.name, next(iter(block.cycles.values()), 0.0)) for block in each.blocks]
        cycles, weight = _took(figures, each.branching.blocks[each.branching.entry], counts)
        added = next(iter(each.mispredictions.values()), None)
        took[name] = cycles + (0.0 if added is None else weight.iterations * added.added), weight
    total = sum(cycles for cycles, _ in took.values())
    weights = {
        name: replace(weight, share=cycles / total if total else 0.0)
        for name, (cycles, weight) in took.items()
    }
    return replace(
        analysis,
        regions=tuple(replace(each, weight=weights.get(each.region.name)) for each in analysis.regions),
        branchings=tuple(replace(each, weight=weights[each.branching.name]) for each in analysis.branchings),
    )


def _took(figures: Iterable[tuple[str, float]], first: str, counts: CountsOf) -> tuple[float, Weight]:
    """(cycles that a region took, from the figures of its blocks; its weight, without a share)."""
    cycles = dict(figures)
    seen = [counts[name] for name in cycles if name in counts]
    weight = Weight(counts[first].executed if first in counts else 0, sum(each.samples for each in seen), 0.0)
    return sum((_executed(counts, name, cycles) or 0.0) * cycles[name] for name in cycles), weight
