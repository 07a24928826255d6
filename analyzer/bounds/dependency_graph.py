"""The dependency graph of a block, and its critical cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from cyclelens.analyzer.bounds.cycle_ratio import CriticalCycle, Edge, cover, critical_edges
from msgspec import Struct

MOST_CHAINS = 16
"""Most chains that are listed. There can be exponentially many; all their edges are marked as critical."""


class ChainLink(Struct, frozen=True):
    """An instruction of a chain, and the value that it passes on."""

    instruction: int
    """Index in the block."""
    latency: int
    """Cycles from the input on the chain to this value."""
    value: str
    """The reader's name for it: ``ymm0``, ``C``, ``memory``."""


class CriticalChains(Struct, frozen=True):
    """The dependency cycles of largest latency per iteration."""

    cycles_per_iteration: Fraction
    """0 if no dependency is carried to the next iteration."""
    chains: tuple[tuple[ChainLink, ...], ...]
    """Chains in the order of their cycles; an instruction may occur more than once. Each has a step
    that no earlier chain has."""
    iterations: tuple[int, ...]
    """Iterations that each chain spans before it repeats."""
    edges: frozenset[Edge]
    """Edges of all critical cycles, listed or not."""
    cycles: Mapping[int, int]
    """Instruction on a critical chain -> the most cycles that it adds to one."""
    more: bool
    """True if critical cycles with other steps exist beyond ``chains``."""


class InputNode(Struct, frozen=True):
    """One input operand of an instruction: a node of the graph."""

    number: int
    instruction: int
    kind: str
    """``reg addr flag mem``, the first part of a latency-pair key."""
    position: int
    register: str | None
    """Canonical register or flag group that it reads; None for memory."""
    name: str
    """The instruction's own name for it."""
    moves_rsp: bool
    """True for RSP itself, not through the stack engine."""

    @property
    def value(self) -> str:
        """Canonical register or flag group that is read, or ``memory``."""
        return self.register or self.name


class DependencyGraph(Struct, frozen=True):
    """All dependencies of a block that the bound considers."""

    nodes: tuple[InputNode, ...]
    edges: tuple[Edge, ...]
    """From an input of the producer to the input that reads the value; node numbers."""
    cycle: CriticalCycle
    """A critical cycle."""

    def step(self, edge: Edge) -> ChainLink:
        """An edge as a step of a chain."""
        return ChainLink(self.nodes[edge.start].instruction, edge.latency, self.nodes[edge.end].name)

    def critical(self) -> CriticalChains:
        """All critical cycles."""

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
