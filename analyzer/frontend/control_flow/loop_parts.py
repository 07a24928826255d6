"""Splits a loop into blocks that can be analysed one by one, and describes the control flow between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from cyclelens.analyzer.model.source import END
from msgspec import Struct


class PlaceRange(Struct, frozen=True):
    """A straight-line range of places."""

    first: int
    end: int
    """Place after the last one."""

    @property
    def places(self) -> range:
        """All of its places."""
        return range(self.first, self.end)


DEEPEST = 16
"""Levels of loops inside a loop whose control flow is described. Real code has fewer; without a limit, the
descriptions of loops in loops would grow with the square of the depth."""


class Flow(Struct, dict=True):
    """Blocks and the control flow between them."""

    blocks: list[PlaceRange]
    successors: list[list[int]]
    """Block numbers; the fall-through successor comes first."""
    jumps: list[int | None]
    """Block that each block's final jump goes to."""
    sections: list[int]
    """Section of each block."""
    order: dict[int, int]
    """Number of each block that is in a loop; the blocks of a loop, those of inner loops included, have
    consecutive numbers."""

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """The blocks that lead to each block."""
        found: list[list[int]] = [[] for _ in self.blocks]
        for block, following in enumerate(self.successors):
            for target in following:
                found[target].append(block)
        return found


class LoopPart(Struct, frozen=True):
    """Blocks of a loop that are executed one after the other."""

    nodes: tuple[int, ...]
    block: PlaceRange
    """All of them as one block: they are contiguous."""


class Skeleton(Struct, frozen=True):
    """Control flow within a loop with several paths, ignoring its exits. Has one entry for each block, those
    of inner loops included."""

    parts: tuple[tuple[int, int] | None, ...]
    """The block's loop (by key) and part number; None if another block represents it."""
    passed: tuple[int | None, ...]
    """Next block without a jump; ``END`` for the next iteration."""
    taken: tuple[int | None, ...]
    """Next block with the jump."""
    entry: int
    last: tuple[int, ...]
    """Last place of each block."""


class Loop(Struct, frozen=True, dict=True):
    """A loop in a flow graph."""

    flow: Flow
    nodes: tuple[int, ...]
    """Blocks of this loop but of no inner loop, ascending."""
    header: int
    """Block through which all others are entered, or the lowest block of a cycle that is entered anywhere."""
    inner: tuple[Loop, ...]
    """Loops directly inside this one."""
    lowest: int
    """Its lowest place."""
    body: range
    """``flow.order`` of all blocks, those of inner loops included."""
    depth: int
    """Levels of loops inside this one."""

    @property
    def key(self) -> int:
        """A place that no other loop has: the first one of the header."""
        return self.flow.blocks[self.header].first

    def all(self) -> Iterator[Loop]:
        """This loop and all loops inside it."""
        left = [self]
        while left:
            loop = left.pop()
            yield loop
            left += loop.inner

    @cached_property
    def parts(self) -> tuple[list[LoopPart], bool]:
        """The loop's own basic blocks, ignoring its exits, and whether it has only one path within one
        section. If so, the blocks are in execution order from the lowest on, and the last one jumps back to
        it."""
        following = self._following(self.nodes)
        order: Sequence[int] = self.nodes
        sections = {self.flow.sections[node] for node in self.nodes}
        is_path = (
            not self.inner and len(sections) == 1 and all(len(targets) == 1 for targets in following.values())
        )
        if is_path:
            path = [self.nodes[0]]
            while (target := following[path[-1]][0]) != path[0]:
                path.append(target)
            order = path
        parts: list[LoopPart] = []
        for node in order:
            part = LoopPart((node,), self.flow.blocks[node])
            before = parts[-1] if parts else None
            if (
                before is not None
                and before.block.end == part.block.first
                and following[before.nodes[-1]] == [node]
                and len(self._inside(self.flow.predecessors[node])) == 1
            ):
                del parts[-1]
                part = LoopPart((*before.nodes, node), PlaceRange(before.block.first, part.block.end))
            parts.append(part)
        return parts, is_path

    def skeleton(self) -> Skeleton | None:
        """Control flow within the loop; None if a block has more than one fall-through successor, or if the
        loops inside are nested too deeply."""
        if self.depth > DEEPEST:
            return None
        following = self._following(node for loop in self.all() for node in loop.nodes)
        last: dict[int, int] = {}
        """Last node of each block, by its first node."""
        stands_for: dict[int, tuple[int, int]] = {}
        entry = self.header
        for loop in self.all():
            parts, is_path = loop.parts
            if loop is self:
                last |= {part.nodes[0]: part.nodes[-1] for part in parts}
                # The header may be in the middle of a part, because every iteration passes through that part.
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

    def _inside(self, nodes: Iterable[int]) -> list[int]:
        order, body = self.flow.order, self.body
        return [node for node in nodes if order.get(node, -1) in body]

    def _following(self, nodes: Iterable[int]) -> dict[int, list[int]]:
        """Successors of these blocks within the loop, by block."""
        return {node: self._inside(self.flow.successors[node]) for node in nodes}


def is_in_one_piece(places: Sequence[int]) -> bool:
    """Whether the places are consecutive."""
    return all(after == before + 1 for before, after in pairwise(places))


def scattered(name: str) -> str:
    """Message about a loop whose only path goes through several separate ranges of code."""
    return (
        f"The code of '{name}' is not contiguous: it is analysed in execution order, as if its "
        "pieces were adjacent. Fetching it may take longer."
    )
