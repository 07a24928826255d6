"""The maximum cycle ratio of a graph, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Edge(NamedTuple):
    """A dependency: ``latency`` cycles, ``delay`` iterations. Every cycle has some delay."""

    start: int
    end: int
    latency: int
    delay: int


@dataclass(frozen=True, slots=True)
class CriticalCycle:
    """A cycle whose latency per delay is the largest of the graph; ratio 0 and no edges if all is 0."""

    ratio: Fraction
    edges: tuple[Edge, ...]


def maximum_cycle_ratio(nodes: int, edges: Sequence[Edge]) -> CriticalCycle:
    """The largest sum of latencies over sum of delays of all cycles, and a cycle that has it.

    Lawler's parametric search by improvement: with the ratio of a known cycle as price of a delay, a longest
    path search either finds a cycle that is still positive, and thus better, or proves that there is none.
    All arithmetic is in integers. Paths are relaxed in the order of their end nodes; where edges without
    delay lead from lower to higher numbers, few rounds are needed.
    """
    best = CriticalCycle(Fraction(0), ())
    incoming = _cyclic_part(nodes, edges)
    while True:
        cycle = _positive_cycle(nodes, incoming, best.ratio)
        if cycle is None:
            return best
        ratio = Fraction(sum(edge.latency for edge in cycle), sum(edge.delay for edge in cycle))
        best = CriticalCycle(ratio, cycle)


def _cyclic_part(nodes: int, edges: Sequence[Edge]) -> list[tuple[int, list[Edge]]]:
    """Nodes with their incoming edges, without those that nothing leads to or away from."""
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
    nodes: int, incoming: Sequence[tuple[int, Sequence[Edge]]], price: Fraction
) -> tuple[Edge, ...] | None:
    """A cycle whose latency exceeds ``price`` for each delay, None if there is none."""
    numerator, denominator = price.numerator, price.denominator
    weighted = [
        (node, [(edge.start, edge.latency * denominator - edge.delay * numerator, edge) for edge in found])
        for node, found in incoming
    ]
    length = [0] * nodes
    parent: list[Edge | None] = [None] * nodes
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
    """A cycle among the edges by which the longest paths arrive; these exist only if it is positive."""
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
