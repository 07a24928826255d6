"""Mispredicted branches: the conditional jumps of a region, the share of their executions that are
mispredicted, and the sum of the figure and their penalties (docs/branches.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, kind_of
from cyclelens.analyzer.insight.paths import SharesError, at_places, described, executions, share_of
from cyclelens.analyzer.insight.weights import GIVEN
from cyclelens.analyzer.microarchitectures.misprediction_penalty import misprediction_penalty_for
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.mispredictions import BranchFree, MispredictedBranch, Mispredictions
from cyclelens.analyzer.model.paths import BranchingAnalysis
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.source import Branching, Counts, JumpPlace, Region
from msgspec import Struct
from msgspec.structs import replace

CODE = "predicted-branches"
"""The assumption that these figures replace."""
_MNEMONIC = re.compile(r"(?:(?:bnd|notrack|cs|ds)\s+)*([a-z]+)")
_LEAST_SHOWN = 0.01


class ConditionalJumps(Struct, frozen=True):
    """The conditional jumps of a region."""

    name: str
    """Of the region."""
    places: tuple[JumpPlace, ...]
    """In code order."""
    blocks: tuple[int, ...]
    """The basic block that each ends; 0 in a region without inner branches."""
    forks: tuple[int, ...] = ()
    """Indices of those within the region: neither an exit nor the end of an iteration."""


class GivenShares(Struct, frozen=True):
    """The share of each conditional jump's executions that are mispredicted."""

    jumps: ConditionalJumps
    shares: tuple[float, ...]
    source: str
    """Where they come from: ``with mispredicted=0.1``."""
    least: bool = False
    """They are lower bounds."""


def of_branching(branching: Branching) -> ConditionalJumps:
    """The conditional jumps of a region with inner branches."""
    blocks = tuple(block for block, jump in enumerate(branching.jumps) if _is_conditional(jump.text))
    forks = tuple(at for at, block in enumerate(blocks) if block in branching.forks)
    return ConditionalJumps(branching.name, tuple(branching.jumps[block] for block in blocks), blocks, forks)


def of_region(region: Region) -> ConditionalJumps:
    """The conditional jumps of a region without inner branches."""
    places = tuple(
        JumpPlace(line.line, line.text, line.address) for line in region.lines if _is_conditional(line.text)
    )
    return ConditionalJumps(region.name, places, (0,) * len(places))


def _is_conditional(text: str) -> bool:
    found = _MNEMONIC.match(text.strip().lower())
    return found is not None and kind_of(found[1]) is TransferKind.BRANCH


def parse_shares(text: str, jumps: ConditionalJumps) -> tuple[float, ...]:
    """Parses ``mispredicted=``: the share of each jump's executions that are mispredicted.

    ``0.1`` or ``10%`` in code order, for the branches within the region or for all its conditional jumps;
    ``PLACE:0.1`` for some of them, and 0 for the others. Raises SharesError.
    """
    if not jumps.places:
        raise SharesError(f"'{jumps.name}' has no conditional jump, so there is no share to give")
    items = [item.strip() for item in text.split(",") if item.strip()]
    if any(":" in item for item in items):
        return tuple(share or 0.0 for share in at_places(items, jumps.places))
    wanted = next((each for each in (jumps.forks, range(len(jumps.places))) if len(each) == len(items)), None)
    if not wanted:
        inner = [jumps.places[at] for at in jumps.forks]
        choices = [each for each in (inner, jumps.places) if each]
        listed = ", or ".join(f"{len(each)}: {', '.join(map(described, each))}" for each in choices)
        raise SharesError(f"mispredicted={text} has {len(items)} share{'s' * (len(items) != 1)} for {listed}")
    found = dict(zip(wanted, map(share_of, items), strict=True))
    return tuple(found.get(at, 0.0) for at in range(len(jumps.places)))


def parsed(text: str, jumps: ConditionalJumps) -> GivenShares:
    """The shares of an option or a marker. Raises SharesError."""
    return GivenShares(jumps, parse_shares(text, jumps), f"with mispredicted={text}")


def recorded(
    jumps: ConditionalJumps, names: Sequence[str], counts: Mapping[str, Counts]
) -> GivenShares | None:
    """The shares of a recorded profile; None if it has no misprediction. ``names``: of the blocks.

    Profiles record branches that jump, so the shares are lower bounds.
    """
    shares = []
    for at, block in enumerate(jumps.blocks):
        found = counts.get(names[block]) if block not in jumps.blocks[at + 1 :] else None
        if found is None or not (total := found.jumped + found.passed):
            shares.append(0.0)
        else:
            shares.append(found.mispredicted / total)
    return GivenShares(jumps, tuple(shares), GIVEN, least=True) if any(shares) else None


