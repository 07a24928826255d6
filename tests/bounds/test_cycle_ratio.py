"""The maximum cycle ratio, and the cycles that have it, against the enumeration of all simple cycles."""

from fractions import Fraction

from cyclelens.analyzer.bounds.cycle_ratio import Edge, cover, critical_edges, maximum_cycle_ratio
from hypothesis import given
from hypothesis import strategies as st


def enumerated(nodes, edges):
    """All simple cycles."""
    found = []

    def walk(start, node, seen, path):
        for edge in edges:
            if edge.start != node:
                continue
            if edge.end == start:
                found.append((*path, edge))
            elif edge.end not in seen and edge.end > start:
                walk(start, edge.end, seen | {edge.end}, (*path, edge))

    for start in range(nodes):
        walk(start, start, {start}, ())
    return found


def ratio(cycle):
    return Fraction(sum(edge.latency for edge in cycle), sum(edge.delay for edge in cycle))


@st.composite
def graphs(draw):
    """Delays as in a program: none only from an earlier to a later node."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    ends = draw(st.lists(st.tuples(node, node, st.integers(0, 20), st.integers(0, 1)), max_size=14))
    return nodes, [Edge(a, b, lat, delay if a < b else 1) for a, b, lat, delay in ends]


@given(graphs())
def test_ratio_is_that_of_the_best_simple_cycle(graph):
    assert maximum_cycle_ratio(*graph).ratio == max(map(ratio, enumerated(*graph)), default=0)


@given(graphs())
def test_the_returned_cycle_is_closed_and_has_the_ratio(graph):
    result = maximum_cycle_ratio(*graph)
    if not result.edges:
        assert result.ratio == 0
        return
    for edge, following in zip(result.edges, result.edges[1:] + result.edges[:1], strict=True):
        assert edge.end == following.start
    assert result.ratio == ratio(result.edges)


@given(graphs())
def test_the_critical_edges_are_those_of_all_cycles_that_tie(graph):
    result = maximum_cycle_ratio(*graph)
    ties = [cycle for cycle in enumerated(*graph) if result.ratio and ratio(cycle) == result.ratio]
    assert critical_edges(graph[0], graph[1], result) == {edge for cycle in ties for edge in cycle}


@given(graphs(), st.integers(1, 3))
def test_the_listed_cycles_tie_and_hold_every_critical_edge(graph, most):
    result = maximum_cycle_ratio(*graph)
    critical = critical_edges(graph[0], graph[1], result)
    listed = list(cover(sorted(critical), result.edges, 99, lambda edge: edge))
    assert {edge for cycle in listed for edge in cycle} == critical
    for cycle in listed:
        assert ratio(cycle) == result.ratio
        assert all(a.end == b.start for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert list(cover(sorted(critical), result.edges, most, lambda edge: edge)) == listed[:most]


@given(graphs())
def test_the_room_of_a_cycle_is_what_it_lacks(graph):
    result = maximum_cycle_ratio(*graph)
    for cycle in enumerated(*graph):
        lacks = result.ratio * sum(edge.delay for edge in cycle) - sum(edge.latency for edge in cycle)
        rooms = [room for edge in cycle if (room := result.room(edge)) is not None]
        assert len(rooms) == len(cycle)
        assert sum(rooms) == lacks * result.ratio.denominator
        assert all(room >= 0 for room in rooms)


def test_many_cycles_that_tie_are_found_quickly():
    """Twenty diamonds in a row and back: a million cycles."""
    edges = [Edge(3 * i + a, 3 * i + b, 1, 0) for i in range(20) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    edges.append(Edge(60, 0, 1, 1))
    result = maximum_cycle_ratio(61, edges)
    assert result.ratio == 41
    assert critical_edges(61, edges, result) == set(edges)
    assert len(list(cover(edges, result.edges, 99, lambda edge: edge))) <= 41


def test_a_fraction_stays_exact():
    edges = [Edge(0, 1, 1, 1), Edge(1, 2, 1, 1), Edge(2, 0, 2, 1)]
    assert maximum_cycle_ratio(3, edges).ratio == Fraction(4, 3)


def test_a_long_chain_is_one_cycle():
    chain = [Edge(node, node + 1, 1, 0) for node in range(1999)] + [Edge(1999, 0, 1, 1)]
    shortcuts = [Edge(node, node + 2, 1, 0) for node in range(1998)]
    assert maximum_cycle_ratio(2000, chain + shortcuts).ratio == 2000


def test_no_cycle_no_bound():
    assert maximum_cycle_ratio(2, [Edge(0, 1, 9, 0)]).ratio == 0
    assert maximum_cycle_ratio(0, []).ratio == 0


def test_an_edge_between_two_critical_cycles_is_on_none():
    """Also where it has no slack: a path through it takes as long as staying in a cycle."""
    loops = [Edge(0, 0, 3, 1), Edge(1, 1, 3, 1)]
    for between in (Edge(0, 1, 5, 0), Edge(1, 0, 8, 1)):
        edges = [*loops, between]
        assert critical_edges(2, edges, maximum_cycle_ratio(2, edges)) == set(loops)
