"""The dependencies between a block's instructions as a graph, and the circles in it that take longest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from cyclelens.analyzer.bounds.cycle_ratio import CriticalCycle, Edge, cover, critical_edges
from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple

MOST_CHAINS = 16
"""Chains that are listed. There can be exponentially many; the edges of all are marked as critical."""


class ChainLink(NamedTuple):
    """An instruction of a chain, and the value that it hands on."""

    instruction: int
    """Position in the block."""
    latency: int
    """Cycles from the input by which the chain comes in to this value."""
    value: str
    """As its reader calls it: ``ymm0``, ``C``, ``memory``."""


@dataclass(frozen=True, slots=True)
class CriticalChains:
    """The dependency circles that take longest."""

    cycles_per_iteration: Fraction
    """0 if no dependency is carried from one iteration to the next."""
    chains: tuple[tuple[ChainLink, ...], ...]
    """Each in the order of the circle; an instruction may occur more than once. Every one has a step that no
    other before it has."""
    iterations: tuple[int, ...]
    """For every chain how many iterations it spans until it is back where it began."""
    edges: frozenset[Edge]
    """Of all such circles, listed or not."""
    cycles: Mapping[int, int]
    """For every instruction on any of them the cycles that it adds to the one to which it adds most."""
    more: bool
    """There are others than ``chains``, which have steps of their own."""


class Input(NamedTuple):
    """One input operand of an instruction: a node of the graph."""

    number: int
    instruction: int
    kind: str
    """``reg addr flag mem``, the first part of the key of a latency pair."""
    position: int
    register: str | None = None
    """Register or flag group that it reads, as the renamer knows it; None for memory."""
    name: str = "memory"
    """The same as the instruction names it."""
    moves_rsp: bool = False
    """It is RSP itself, not through the stack engine."""

    @property
    def value(self) -> str:
        """Register or flag group that is read, as the renamer knows it; ``memory``."""
        return self.register or self.name


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """All dependencies of a block, as the bound sees them."""

    nodes: tuple[Input, ...]
    edges: tuple[Edge, ...]
    """From an input of the instruction that makes a value to the input that reads it; numbers of nodes."""
    cycle: CriticalCycle
    """The circle that takes longest, or one of them."""

    def step(self, edge: Edge) -> ChainLink:
        """An edge as a step of a chain."""
        return ChainLink(self.nodes[edge.start].instruction, edge.latency, self.nodes[edge.end].name)

    def critical(self) -> CriticalChains:
        """All circles that take as long as the longest."""

        def key(edge: Edge) -> tuple[ChainLink, int, bool]:
            return self.step(edge), self.nodes[edge.end].instruction, edge.delay > 0

        critical = critical_edges(len(self.nodes), self.edges, self.cycle)
        listed = list(cover(sorted(critical), self.cycle.edges, MOST_CHAINS, key))
        shown = {key(edge) for chain in listed for edge in chain}
        others = [edge for edge in critical if key(edge) not in shown]
        cycles: defaultdict[int, int] = defaultdict(int)
        for chain in (*listed, *([edge] for edge in others)):
            own: defaultdict[int, int] = defaultdict(int)
            for edge in chain:
                own[self.nodes[edge.start].instruction] += edge.latency
            for instruction, latency in own.items():
                cycles[instruction] = max(cycles[instruction], latency)
        return CriticalChains(
            self.cycle.ratio,
            tuple(tuple(map(self.step, chain)) for chain in listed),
            tuple(sum(edge.delay for edge in chain) for chain in listed),
            critical,
            dict(sorted(cycles.items())),
            bool(others),
        )
