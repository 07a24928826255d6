"""Dominators and natural loops against their definitions."""

from __future__ import annotations

import random

import pytest
from cyclelens.analyzer.frontend.control_flow.graphs import Cycle, find_cycles, immediate_dominators, reached

Graph = list[list[int]]


def reachable(successors: Graph, entries: list[int], without: int | None = None) -> set[int]:
    known = set() if without is None else {without}
    reached(successors, entries, known)
    return known - {without}


def dominates(successors: Graph, entries: list[int], above: int, node: int) -> bool:
    """By definition: no way to the node goes around the other one."""
    return above == node or node not in reachable(successors, entries, without=above)


def graphs(count: int) -> list[tuple[Graph, list[int]]]:
    choose = random.Random(5)
    found = []
    for _ in range(count):
        size = choose.randrange(1, 12)
        successors = [
            [choose.randrange(size) for _ in range(choose.choice([0, 1, 1, 2, 2, 3]))] for _ in range(size)
        ]
        found.append((successors, choose.sample(range(size), choose.choice([1, 1, min(size, 2)]))))
    return found


GRAPHS = graphs(400)


def test_dominators_are_those_of_the_definition() -> None:
    for successors, entries in GRAPHS:
        live = reachable(successors, entries)
        for node, found in enumerate(immediate_dominators(successors, entries)):
            strict = [
                other for other in live if other != node and dominates(successors, entries, other, node)
            ]
            if node not in live:
                assert found is None
            elif not strict:
                assert found == -1
            else:
                # All others dominate the nearest one.
                assert found in strict
                assert all(dominates(successors, entries, other, found) for other in strict)


def bodies(loops: list[Cycle]) -> dict[int, set[int]]:
    return {loop.header: set(loop.body()) for loop in loops}


def test_loops_are_those_of_the_definition() -> None:
    several = nested = 0
    for successors, entries in GRAPHS:
        live = reachable(successors, entries)
        expected: dict[int, set[int]] = {}
        for node in live:
            for target in successors[node]:
                if dominates(successors, entries, target, node):
                    body = expected.setdefault(target, {target})
                    left = [node]
                    while left:
                        at = left.pop()
                        if at not in body:
                            body.add(at)
                            left += [before for before in live if at in successors[before]]
        loops = find_cycles(successors, entries)
        assert bodies(loops) == expected
        for loop in loops:
            within = {other.header for other in loops if other is not loop and other.header in loop.body()}
            assert within == {node for inner in loop.inner for node in bodies(all_of(inner))}
            nested += bool(within)
        several += len(loops) > 1
    assert several > 50 and nested > 20


def all_of(loop: Cycle) -> list[Cycle]:
    return [loop, *(below for inner in loop.inner for below in all_of(inner))]


def test_a_cycle_that_is_entered_in_two_places_is_no_natural_loop() -> None:
    assert find_cycles([[1, 2], [2], [1, 3], []], [0]) == []
    # Within one there may be loops all the same.
    (loop,) = find_cycles([[1, 2], [2], [1, 3], [3, 1]], [0])
    assert (loop.header, loop.body()) == (3, [3])


@pytest.mark.parametrize(
    ("successors", "found"),
    [
        ([[1, 2], [2], [1, 3], []], [[1, 2]]),
        # Two ways around.
        ([[1, 2], [2, 3], [3], [1, 4], []], []),
        # One within a larger cycle that is entered in two places, too.
        ([[1, 3], [2, 5], [3], [2, 4], [1, 5], []], [[2, 3]]),
        # Two that have a node in common.
        ([[1, 3, 4], [2], [3], [2, 4], [1, 3, 5], []], []),
        # Out of order.
        ([[1, 3], [3], [], [1, 2]], []),
    ],
)
def test_a_ring_is_a_loop_wherever_it_is_entered(successors: Graph, found: list[list[int]]) -> None:
    assert [cycle.nodes for cycle in find_cycles(successors, [0], successors)] == found


def test_a_ring_is_within_the_loop_around_it() -> None:
    successors = [[1], [2, 3], [3], [2, 4], [1, 5], []]
    ring, loop = find_cycles(successors, [0], successors)
    assert (ring.nodes, loop.header, sorted(loop.body()), loop.inner) == ([2, 3], 1, [1, 2, 3, 4], [ring])


def test_rings_have_no_natural_loop_and_one_way_around() -> None:
    count = 0
    for successors, entries in GRAPHS:
        natural = {cycle.header for cycle in find_cycles(successors, entries)}
        cycles = find_cycles(successors, entries, successors)
        assert natural <= {cycle.header for cycle in cycles}
        for cycle in cycles:
            if cycle.header not in natural:
                count += 1
                own = set(cycle.nodes)
                following = {node: set(successors[node]) & own for node in own}
                assert all(len(targets) == 1 for targets in following.values())
                assert own.isdisjoint(natural) and not cycle.inner
    assert count > 3


@pytest.mark.parametrize("shape", ["common exit", "nested", "ladder"])
def test_large_graphs_take_no_time_to_speak_of(shape: str) -> None:
    """Shapes that make simpler algorithms quadratic: those would take minutes."""
    size = 20_000
    successors: Graph
    if shape == "common exit":
        successors = [[node + 1, size] for node in range(size)] + [[]]
    elif shape == "nested":
        half = size // 2
        successors = [[node + 1] for node in range(half)]
        successors += [[node + 1, size - 1 - node] for node in range(half, size - 1)] + [[]]
    else:
        successors = [[node + 1, max(node - 1, 0)] for node in range(size - 1)] + [[]]
    expected = {"common exit": 0, "nested": size // 2 - 1, "ladder": size - 2}
    assert len(find_cycles(successors, [0])) == expected[shape]


@pytest.mark.parametrize(("shape", "expected"), [("overlapping", 0), ("out, then back", 1)])
def test_many_rings_that_share_nodes_take_no_time_to_speak_of(shape: str, expected: int) -> None:
    size = 20_000
    half = size // 2
    successors: Graph = [[node + 1] for node in range(half)]
    if shape == "overlapping":
        successors += [[node + 1, node - half] for node in range(half, size - 1)] + [[]]
    else:
        successors = [[node + 1, size - 1] for node in range(half)]
        successors += [[node + 1, size - 1 - node] for node in range(half, size - 1)] + [[]]
    # Entered everywhere, so that no loop is a natural one; a ring is one if no other shares its nodes.
    assert len(find_cycles(successors, range(size), successors)) == expected
