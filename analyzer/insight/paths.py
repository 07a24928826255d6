"""Regions with inner branches: the share of each path, and the figures that result."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from cyclelens.analyzer.model.paths import BlockFigure, BranchingAnalysis, Path
from cyclelens.analyzer.model.result import Assumption
from cyclelens.analyzer.model.source import END, UNKNOWN_LINE, Branching, JumpPlace, Region
from msgspec.structs import replace

_MOST_BLOCKS = 200
"""Most blocks of a region for which executions are computed."""
_NEVER = 1e-9
_PADDING = r"\s*(?:nop|int3|\.|align\b)"
"""What assemblers put between functions, and in front of aligned places."""
_TARGET = r"([\w.$@?]+)\s*$"

Shares = tuple[float | None, ...]
"""Share of jumps, 0 to 1, of each fork of a region; None if not given."""


class SharesError(ValueError):
    """Shares that cannot be parsed or do not fit the region; the message is for the user."""


def parse_shares(text: str, branching: Branching) -> Shares:
    """Parses ``taken=``: ``0.9`` or ``90%`` for every fork in code order, or ``PLACE:0.9`` for some forks.

    A place is the label that a jump goes to, its line, or its address. Raises SharesError.
    """
    forks = branching.forks
    if not forks:
        raise SharesError(f"'{branching.name}' has no branch within it, so there is no share to give")
    items = [item.strip() for item in text.split(",") if item.strip()]
    if any(":" in item for item in items):
        return at_places(items, [branching.jumps[fork] for fork in forks])
    if len(items) != len(forks):
        given = f"{len(items)} share{'s' * (len(items) != 1)}"
        raise SharesError(f"taken={text} has {given} for {len(forks)}: {_listed(branching)}")
    return tuple(share_of(item) for item in items)


def at_places(items: Sequence[str], jumps: Sequence[JumpPlace]) -> Shares:
    """Parses ``PLACE:SHARE`` for some jumps; None for the others. Raises SharesError."""
    found: list[float | None] = [None] * len(jumps)
    for item in items:
        place, colon, share = item.rpartition(":")
        which = [at for at, jump in enumerate(jumps) if place in _names(jump)]
        if not colon or len(which) != 1:
            listed = ", ".join(map(described, jumps))
            raise SharesError(f"'{item}' is not PLACE:SHARE for one of its branches: {listed}")
        found[which[0]] = share_of(share)
    return tuple(found)


def missing(branching: Branching, shares: Shares, given: str) -> str:
    """The message for forks without a share."""
    left = [
        branching.jumps[fork] for fork, share in zip(branching.forks, shares, strict=True) if share is None
    ]
    return f"taken={given} gives no share for {', '.join(map(described, left))}"


def share_of(text: str) -> float:
    """Parses a share, ``0.9`` or ``90%``. Raises SharesError."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise SharesError(f"'{text}' is not a share: write 0 to 1, or 0% to 100%")
    return value


def _names(jump: JumpPlace) -> set[str]:
    """Names that a user may give a jump: target, address, line."""
    target = re.search(_TARGET, jump.text)
    names = {target[1]} if target else set()
    if jump.address is not None:
        names.add(f"{jump.address:#x}")
    if jump.line != UNKNOWN_LINE:
        names.add(str(jump.line + 1))
    return names


def _listed(branching: Branching) -> str:
    return ", ".join(described(branching.jumps[fork]) for fork in branching.forks)


def described(jump: JumpPlace) -> str:
    """A jump with its place: ``jz skip (line 3)``."""
    place = f"line {jump.line + 1}" if jump.line != UNKNOWN_LINE else f"{jump.address or 0:#x}"
    return f"{' '.join(jump.text.split())} ({place})"


def choices(branching: Branching, path: Sequence[int]) -> tuple[bool | None, ...]:
    """Whether the path jumps at each fork; None for forks that it does not reach."""
    following = dict(zip(path, [*path[1:], END], strict=True))
    return tuple(
        following[fork] == branching.taken[fork] if fork in following else None for fork in branching.forks
    )


