"""Finds the dependencies between instructions, the critical chains, and the slack of each instruction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush

from cyclelens.analyzer.bounds.cycle_ratio import Edge, strong_parts
from cyclelens.analyzer.bounds.dependencies import dependency_graph, own_latency
from cyclelens.analyzer.bounds.dependency_graph import ChainLink, CriticalChains, DependencyGraph
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.uops import Block
from msgspec import Struct

_MOST_NODES = 1500
"""Most inputs for which slack is computed: it takes quadratic time."""


class Dependency(Struct, frozen=True):
    """A value that one instruction produces and another reads."""

    producer: int
    consumer: int
    value: str
    """Canonical register or flag group; ``memory`` for a store that a load reads."""
    name: str
    """The consumer's name for it: ``ymm0`` for XMM0, ``eax`` for RAX."""
    latency: int
    """Cycles from one of the producer's inputs to the value.

    The input is the one on a critical chain if there is one, otherwise the slowest on a cycle through the
    producer, otherwise the slowest.
    """
    carried: bool
    """True if the consumer belongs to the next iteration."""
    critical: bool
    """True if it is part of a critical chain."""


class Dependencies(Struct, frozen=True):
    """The dependencies of one block. Instructions are indices into it."""

    edges: tuple[Dependency, ...]
    cycles_per_iteration: Fraction
    """Length of the critical chain; 0 if no value is carried to the next iteration."""
    chains: tuple[tuple[ChainLink, ...], ...]
    """The critical chains, all equally long, in program order; empty if no value is carried."""
    chain_iterations: tuple[int, ...]
    """Iterations that each chain spans before it repeats."""
    more_chains: bool
    """True if there are more critical chains than ``chains`` lists; ``edges`` marks them too."""
    chain_cycles: Mapping[int, int]
    """Instruction on a critical chain -> cycles that it adds."""
    slack: tuple[Fraction | None, ...]
    """Cycles by which each instruction could slow down without raising the bound; None if it is on no cycle
    of dependencies, or if the block is too large."""
    path: tuple[int, ...]
    """The longest path through a single iteration, as instruction indices."""
    path_cycles: int
    path_steps: tuple[ChainLink, ...]
    """The same path with the latency of each step; the last step passes no value on."""


def dependencies(prediction: Prediction) -> Dependencies:
    """The dependencies of a predicted block."""
    return dependencies_of(_block(prediction), registry.get(prediction.microarchitecture))


def _block(prediction: Prediction) -> Block:
    return Block(
        prediction.instructions,
        prediction.microarchitecture,
        loop=prediction.mode is Mode.LOOP,
        alignment=prediction.alignment,
        tracks_values=prediction.tracks_values,
    )


def dependencies_of(block: Block, microarchitecture: Microarchitecture) -> Dependencies:
    """The dependencies of a block, which need not have been simulated."""
    graph = dependency_graph(block, microarchitecture)
    critical = graph.critical()
    steps = _longest_path(graph, block)
    return Dependencies(
        edges=_between_instructions(graph, critical),
        cycles_per_iteration=critical.cycles_per_iteration,
        chains=critical.chains,
        chain_iterations=critical.iterations,
        more_chains=critical.more,
        chain_cycles=critical.cycles,
        slack=_slack(graph, len(block.instructions)),
        path=tuple(step.instruction for step in steps),
        path_cycles=sum(step.latency for step in steps),
        path_steps=steps,
    )


def _between_instructions(graph: DependencyGraph, critical: CriticalChains) -> tuple[Dependency, ...]:
    """Merges edges that differ only in the producer's input, except critical ones of different latency."""
    part = strong_parts(len(graph.nodes), graph.edges)
    merged: defaultdict[tuple[int, int, str, bool], list[tuple[bool, bool, int, str]]] = defaultdict(list)
    for edge in graph.edges:
        start, end = graph.nodes[edge.start], graph.nodes[edge.end]
        rank = (edge in critical.edges, part[edge.start] == part[edge.end], edge.latency, end.name)
        merged[start.instruction, end.instruction, end.value, edge.delay > 0].append(rank)
    found = []
    for (producer, consumer, value, carried), ranks in sorted(merged.items()):
        shown = {rank for rank in ranks if rank[0]} or {max(ranks)}
        found += [
            Dependency(producer, consumer, value, name, latency, carried, is_critical)
            for is_critical, _, latency, name in sorted(shown)
        ]
    return tuple(found)


def _longest_path(graph: DependencyGraph, block: Block) -> tuple[ChainLink, ...]:
    """The longest dependency path within one iteration, including the last instruction's latency."""
    incoming: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.delay == 0:
            incoming[edge.end].append(edge)
    begin = [0] * len(graph.nodes)
    parent: list[Edge | None] = [None] * len(graph.nodes)
    best: tuple[int, int] | None = None
    # Nodes are in program order, so producers come before consumers.
    for number, node in enumerate(graph.nodes):
        for edge in incoming[number]:
            if begin[edge.start] + edge.latency > begin[number] or parent[number] is None:
                begin[number] = begin[edge.start] + edge.latency
                parent[number] = edge
        end = begin[number] + own_latency(block.instructions[node.instruction], node)
        if best is None or end > best[0]:
            best = (end, number)
    if best is None:
        return ()
    last = best[1]
    path = [ChainLink(graph.nodes[last].instruction, best[0] - begin[last], "")]
    step = parent[last]
    while step is not None:
        path.append(graph.step(step))
        step = parent[step.start]
    return tuple(reversed(path))


def _slack(graph: DependencyGraph, instructions: int) -> tuple[Fraction | None, ...]:
    """Slack of each instruction: the least slack of all cycles of dependencies through it.

    The slack of a cycle is the sum of its edges' slack, which is never negative, so a shortest-path search
    from each input finds the least.
    """
    slack: list[Fraction | None] = [None] * instructions
    count = len(graph.nodes)
    if graph.cycle.ratio == 0 or count > _MOST_NODES:
        return tuple(slack)
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for edge in graph.edges:
        room = graph.cycle.room(edge)
        if room is not None:
            outgoing[edge.start].append((edge.end, room))
    for number, node in enumerate(graph.nodes):
        cheapest = _cheapest_circle(outgoing, number)
        if cheapest is not None:
            least = Fraction(cheapest, graph.cycle.ratio.denominator)
            known = slack[node.instruction]
            slack[node.instruction] = least if known is None else min(known, least)
    return tuple(slack)


def _cheapest_circle(outgoing: Sequence[Sequence[tuple[int, int]]], origin: int) -> int | None:
    """Dijkstra's algorithm from a node back to itself; None if no path leads back."""
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
