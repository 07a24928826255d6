"""The maximum cycle ratio against the enumeration of all simple cycles."""

from fractions import Fraction

from cyclelens.analyzer.bounds.cycle_ratio import Edge, maximum_cycle_ratio
from hypothesis import given
from hypothesis import strategies as st


def enumerated(nodes, edges):
    """Largest ratio of all simple cycles."""
    best = Fraction(0)

    def walk(start, node, seen, latency, delay):
        nonlocal best
        for edge in edges:
            if edge.start != node:
                continue
            if edge.end == start:
                best = max(best, Fraction(latency + edge.latency, delay + edge.delay))
            elif edge.end not in seen and edge.end > start:
                walk(start, edge.end, seen | {edge.end}, latency + edge.latency, delay + edge.delay)

    for start in range(nodes):
        walk(start, start, {start}, 0, 0)
    return best


@st.composite
def graphs(draw):
    """Delays as in a program: none only from an earlier to a later node."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    ends = draw(st.lists(st.tuples(node, node, st.integers(0, 20), st.integers(0, 1)), max_size=14))
    return nodes, [Edge(a, b, lat, delay if a < b else 1) for a, b, lat, delay in ends]


@given(graphs())
def test_ratio_is_that_of_the_best_simple_cycle(graph):
    assert maximum_cycle_ratio(*graph).ratio == enumerated(*graph)


@given(graphs())
def test_the_returned_cycle_is_closed_and_has_the_ratio(graph):
    result = maximum_cycle_ratio(*graph)
    if not result.edges:
        assert result.ratio == 0
        return
    for edge, following in zip(result.edges, result.edges[1:] + result.edges[:1], strict=True):
        assert edge.end == following.start
    latency = sum(edge.latency for edge in result.edges)
    assert result.ratio == Fraction(latency, sum(edge.delay for edge in result.edges))


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