def shares_of_ways(branching: Branching, shares: Shares) -> tuple[float | None, ...]:
    """The share of each path; None if it depends on a fork without a share."""
    found: list[float | None] = []
    for path in branching.paths:
        total: float | None = 1.0
        for jumps, share in zip(choices(branching, path), shares, strict=True):
            if jumps is None or total is None:
                continue
            total = None if share is None else total * (share if jumps else 1 - share)
        found.append(total)
    return tuple(found)


def likeliest(shares: Sequence[float | None]) -> int:
    """Index of the path that is analysed in full: the most frequent one, or without
    shares the one without jumps."""
    known = [share for share in shares if share is not None]
    return known.index(max(known)) if known and len(known) == len(shares) else 0


def executions(branching: Branching, shares: Shares) -> tuple[float, ...] | None:
    """Executions of each block per iteration; None if unknown or unbounded.

    The counts solve the flow equations: a block is executed as often as its predecessors lead to it.
    """
    count = len(branching.blocks)
    if None in shares or count > _MOST_BLOCKS:
        return None
    share_of = dict(zip(branching.forks, shares, strict=True))
    rows = [
        [float(row == column) for column in range(count)] + [float(row == branching.entry)]
        for row in range(count)
    ]
    for block, (passed, taken) in enumerate(zip(branching.passed, branching.taken, strict=True)):
        share = share_of.get(block, 0.0 if taken is None or passed is not None else 1.0) or 0.0
        for target, part in ((passed, 1 - share), (taken, share)):
            if target is not None and target != END:
                rows[target][block] -= part
    for column in range(count):
        pivot = max(range(column, count), key=lambda row: abs(rows[row][column]))
        if abs(rows[pivot][column]) < _NEVER:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(count):
            factor = rows[row][column] / rows[column][column]
            if row != column and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    found = tuple(rows[block][count] / rows[block][block] for block in range(count))
    return found if all(math.isfinite(value) and value > -_NEVER for value in found) else None


def along(branching: Branching, path: Sequence[int], blocks: Mapping[str, Region]) -> Region:
    """The region along one path, its blocks in order.

    A loop starts at its lowest block, the target of the last block's jump.
    """
    start = path.index(min(path)) if branching.is_loop else 0
    order = (*path[start:], *path[:start])
    parts = [blocks[branching.blocks[block]] for block in order]
    is_whole = all(after == before + 1 for before, after in pairwise(order))
    placement = parts[0].placement if is_whole else parts[0].placement.pinned()
    lines = tuple(line for part in parts for line in part.lines)
    latencies: dict[int, int] = {}
    count = 0
    for part in parts:
        latencies |= {count + at: cycles for at, cycles in part.latencies.items()}
        count += len(part.lines)
    return replace(
        parts[0],
        name=branching.name,
        first_line=branching.first_line,
        last_line=branching.last_line,
        options=branching.options,
        lines=lines,
        instructions=tuple(instruction for part in parts for instruction in part.instructions),
        latencies=latencies,
        ends_in_jump_to_start=branching.is_loop,
        offsets=tuple(offset for part in parts for offset in part.offsets),
        incomplete=any(part.incomplete for part in parts),
        placement=placement,
        block_of="",
    )


def instructions_of_forks(
    analysis: BranchingAnalysis, region: Region, statements: Sequence[int]
) -> tuple[int, ...]:
    """Indices of forks among the instructions of ``along``. ``statements``: index of each
    instruction's statement."""
    branching = analysis.branching
    forks = {branching.jumps[fork] for fork in branching.forks if fork in analysis.path}
    return tuple(
        index
        for index, statement in enumerate(statements)
        if JumpPlace((line := region.lines[statement]).line, line.text, line.address) in forks
    )


