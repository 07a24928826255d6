"""Simulates a region at every position where it may lie; equivalent positions are simulated once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.assumption_codes import ONE_POSITION
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.model.result import Assumption, Position, Prediction
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.source import Placement
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import placement_of
from msgspec.structs import replace


def positions(
    build: Callable[[int], Block],
    offsets: Sequence[int],
    runs: Runs,
    shown: tuple[Block, Simulation] | None = None,
    known: dict[bytes, Position] | None = None,
) -> tuple[Position, ...]:
    """The region at each of these offsets within a 64-byte line, in the same order.

    ``build`` makes its block at an offset; ``shown``: the block at one offset and its simulation, if there is
    one; ``known`` caches positions by the front end's ``placement`` and grows. Raises like ``simulate``.
    """
    known = {} if known is None else known
    found: dict[int, Position] = {}
    at = shown[0].alignment if shown is not None else None
    for offset in sorted(offsets, key=lambda offset: offset != at):
        block, simulation = shown if shown is not None and offset == at else (build(offset), None)
        key = placement_of(block, runs.microarchitecture, runs.options, runs.caches)
        if key not in known:
            cycles = runs.cycles(block) if simulation is None else steady_state(simulation)
            known[key] = Position(offset, cycles, _erratum(block))
        found[offset] = replace(known[key], offset=offset)
    return tuple(found[offset] for offset in offsets)


def one_so_far(prediction: Prediction, block: Block, count: int, same_everywhere: bool) -> Prediction:
    """The prediction until the figures of the other positions are known.

    ``count``: positions including this one. ``same_everywhere``: the previous version of the region
    took equally long at all positions.
    """
    message = (
        f"The code lies {block.alignment} bytes into a 64-byte line: the figures of the other "
        f"{count - 1} positions follow."
    )
    first = Assumption(
        ONE_POSITION, message, (), {"positions": count, "same_everywhere": int(same_everywhere)}
    )
    here = alone(block, prediction.simulation)
    return replace(prediction, positions=here, assumptions=(*prediction.assumptions, first))


def unknown_offset(prediction: Prediction, placement: Placement) -> Iterator[Assumption]:
    """The assumption for a position that is unknown and matters, or that something in the file hides."""
    found: dict[float, list[int]] = {}
    for position in prediction.positions:
        found.setdefault(position.cycles_per_iteration, []).append(position.offset)
    if len(found) < 2 and not placement.gap:
        return
    known = f"is aligned to {placement.known} bytes only" if placement.known > 1 else "has no alignment"
    figures = "; ".join(
        f"{cycles:.2f} at {wording.offsets(where)}" for cycles, where in sorted(found.items())
    )
    message = (
        f"{placement.gap or f'The section {known}'}: the code takes {figures} bytes into a 64-byte line. The "
        f"rest of the report is for {prediction.alignment}."
    )
    values = {"least": min(found), "most": max(found), "positions": len(prediction.positions)}
    yield Assumption("unknown-offset", message, (), values)


def alone(block: Block, simulation: Simulation) -> tuple[Position, ...]:
    """The single position of a region that was simulated nowhere else."""
    return (Position(block.alignment, steady_state(simulation), _erratum(block)),)


def _erratum(block: Block) -> frozenset[int]:
    """The instructions that the JCC erratum slows down; the first one of a macro-fused pair.

    Unrolled code is decoded every time anyway, so the erratum makes no difference there.
    """
    return frozenset(
        index
        for index, template in enumerate(block.instructions)
        if block.loop and template.jcc_erratum and not template.fused_with_previous
    )


def usual(found: Sequence[Position]) -> int:
    """The offset to show.

    Its figure is the most frequent one, and the smallest of equally frequent ones; among its positions the
    first one with the fewest jumps hit by the erratum.
    """
    count = Counter(position.cycles_per_iteration for position in found)
    cycles = min(count, key=lambda figure: (-count[figure], figure))
    these = [position for position in found if position.cycles_per_iteration == cycles]
    return min(these, key=lambda position: len(position.erratum)).offset
