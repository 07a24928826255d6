"""Which values an iteration waits for: the dependencies between instructions, the circles that take longest,
and how much room the others have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush

from cyclelens.analyzer.bounds.cycle_ratio import Edge, strong_parts
from cyclelens.analyzer.bounds.dependencies import dependency_graph, own_latency
from cyclelens.analyzer.bounds.dependency_graph import ChainLink, CriticalChains, DependencyGraph
from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode
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
    """Register or flag group as the renamer knows it; ``memory`` for a store that a load reads."""
    name: str
    """The value as the consumer names it: ``ymm0`` for XMM0, ``eax`` for RAX."""
    latency: int
    """Cycles that the producer takes for it from one of its inputs: that by which a critical chain comes in;
    else the slowest of those through which a value can come back to the producer; else the slowest."""
    carried: bool
    """The consumer belongs to the next iteration."""
    critical: bool
    """Part of a critical chain."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of one block. Positions are those of its instructions."""

    edges: tuple[Dependency, ...]
    cycles_per_iteration: Fraction
    """What the critical chain needs; 0 if nothing is carried from one iteration to the next."""
    chains: tuple[tuple[ChainLink, ...], ...]
    """The critical chains, which take equally long, each in its order; empty if nothing is carried."""
    chain_iterations: tuple[int, ...]
    """Iterations that each of them spans until it is back where it began."""
    more_chains: bool
    """There are others, which have steps of their own. ``edges`` has those, too."""
    chain_cycles: Mapping[int, int]
    """For every instruction on any of the critical chains the cycles that it adds to one."""
    slack: tuple[Fraction | None, ...]
    """For every instruction the cycles by which it could get slower without making the bound larger; None
    if it lies on no circle (or the block is too large to tell)."""
    path: tuple[int, ...]
    """The longest way through a single iteration."""
    path_cycles: int
    path_steps: tuple[ChainLink, ...]
    """The same with what each instruction of it adds; the last one hands nothing on."""


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
    """The dependencies of a block, simulated or not."""
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
    """Edges that differ only in the producer's input are one, unless critical ones differ in length."""
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
    """The longest way along dependencies within one iteration, the last instruction's latency included."""
    incoming: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.delay == 0:
            incoming[edge.end].append(edge)
    begin = [0] * len(graph.nodes)
    parent: list[Edge | None] = [None] * len(graph.nodes)
    best: tuple[int, int] | None = None
    # Nodes are numbered in program order, so every producer comes before its consumers.
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
    """For every instruction the least room of all circles through it.

    The room of a circle is the sum of that of its edges, none of which is negative, so that a shortest-path
    search from every input finds the best circle through it.
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
