"""Searches for changes that help: simulates many, alone and in pairs.

Equally long chains hide each other: with one shortened, the others still take as long. So splitting all of
them at once is tried, and pairs of changes that are likely to matter together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from math import lcm

from cyclelens.analyzer.insight.accumulators import Accumulator
from cyclelens.analyzer.insight.as_written import PlacedInstruction
from cyclelens.analyzer.insight.capacities import OPTIONAL, SIZES, ChangeError
from cyclelens.analyzer.insight.false_dependencies import false_dependency
from cyclelens.analyzer.insight.whatif import BlockEdit, ChangeResult, Experiment
from msgspec import Struct
from msgspec.structs import replace

_NOTABLE = 0.005
"""Smallest saving that counts, in cycles; figures have two decimals."""
_MOST_INSTRUCTIONS = 100
"""Most instructions that are removed one by one: each change takes a simulation."""
_MOST_PARTNERS = 12
"""Most changes whose pairs are all tried."""
_PAIRED_INSTRUCTIONS = 20_000
"""Most instructions simulated for all pairs together: a long block tries fewer pairs."""
_SPLITS = (2, 4, 8)
_UNROLLED = (2, 4)
_ALIGNMENTS = (0, 16, 32, 48)


_NO_EDIT = BlockEdit()
Split = tuple[tuple[Accumulator, int], ...]


class ChangeKind(StrEnum):
    """What kind of change is tried."""

    REWRITE = "rewrite"
    """The kernel computes the same, except for rounding if sums are reordered."""
    REMOVAL = "removal"
    """An instruction is left out, to see its cost; the kernel computes something else."""
    PROCESSOR = "processor"
    """A parameter of the core differs."""


class Change(Struct, frozen=True):
    """A change to try."""

    kind: ChangeKind
    words: str
    edit: BlockEdit = _NO_EDIT
    parameter: tuple[str, str] = ("", "")
    """Parameter of the core: (name, value)."""

    def result(self, experiment: Experiment) -> ChangeResult | None:
        """Simulates the change; None if it is impossible for this block."""
        try:
            if self.parameter[0]:
                return experiment.with_parameter(*self.parameter, self.words)
            return experiment.edited(self.edit, self.words)
        except ChangeError:
            return None


class TriedChange(Struct, frozen=True):
    """A change and its result."""

    change: Change
    result: ChangeResult | None
    """None if the change is impossible for this block."""
    saves: float
    """Cycles per iteration that it saves; 0 if simpler changes save as much."""

    def beyond(self, simpler: float) -> TriedChange:
        """The same change, saving 0 unless it saves more than ``simpler`` cycles."""
        return self if self.saves > simpler + _NOTABLE else replace(self, saves=0.0)


def explore(
    experiment: Experiment, base: ChangeResult, places: Sequence[PlacedInstruction]
) -> Iterator[tuple[TriedChange, int]]:
    """Tries every automatic change; yields each with the number still to come.

    Pairs are chosen after the single changes. ``base``: the result without a change. ``places``: each
    instruction with its line.
    """
    alone: dict[Change, float] = {}
    best: defaultdict[frozenset[Accumulator], float] = defaultdict(float)
    changes = list(_changes(experiment, places))
    for number, change in enumerate(changes, 1):
        tried = _try(experiment, change, base)
        if change.edit.split:
            # More registers are worth showing only if they save more.
            together = frozenset(accumulator for accumulator, _ in change.edit.split)
            tried, best[together] = tried.beyond(best[together]), max(best[together], tried.saves)
        alone[change] = tried.saves
        yield tried, len(changes) - number
    pairs = _pairs(experiment, alone)
    for number, (one, other) in enumerate(pairs, 1):
        both = Change(one.kind, _together(one, other, places), one.edit | other.edit)
        # The saving of two independent changes is the sum of both.
        yield _try(experiment, both, base).beyond(alone[one] + alone[other]), len(pairs) - number


def helpful(tried: Sequence[TriedChange]) -> list[TriedChange]:
    """Changes whose savings show in two decimals: rewrites first, then by savings; of those that save as much
    the simplest one first."""
    order = list(ChangeKind)

    def rank(tried: TriedChange) -> tuple[object, ...]:
        return order.index(tried.change.kind), -round(tried.saves, 2), *tried.change.edit.complexity

    return sorted([each for each in tried if each.saves > _NOTABLE], key=rank)


def _try(experiment: Experiment, change: Change, base: ChangeResult) -> TriedChange:
    result = change.result(experiment)
    saves = 0.0 if result is None else base.cycles_per_iteration - result.cycles_per_iteration
    return TriedChange(change, result, saves)


def _changes(experiment: Experiment, places: Sequence[PlacedInstruction]) -> Iterator[Change]:
    for split in _splits(experiment):
        yield Change(ChangeKind.REWRITE, split_words(split), BlockEdit(split=split))
    templates = experiment.block.instructions
    if any(each.switches_upper_halves or each.merges_upper_half for each in templates):
        words = "SSE with VEX, or vzeroupper in front of it (upper halves become zero)"
        yield Change(ChangeKind.REWRITE, words, BlockEdit(apart=True))
    for number, template in enumerate(templates[:_MOST_INSTRUCTIONS]):
        found = false_dependency(template.instruction)
        if found is not None:
            note = " (its upper part becomes zero)" if found.keeps_upper else ""
            words = f"{found.register.lower()} cleared before {places[number]}{note}"
            yield Change(ChangeKind.REWRITE, words, BlockEdit(cleared=frozenset([number])))
    if experiment.unrolls:
        for times in _UNROLLED:
            yield Change(ChangeKind.REWRITE, f"unrolled {times} times", BlockEdit(times=times))
    for alignment in _ALIGNMENTS:
        if alignment != experiment.prediction.alignment:
            yield Change(ChangeKind.REWRITE, f"alignment {alignment}", BlockEdit(alignment=alignment))
    if 1 < len(places) <= _MOST_INSTRUCTIONS:
        # Without its closing branch there is no loop.
        for number in range(experiment.loop_end):
            yield Change(
                ChangeKind.REMOVAL, f"without {places[number]}", BlockEdit(removed=frozenset([number]))
            )
    model = experiment.model
    for name in ("rs", "rob", *(OPTIONAL if experiment.options.limited else ())):
        size = getattr(model, SIZES[name])
        if size is not None:
            words = f"{SIZES[name]} {2 * size} instead of {size}"
            yield Change(ChangeKind.PROCESSOR, words, parameter=(name, str(2 * size)))


def _splits(experiment: Experiment) -> Iterator[Split]:
    """Splits of the accumulators on critical chains, and of all accumulators."""
    chain = {instruction for instruction, _ in experiment.prediction.chain}
    everyone = experiment.accumulators
    critical = tuple(each for each in everyone if chain.intersection(each.updates))
    for together in dict.fromkeys((critical, everyone)):
        for registers in _SPLITS if together else ():
            split = tuple((each, registers) for each in together)
            if experiment.unrolls or BlockEdit(split=split).copies == 1:
                yield split


def split_words(split: Split) -> str:
    """Describes a split: ``4 accumulators in place of ymm0 and ymm3, unrolled 2 times``."""
    names = [each.name for each, _ in split]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    times = lcm(*(each.copies(registers) for each, registers in split))
    unrolled = f", unrolled {times} times" if times > 1 else ""
    return f"{sum(registers for _, registers in split)} accumulators in place of {listed}{unrolled}"


def _pairs(experiment: Experiment, alone: Mapping[Change, float]) -> list[tuple[Change, Change]]:
    """Pairs of helpful rewrites, or of instructions that help when removed or are on critical chains."""
    chain = {instruction for instruction, _ in experiment.prediction.chain}

    def matters(change: Change) -> bool:
        return alone[change] > _NOTABLE or bool(chain.intersection(change.edit.removed))

    edits = sorted(filter(matters, alone), key=lambda change: -alone[change])
    pairs = [
        (one, other)
        for kind in (ChangeKind.REWRITE, ChangeKind.REMOVAL)
        for one, other in combinations([each for each in edits if each.kind == kind][:_MOST_PARTNERS], 2)
        if not (one.edit.split and other.edit.split) and None in (one.edit.alignment, other.edit.alignment)
    ]
    return pairs[: _PAIRED_INSTRUCTIONS // len(experiment.block.instructions)]


def _together(one: Change, other: Change, places: Sequence[PlacedInstruction]) -> str:
    if one.kind is not ChangeKind.REMOVAL:
        return f"{one.words}; and {other.words}"
    left_out = sorted(one.edit.removed | other.edit.removed)
    return "without " + " and ".join(places[number].place for number in left_out)
