"""Finds the exact maximum cycle ratio of a graph, and all cycles with that ratio."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct


class Edge(Struct, frozen=True, order=True):
    """A dependency: ``latency`` in cycles, ``delay`` in iterations. Every cycle has a positive delay."""

    start: int
    end: int
    latency: int
    delay: int


class CriticalCycle(Struct, frozen=True):
    """A cycle with the largest ratio of latency to delay; ratio 0 and no edges if every ratio is 0."""

    ratio: Fraction
    edges: tuple[Edge, ...]
    lengths: Mapping[int, int]
    """Longest path to each node that can lie on a cycle, with the ratio as the price of a delay, in units of
    1/denominator of the ratio."""

    def room(self, edge: Edge) -> int | None:
        """Slack of an edge: how much shorter a path over it is than the longest path to its end, in the same
        units.

        The sum of slack over a cycle is what the cycle lacks to be critical. None if the edge lies on no
        cycle.
        """
        if edge.start not in self.lengths or edge.end not in self.lengths:
            return None
        weight = edge.latency * self.ratio.denominator - edge.delay * self.ratio.numerator
        return self.lengths[edge.end] - self.lengths[edge.start] - weight


def maximum_cycle_ratio(nodes: int, edges: Sequence[Edge]) -> CriticalCycle:
    """The largest ratio of latency to delay over all cycles, and a cycle with that ratio.

    This is Lawler's parametric search: with the ratio of a known cycle as the price of a delay, a
    longest-path search either finds a positive, and thus better, cycle or proves that none exists. All
    arithmetic is in integers. Paths are relaxed in the order of their end nodes; if edges without delay lead
    from lower to higher numbers, few rounds are needed.
    """
    ratio = Fraction(0)
    best: tuple[Edge, ...] = ()
    incoming = _cyclic_part(nodes, edges)
    length = [0] * nodes
    while cycle := _positive_cycle(incoming, ratio, length):
        ratio, best = _ratio(cycle), cycle
        length = [0] * nodes
    return CriticalCycle(ratio, best, {node: length[node] for node, _ in incoming})


def _ratio(cycle: Sequence[Edge]) -> Fraction:
    return Fraction(sum(edge.latency for edge in cycle), sum(edge.delay for edge in cycle))


def critical_edges(nodes: int, edges: Sequence[Edge], cycle: CriticalCycle) -> frozenset[Edge]:
    """The edges of all cycles with the largest ratio; none if the ratio is 0.

    A cycle has the largest ratio exactly if none of its edges has slack.
    """
    if not cycle.edges:
        return frozenset()
    lengths, numerator, denominator = cycle.lengths, cycle.ratio.numerator, cycle.ratio.denominator
    tight = [
        edge
        for edge in edges
        if edge.start in lengths
        and edge.end in lengths
        and lengths[edge.end] - lengths[edge.start] == edge.latency * denominator - edge.delay * numerator
    ]
    part = strong_parts(nodes, tight)
    return frozenset(edge for edge in tight if part[edge.start] == part[edge.end])


def cover(
    critical: Sequence[Edge], first: Sequence[Edge], most: int, key: Callable[[Edge], Hashable]
) -> Iterator[tuple[Edge, ...]]:
    """Critical cycles: ``first``, then at most ``most`` in total, each with an edge whose ``key`` no earlier
    cycle has.

    Each cycle is such an edge and the shortest path back to its start. There may be exponentially many
    cycles; with a sufficient ``most`` these contain every edge.
    """
    if not first:
        return
    outgoing: dict[int, list[Edge]] = {}
    for edge in critical:
        outgoing.setdefault(edge.start, []).append(edge)
    yield tuple(first)
    seen, count = {key(edge) for edge in first}, 1
    for edge in critical:
        if count == most:
            return
        if key(edge) not in seen:
            found = (edge, *_shortest(outgoing, edge.end, edge.start))
            seen.update(map(key, found))
            count += 1
            yield found


def _shortest(outgoing: Mapping[int, Sequence[Edge]], start: int, end: int) -> tuple[Edge, ...]:
    """The path with the fewest edges from ``start`` to ``end``; a path must exist."""
    arrived: dict[int, Edge | None] = {start: None}
    waiting = deque([start])
    while end not in arrived:
        node = waiting.popleft()
        for edge in outgoing[node]:
            if edge.end not in arrived:
                arrived[edge.end] = edge
                waiting.append(edge.end)
    path: list[Edge] = []
    while (last := arrived[end]) is not None:
        path.append(last)
        end = last.start
    return tuple(reversed(path))


def strong_parts(nodes: int, edges: Sequence[Edge]) -> list[int]:
    """Number of each node's strongly connected component; -1 for nodes without edges. Two nodes of one
    component lie on a cycle.

    Uses Gabow's path-based algorithm, without recursion.
    """
    outgoing: list[list[int]] = [[] for _ in range(nodes)]
    for edge in edges:
        outgoing[edge.start].append(edge.end)
    order, part = [-1] * nodes, [-1] * nodes
    count = parts = 0
    for origin in range(nodes):
        if order[origin] >= 0 or not outgoing[origin]:
            continue
        calls = [(origin, iter(outgoing[origin]))]
        order[origin], count = count, count + 1
        still_open, boundaries = [origin], [origin]
        while calls:
            node, ends = calls[-1]
            for end in ends:
                if order[end] < 0:
                    order[end], count = count, count + 1
                    still_open.append(end)
                    boundaries.append(end)
                    calls.append((end, iter(outgoing[end])))
                    break
                if part[end] < 0:
                    while order[boundaries[-1]] > order[end]:
                        boundaries.pop()
            else:
                calls.pop()
                if boundaries[-1] == node:
                    boundaries.pop()
                    while part[node] < 0:
                        part[still_open.pop()] = parts
                    parts += 1
    return part


def _cyclic_part(nodes: int, edges: Sequence[Edge]) -> list[tuple[int, list[Edge]]]:
    """Nodes with their incoming edges, without those that cannot lie on a cycle."""
    incoming: list[list[Edge]] = [[] for _ in range(nodes)]
    outgoing: list[list[Edge]] = [[] for _ in range(nodes)]
    for edge in edges:
        incoming[edge.end].append(edge)
        outgoing[edge.start].append(edge)
    in_count = [len(found) for found in incoming]
    out_count = [len(found) for found in outgoing]
    alive = [True] * nodes
    dead = [node for node in range(nodes) if not in_count[node] or not out_count[node]]
    while dead:
        node = dead.pop()
        if not alive[node]:
            continue
        alive[node] = False
        for edge in outgoing[node]:
            in_count[edge.end] -= 1
            if not in_count[edge.end]:
                dead.append(edge.end)
        for edge in incoming[node]:
            out_count[edge.start] -= 1
            if not out_count[edge.start]:
                dead.append(edge.start)
    return [
        (node, [edge for edge in incoming[node] if alive[edge.start]]) for node in range(nodes) if alive[node]
    ]


def _positive_cycle(
    incoming: Sequence[tuple[int, Sequence[Edge]]], price: Fraction, length: list[int]
) -> tuple[Edge, ...] | None:
    """A cycle whose latency exceeds ``price`` per delay; None if there is none.

    ``length`` starts as 0 for each node; if there is no such cycle, it ends as the longest path to each node.
    """
    numerator, denominator = price.numerator, price.denominator
    weighted = [
        (node, [(edge.start, edge.latency * denominator - edge.delay * numerator, edge) for edge in found])
        for node, found in incoming
    ]
    parent: list[Edge | None] = [None] * len(length)
    changed = True
    while changed:
        changed = False
        for node, found in weighted:
            for start, weight, edge in found:
                candidate = length[start] + weight
                if candidate > length[node]:
                    length[node] = candidate
                    parent[node] = edge
                    changed = True
        if changed and (cycle := _parent_cycle(parent)) is not None:
            return cycle
    return None


def _parent_cycle(parent: Sequence[Edge | None]) -> tuple[Edge, ...] | None:
    """A cycle among the last edges of the longest paths; one exists only if a positive cycle does."""
    seen_from = [-1] * len(parent)
    for origin in range(len(parent)):
        node = origin
        while seen_from[node] < 0:
            seen_from[node] = origin
            edge = parent[node]
            if edge is None:
                break
            node = edge.start
        else:
            if seen_from[node] == origin:
                return _trace_cycle(parent, node)
    return None


def _trace_cycle(parent: Sequence[Edge | None], node: int) -> tuple[Edge, ...]:
    edges: list[Edge] = []
    current = node
    while not edges or current != node:
        edge = parent[current]
        assert edge is not None, "every node of a cycle has an edge that leads to it"
        edges.append(edge)
        current = edge.start
    return tuple(reversed(edges))
