"""A loop in the blocks that are to be looked at one by one, and how control goes through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.source import END


class Block(NamedTuple):
    """A stretch of code that control goes through from one end to the other."""

    first: int
    end: int
    """Behind its last place."""


@dataclass(slots=True)
class Flow:
    """Blocks, and how they follow each other."""

    blocks: list[Block]
    successors: list[list[int]]
    """Numbers of blocks; what control goes on to comes first."""
    jumps: list[int | None]
    """The block that the jump at the end of each goes to."""
    sections: list[int]
    """The section that each is in."""


class LoopPart(NamedTuple):
    """Blocks of a loop that are executed one after the other."""

    nodes: tuple[int, ...]
    block: Block
    """All of them: they stand one behind the other."""


class Skeleton(NamedTuple):
    """How control goes through a loop with several ways around, as if nothing led out of it. One entry for
    each of its blocks, those of the loops within it too."""

    parts: tuple[tuple[int, int] | None, ...]
    """The header's place of the loop that a block is a part of, and the number of the part; None if another
    block stands for it."""
    passed: tuple[int | None, ...]
    """The block that control goes on to if it does not jump; ``END`` for another time around."""
    taken: tuple[int | None, ...]
    """The same if it jumps."""
    entry: int
    last: tuple[int, ...]
    """The last place of each block."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop."""

    flow: Flow
    nodes: tuple[int, ...]
    """Blocks that belong to it and to no loop within it, in order."""
    header: int
    """The block that all others are come to through, or the lowest of a cycle that is entered anywhere."""
    inner: tuple[Loop, ...]
    """The loops directly within it."""
    lowest: int
    """Its lowest place."""

    @property
    def key(self) -> int:
        """A place that no other loop has: the header's first."""
        return self.flow.blocks[self.header].first

    def all(self) -> Iterator[Loop]:
        """It and all loops within it."""
        left = [self]
        while left:
            loop = left.pop()
            yield loop
            left += loop.inner

    def parts(self) -> tuple[list[LoopPart], bool]:
        """Its own basic blocks, as if nothing led out of it; whether there is only one way around, within a
        section. Then they are in the order of execution from the lowest on, which the last one jumps back
        to."""
        following = self._following()
        order: Sequence[int] = self.nodes
        sections = {self.flow.sections[node] for node in self.nodes}
        is_path = (
            not self.inner and len(sections) == 1 and all(len(targets) == 1 for targets in following.values())
        )
        if is_path:
            way = [self.nodes[0]]
            while (target := following[way[-1]][0]) != way[0]:
                way.append(target)
            order = way
        sources = Counter(target for targets in following.values() for target in targets)
        parts: list[LoopPart] = []
        for node in order:
            part = LoopPart((node,), self.flow.blocks[node])
            before = parts[-1] if parts else None
            if (
                before is not None
                and before.block.end == part.block.first
                and following[before.nodes[-1]] == [node]
                and sources[node] == 1
            ):
                del parts[-1]
                part = LoopPart((*before.nodes, node), Block(before.block.first, part.block.end))
            parts.append(part)
        return parts, is_path

    def skeleton(self) -> Skeleton | None:
        """How control goes through it; None if a jump has more than two ways to go."""
        following = self._following()
        last: dict[int, int] = {}
        """Of each block's nodes, by its first."""
        stands_for: dict[int, tuple[int, int]] = {}
        entry = self.header
        for loop in self.all():
            parts, is_path = loop.parts()
            if loop is self:
                last |= {part.nodes[0]: part.nodes[-1] for part in parts}
                # What goes on to the header may belong to its part: every time around goes through that.
                entry = next(part.nodes[0] for part in parts if entry in part.nodes)
            else:
                last |= {node: node for node in loop.nodes}
            for number, part in enumerate(parts[:1] if is_path else parts):
                stands_for[part.nodes[0]] = loop.key, number
        numbers = {node: number for number, node in enumerate(sorted(last))}

        def number_of(node: int | None) -> int | None:
            if node is None:
                return None
            return END if node == entry else numbers[node]

        passed, taken = [], []
        for node in numbers:
            targets, jump = following[last[node]], self.flow.jumps[last[node]]
            jump = jump if jump in targets else None
            others = [target for target in targets if target != jump]
            if len(others) > 1:
                return None
            passed.append(number_of(others[0] if others else None))
            taken.append(number_of(jump))
        counted = tuple(stands_for.get(node) for node in numbers)
        ends = tuple(self.flow.blocks[last[node]].end - 1 for node in numbers)
        return Skeleton(counted, tuple(passed), tuple(taken), numbers[entry], ends)

    def _following(self) -> dict[int, list[int]]:
        """By block of the whole loop those of it that come next."""
        body = {node for loop in self.all() for node in loop.nodes}
        return {
            node: [target for target in self.flow.successors[node] if target in body] for node in sorted(body)
        }


def is_in_one_piece(places: Sequence[int]) -> bool:
    """Does each of these places stand right behind the one before?"""
    return all(after == before + 1 for before, after in pairwise(places))


def scattered(name: str) -> str:
    """What there is to say about a loop whose only way around goes through several stretches of code."""
    return (
        f"The code of '{name}' does not stand in one piece: it is analysed as it is executed, as if its "
        "pieces stood one behind the other. Fetching it may take longer."
    )
