"""Dominators and loops of a flow graph. Nodes are integers with no meaning here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct, field

Successors = Sequence[Sequence[int]]
"""Possible next nodes of each node."""


class Cycle(Struct):
    """A loop: a header node, the edges back to it, and all nodes that reach these edges."""

    header: int
    nodes: list[int] = field(default_factory=list)
    """Nodes of this loop but not of an inner one; the header comes first."""
    inner: list[Cycle] = field(default_factory=list)
    """Loops directly inside this one."""

    def body(self) -> list[int]:
        """All nodes, those of inner loops included."""
        found, left = [], [self]
        while left:
            loop = left.pop()
            found += loop.nodes
            left += loop.inner
        return found


def reached(successors: Successors, entries: Iterable[int], known: set[int]) -> None:
    """Add every node reachable from ``entries`` to ``known``."""
    left = [node for node in entries if node not in known]
    known.update(left)
    while left:
        for node in successors[left.pop()]:
            if node not in known:
                known.add(node)
                left.append(node)


def immediate_dominators(successors: Successors, entries: Iterable[int]) -> list[int | None]:
    """Immediate dominator of each node: -1 if only the entries dominate it, None if it is unreachable.

    Lengauer and Tarjan's algorithm, in O(edges · log nodes). The entries are the successors of a virtual
    root, which has number 0 in the depth-first order.
    """
    order, parent = [-1], [0]
    number: dict[int, int] = {}
    before: list[list[int]] = [[]]
    left = [(0, node) for node in entries][::-1]
    while left:
        above, node = left.pop()
        at = number.get(node)
        if at is None:
            at = number[node] = len(order)
            order.append(node)
            parent.append(above)
            before.append([])
            left += [(at, following) for following in successors[node]]
        before[at].append(above)
    semi = list(range(len(order)))
    label, ancestor = semi.copy(), [-1] * len(order)
    buckets: list[list[int]] = [[] for _ in order]
    dominator = [0] * len(order)

    def least(at: int) -> int:
        """Node with the smallest semidominator on the path to the root; compresses the path."""
        path = []
        while ancestor[ancestor[at]] >= 0:
            path.append(at)
            at = ancestor[at]
        for lower in reversed(path):
            upper = ancestor[lower]
            if semi[label[upper]] < semi[label[lower]]:
                label[lower] = label[upper]
            ancestor[lower] = ancestor[upper]
        return label[path[0] if path else at]

    for at in range(len(order) - 1, 0, -1):
        for other in before[at]:
            lowest = other if ancestor[other] < 0 else least(other)
            semi[at] = min(semi[at], semi[lowest])
        buckets[semi[at]].append(at)
        above = ancestor[at] = parent[at]
        for other in buckets[above]:
            lowest = least(other)
            dominator[other] = lowest if semi[lowest] < semi[other] else above
        buckets[above] = []
    result: list[int | None] = [None] * len(successors)
    for at in range(1, len(order)):
        if dominator[at] != semi[at]:
            dominator[at] = dominator[dominator[at]]
        result[order[at]] = order[dominator[at]]
    return result


def find_cycles(
    successors: Successors, entries: Iterable[int], certain: Successors | None = None
) -> list[Cycle]:
    """All natural loops, inner ones before outer ones. Back edges to the same header make one loop.

    If ``certain`` edges are given, their rings come first: cycles through consecutive nodes and back to the
    first, which may be entered anywhere.
    """
    dominators = immediate_dominators(successors, entries)
    first, last = _intervals(dominators)
    before: list[list[int]] = [[] for _ in successors]
    sources: dict[int, list[int]] = {}
    for node, following in enumerate(successors):
        for target in following if dominators[node] is not None else ():
            before[target].append(node)
            if first[target] <= first[node] <= last[target]:
                sources.setdefault(target, []).append(node)
    loops: dict[int, Cycle] = {}
    outermost = list(range(len(successors)))
    """Header of the largest loop so far that contains a node, by way of others; otherwise the node itself."""
    entries_of: dict[int, Sequence[int]] = {}
    """Entry nodes of each loop, by header."""

    def header_of(node: int) -> int:
        top = node
        while outermost[top] != top:
            top = outermost[top]
        while outermost[node] != top:
            outermost[node], node = top, outermost[node]
        return top

    def add(loop: Cycle, nodes: Iterable[int], entered: Sequence[int]) -> None:
        loops[loop.header], entries_of[loop.header] = loop, entered
        for node in nodes:
            outermost[node] = loop.header

    for ring in _rings([] if certain is None else certain, dominators, sources):
        add(Cycle(ring[0], list(ring)), ring, ring)
    for header in sorted(sources, key=lambda node: -first[node]):
        loop = Cycle(header, [header])
        left, seen = sources[header], {header}
        while left:
            node = header_of(left.pop())
            if node in seen:
                continue
            seen.add(node)
            if node in loops:
                loop.inner.append(loops[node])
            else:
                loop.nodes.append(node)
            left += (other for entry in entries_of.get(node, [node]) for other in before[entry])
        add(loop, seen, [header])
    return list(loops.values())


def _rings(
    edges: Successors, dominators: Sequence[int | None], sources: Mapping[int, Sequence[int]]
) -> Iterator[range]:
    """Consecutive nodes of which each leads to the next, the last to the first, and none to another one of
    them; rings that share nodes, and rings with the header of a natural loop, are left out. ``sources``:
    sources of the back edges, by header."""
    ahead = [len(edges)] * (len(edges) + 1)
    """Lowest target of a jump over other nodes, from this node or a later one."""
    for node in range(len(edges) - 1, -1, -1):
        ahead[node] = min([ahead[node + 1], *(target for target in edges[node] if target > node + 1)])
    found: list[range] = []
    changes = [0] * (len(edges) + 1)
    """Where the number of rings that share a node changes, and by how many."""
    lowest = 0
    """A ring that ends here cannot begin before this node."""
    for node, following in enumerate(edges):
        target = max((target for target in following if target <= node), default=-1)
        if (
            lowest <= target
            and following.count(target) == 1
            and ahead[target] > node
            and dominators[node] is not None
        ):
            found.append(range(target, node + 1))
            changes[target] += 1
            changes[node + 1] -= 1
        lowest = max(lowest, target + 1, node + 1 if following.count(node + 1) != 1 else 0)
    shared = list(accumulate(changes))
    for ring in found:
        if all(shared[node] == 1 and node not in sources for node in ring):
            yield ring


def _intervals(dominators: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """Preorder intervals of the dominator tree: a node dominates those numbered from its first to its
    last."""
    below: dict[int, list[int]] = {}
    for node, dominator in enumerate(dominators):
        if dominator is not None:
            below.setdefault(dominator, []).append(node)
    first, last = [-1] * len(dominators), [-1] * len(dominators)
    count, order = 0, []
    left = below.get(-1, [])
    while left:
        node = left.pop()
        first[node] = last[node] = count
        count += 1
        order.append(node)
        left += below.get(node, ())
    for node in reversed(order):
        dominator = dominators[node]
        if dominator is not None and dominator >= 0:
            last[dominator] = max(last[dominator], last[node])
    return first, last