def through(
    analysis: BranchingAnalysis, given: GivenShares, machine: MachineFile | None = None
) -> dict[str, Mispredictions]:
    """What mispredicted branches add to a region with inner branches, by core.

    Without shares of the paths the sum is for the path that is shown. Raises SharesError if the executions of
    a block are not known.
    """
    branching = analysis.branching
    counts: Sequence[float] | None = executions(branching, analysis.shares) if analysis.given else None
    bases: Mapping[str, float] = analysis.averages
    if counts is None:
        if not analysis.paths:
            unknown = f"how often the branches of '{branching.name}' execute is not known"
            raise SharesError(f"mispredicted= needs taken= here: {unknown}")
        path = analysis.paths[analysis.assumed]
        counts = [float(block in path.blocks) for block in range(len(branching.blocks))]
        bases = path.cycles
    sums = {name: _sum(name, base, given, counts, machine) for name, base in bases.items()}
    whole = next((each.cycles for each in analysis.paths if len(each.blocks) == len(branching.blocks)), {})
    if len(branching.forks) != 1:
        return sums
    jump = branching.jumps[branching.forks[0]]
    return {
        name: replace(each, without=BranchFree(jump, whole[name])) if name in whole else each
        for name, each in sums.items()
    }


def straight(prediction: Prediction, given: GivenShares) -> Mispredictions:
    """What mispredicted branches add to a region without inner branches."""
    return _sum(prediction.microarchitecture, prediction.placed_cycles, given, (1.0,), prediction.machine)


def _sum(
    name: str,
    base: float,
    given: GivenShares,
    counts: Sequence[float],
    machine: MachineFile | None,
) -> Mispredictions:
    """``counts``: executions of each block."""
    jumps = given.jumps
    each = zip(jumps.places, given.shares, jumps.blocks, strict=True)
    branches = tuple(MispredictedBranch(place, share, counts[block]) for place, share, block in each if share)
    penalty = misprediction_penalty_for(name, machine)
    return Mispredictions(given.source, branches, base, penalty.cycles, penalty.source, given.least)


def parts(found: Mispredictions) -> str:
    """The sum behind a figure: ``4.00 + 0.10 × 16``; ``4.00 + 0.10 × unknown penalty``."""
    penalty = "unknown penalty" if found.penalty is None else f"{found.penalty:g}"
    return f"{found.base:.2f} + {_count(found.count)} × {penalty}"


def suffix(prediction: Prediction) -> str:
    """The sum in parentheses behind a figure, with a space; empty without mispredicted branches."""
    found = prediction.mispredictions
    return "" if found is None else f" ({parts(found)})"


def sentences(prediction: Prediction) -> Iterator[str]:
    """The sum and the source of its parts; nothing without mispredicted branches."""
    found = prediction.mispredictions
    if found is None:
        return
    core = prediction.microarchitecture
    least = "at least " if found.is_lower_bound else ""
    yield f"{least}{found.cycles:.2f} = {parts(found)} {found.given}"
    if len(found.branches) > 1 or any(each.executions != 1 for each in found.branches):
        yield "; ".join(
            f"{described(each.jump)}: {each.share:.3g} of {each.executions:.2f} executions"
            for each in found.branches
        )
    if missing := lacking(prediction):
        yield f"{missing[:1].upper()}{missing[1:]}."
    if found.penalty is not None:
        yield f"A misprediction costs {core} about {found.penalty:g} cycles ({found.penalty_source})."

    share = found.break_even
    if found.without is not None and share is not None:
        version = (
            f"A version without {described(found.without.jump)} does the work of both paths and waits for"
        )
        when = f"can be faster from {share:.0%} mispredictions on" if share else "can be faster at any share"
        when = "is slower at any share" if share >= 1 else when
        yield f"{version} its condition: {found.without.cycles:.2f} cycles or more, so it {when}."


def lacking(prediction: Prediction) -> str:
    """Why the sum is a lower bound: ``the cycles that a misprediction costs on ARL are not known``; empty if
    it is none."""
    found = prediction.mispredictions
    if found is None or not found.is_lower_bound:
        return ""
    if found.penalty is None:
        return f"the cycles that a misprediction costs on {prediction.microarchitecture} are not known"
    return "the profile records taken branches only, so there may be more mispredictions"


def _count(count: float) -> str:
    return f"{count:.2f}" if count >= _LEAST_SHOWN or not count else f"{count:.2g}"