def analyse(
    branching: Branching,
    shares: Shares,
    given: str,
    blocks: Mapping[str, Region],
    figures: Mapping[str, Mapping[str, float]],
    along_paths: Sequence[Mapping[str, float]],
) -> BranchingAnalysis:
    """Combines the figures of the blocks, by name and core, and those of the paths, by core.

    ``given``: where the shares come from.
    """
    how_often = shares_of_ways(branching, shares)
    found = tuple(
        Path(path, choices(branching, path), share, cycles)
        for path, share, cycles in zip(branching.paths, how_often, along_paths, strict=True)
    )
    counts = executions(branching, shares)
    listed = tuple(
        BlockFigure(name, blocks[name].first_line, blocks[name].last_line, figures[name], count)
        for name, count in zip(branching.blocks, counts or [None] * len(branching.blocks), strict=True)
        if name in blocks
    )
    averages = {}
    for microarchitecture in dict.fromkeys(name for cycles in figures.values() for name in cycles):
        parts = (
            [(path.share, path.cycles.get(microarchitecture)) for path in found]
            if found
            else [(block.executions, block.cycles.get(microarchitecture)) for block in listed]
        )
        total = _total(parts)
        if total is not None and given:
            averages[microarchitecture] = total
    return BranchingAnalysis(branching, given, shares, found, likeliest(how_often), listed, averages)


def _total(parts: Sequence[tuple[float | None, float | None]]) -> float | None:
    """The weighted sum of figures; None if a weight or a needed figure is missing."""
    total = 0.0
    for often, cycles in parts:
        if often is None or (cycles is None and often):
            return None
        total += often * (cycles or 0.0)
    return total


def assumptions(
    analysis: BranchingAnalysis, microarchitecture: str, forks: tuple[int, ...], *, once: bool = False
) -> Iterator[Assumption]:
    """Which path the figure of a region is for, with what the others take, and which lines no path executes.

    ``forks``: indices of the branching instructions. ``once``: figures are cycles of one pass.
    """
    if len(analysis.paths) > 1:
        yield _of_path(analysis, microarchitecture, forks, once=once)
    if left := _not_executed(analysis):
        first, last = min(each.first_line for each in left) + 1, max(each.last_line for each in left) + 1
        what = "iteration" if analysis.branching.is_loop else "path through the region"
        lines, are = (f"line {first}", "it is") if first == last else (f"lines {first} to {last}", "they are")
        yield Assumption("not-executed", f"No {what} executes {lines}: {are} not in the figure.")


def _not_executed(analysis: BranchingAnalysis) -> list[BlockFigure]:
    """The blocks of a text that no path executes, without those of NOPs."""
    branching = analysis.branching
    executed = {branching.blocks[block] for path in analysis.paths for block in path.blocks}
    padding = {
        name
        for name, end in zip(branching.blocks, branching.jumps, strict=True)
        if end.address is not None or re.match(_PADDING, end.text)
    }
    return [each for each in analysis.blocks if each.name not in executed | padding] if executed else []


def _of_path(
    analysis: BranchingAnalysis, microarchitecture: str, forks: tuple[int, ...], *, once: bool
) -> Assumption:
    unit = "cycles" if once else "cycles/iter"
    branching, paths = analysis.branching, analysis.paths
    assumed = paths[analysis.assumed]
    others = [
        path.cycles[microarchitecture]
        for path in paths
        if path is not assumed and microarchitecture in path.cycles
    ]
    values: dict[str, float | int | str] = {"ways": len(paths)}
    if others:
        values |= {"least_of_others": min(others), "most_of_others": max(others)}
    least, most = (f"{figure(others):.2f}" for figure in (min, max)) if others else ("", "")
    if len(branching.forks) == 1:
        jumps = assumed.taken[0]
        jump = " ".join(branching.jumps[branching.forks[0]].text.split())
        message = f"{jump} {'always' if jumps else 'never'} jumps"
        message += f"; if it {'never' if jumps else 'always'} does: {least} {unit}" if others else ""
    else:
        which = "taken most often" if any(assumed.taken) else "on which no branch jumps"
        message = f"Of {len(paths)} paths through the region, this is the one {which}"
        span = least if least == most else f"{least} to {most}"
        message += f"; the others: {span} {unit}" if others else ""
    mean = analysis.averages.get(microarchitecture)
    if mean is not None:
        message += f"; on average {mean:.2f} {analysis.given}"
        values["average"] = round(mean, 4)
    return Assumption("inner-branch", f"{message}.", forks, values)
