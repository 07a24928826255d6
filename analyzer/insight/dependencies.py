"""Which values an iteration waits for: the dependencies between instructions, the circle that takes longest,
and how much room the others have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from cyclelens.analyzer.bounds.cycle_ratio import CriticalCycle, Edge, maximum_cycle_ratio
from cyclelens.analyzer.bounds.dependencies import DependencyGraph, dependency_graph
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.uops import Block

_MOST_NODES = 1500
"""Inputs up to which the room of every instruction is computed; it takes quadratic time."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One value that leads from an instruction to another."""

    producer: int
    consumer: int
    value: str
    """Register or flag group; ``memory`` for a store that a load reads."""
    latency: int
    """Cycles that the producer takes for it, from its slowest input."""
    carried: bool
    """The consumer belongs to the next iteration."""
    critical: bool
    """Part of the critical chain."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of one block. Positions are those of its instructions."""

    edges: tuple[Dependency, ...]
    cycles_per_iteration: Fraction
    """What the critical chain needs; 0 if nothing is carried from one iteration to the next."""
    chain: tuple[int, ...]
    """The instructions of the critical chain in its order; one may occur more than once."""
    chain_latencies: tuple[int, ...]
    """Cycles of each step of the chain."""
    chain_iterations: int
    """Iterations that the chain spans until it is back where it began."""
    slack: tuple[Fraction | None, ...]
    """For every instruction the cycles by which it could get slower without making the bound larger; None
    if it lies on no circle (or the block is too large to tell)."""
    path: tuple[int, ...]
    """The longest way through a single iteration."""
    path_cycles: int

    @property
    def chain_cycles(self) -> dict[int, int]:
        """For every instruction of the critical chain the cycles that it adds to it."""
        cycles: defaultdict[int, int] = defaultdict(int)
        for instruction, latency in zip(self.chain, self.chain_latencies, strict=True):
            cycles[instruction] += latency
        return dict(cycles)


def dependencies(prediction: Prediction) -> Dependencies:
    """The dependencies of a predicted block."""
    return dependencies_of(_block(prediction), registry.get(prediction.microarchitecture))


def _block(prediction: Prediction) -> Block:
    return Block(
        prediction.instructions,
        prediction.microarchitecture,
        loop=prediction.mode == "loop",
        alignment=prediction.alignment,
    )


def critical_chain(prediction: Prediction) -> dict[int, int]:
    """For every instruction of the critical chain the cycles that it adds to it."""
    cycles: defaultdict[int, int] = defaultdict(int)
    for instruction, latency in prediction.chain:
        cycles[instruction] += latency
    return dict(cycles)


def dependencies_of(block: Block, microarchitecture: Microarchitecture) -> Dependencies:
    """The dependencies of a block, simulated or not."""
    graph = dependency_graph(block, microarchitecture)
    cycle = maximum_cycle_ratio(len(graph.nodes), graph.edges)
    path, path_cycles = _longest_path(graph)
    return Dependencies(
        edges=_between_instructions(graph, cycle),
        cycles_per_iteration=cycle.ratio,
        chain=tuple(graph.nodes[edge.start].instruction for edge in cycle.edges),
        chain_latencies=tuple(edge.latency for edge in cycle.edges),
        chain_iterations=sum(edge.delay for edge in cycle.edges),
        slack=_slack(graph, cycle.ratio, len(block.instructions)),
        path=path,
        path_cycles=path_cycles,
    )


def _between_instructions(graph: DependencyGraph, cycle: CriticalCycle) -> tuple[Dependency, ...]:
    """Edges that differ only in the producer's input are one, with the slowest latency."""
    critical = set(cycle.edges)
    merged: dict[tuple[int, int, str, bool], tuple[int, bool]] = {}
    for edge in graph.edges:
        start, end = graph.nodes[edge.start], graph.nodes[edge.end]
        key = (start.instruction, end.instruction, end.value or "memory", edge.delay > 0)
        latency, is_critical = merged.get(key, (0, False))
        merged[key] = (max(latency, edge.latency), is_critical or edge in critical)
    return tuple(
        Dependency(producer, consumer, value, latency, carried, is_critical)
        for (producer, consumer, value, carried), (latency, is_critical) in sorted(merged.items())
    )


def _longest_path(graph: DependencyGraph) -> tuple[tuple[int, ...], int]:
    """The longest way along dependencies within one iteration, the last instruction's latency included."""
    incoming: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.delay == 0:
            incoming[edge.end].append(edge)
    begin = [0] * len(graph.nodes)
    parent: list[int | None] = [None] * len(graph.nodes)
    best: tuple[int, int] | None = None
    # Nodes are numbered in program order, so every producer comes before its consumers.
    for number, node in enumerate(graph.nodes):
        for edge in incoming[number]:
            if begin[edge.start] + edge.latency > begin[number] or parent[number] is None:
                begin[number] = begin[edge.start] + edge.latency
                parent[number] = edge.start
        end = begin[number] + node.own_latency
        if best is None or end > best[0]:
            best = (end, number)
    if best is None:
        return (), 0
    path = []
    step: int | None = best[1]
    while step is not None:
        path.append(graph.nodes[step].instruction)
        step = parent[step]
    return tuple(reversed(path)), best[0]


def _slack(graph: DependencyGraph, ratio: Fraction, instructions: int) -> tuple[Fraction | None, ...]:
    """For every instruction the least room of all circles through it.

    With the bound as price of an iteration no circle has a positive length, and the room of a circle is by
    how much its length falls short of zero. Longest distances make all prices of edges one-sided, so that a
    shortest-path search from every input finds the best circle through it.
    """
    slack: list[Fraction | None] = [None] * instructions
    count = len(graph.nodes)
    if ratio == 0 or count > _MOST_NODES:
        return tuple(slack)
    scale = ratio.denominator
    weight = [edge.latency * scale - edge.delay * ratio.numerator for edge in graph.edges]
    distance = [0] * count
    changed = True
    while changed:
        changed = False
        for edge, length in zip(graph.edges, weight, strict=True):
            if distance[edge.start] + length > distance[edge.end]:
                distance[edge.end] = distance[edge.start] + length
                changed = True
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for edge, length in zip(graph.edges, weight, strict=True):
        cost = distance[edge.end] - distance[edge.start] - length
        outgoing[edge.start].append((edge.end, cost))
    for number, node in enumerate(graph.nodes):
        cheapest = _cheapest_circle(outgoing, number)
        if cheapest is not None:
            room = Fraction(cheapest, scale)
            known = slack[node.instruction]
            slack[node.instruction] = room if known is None else min(known, room)
    return tuple(slack)


def _cheapest_circle(outgoing: Sequence[Sequence[tuple[int, int]]], origin: int) -> int | None:
    """Dijkstra's algorithm from a node back to itself; None if no way leads back."""
    queue = [(cost, end) for end, cost in outgoing[origin]]
    queue.sort()
    done: set[int] = set()
    while queue:
        cost, node = heappop(queue)
        if node == origin:
            return cost
        if node in done:
            continue
        done.add(node)
        for end, more in outgoing[node]:
            if end not in done:
                heappush(queue, (cost + more, end))
    return None
