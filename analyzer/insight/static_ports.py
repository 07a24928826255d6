"""How busy the ports would be without a scheduler's luck: uops spread evenly, and spread at best.

Static models know which ports a uop may use and nothing else. Evenly: every uop gives each of its ports the
same share (the first version of OSACA). At best: the shares that make the busiest port least busy, and then
the next busiest, and so on; its figure is the linear program of the uops.info paper, solved by looking at all
unions of port sets. What the simulation needs beyond that is lost to the binding of ports at issue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.model.result import Prediction

Ports = frozenset[str]


@dataclass(frozen=True, slots=True)
class StaticPorts:
    """Uops per iteration by port."""

    even: Mapping[str, float]
    best: Mapping[str, float]

    @property
    def even_cycles(self) -> float:
        """Cycles per iteration that the busiest port needs."""
        return max(self.even.values(), default=0.0)

    @property
    def best_cycles(self) -> float:
        """Cycles per iteration that the busiest port needs."""
        return max(self.best.values(), default=0.0)


def static_ports(prediction: Prediction) -> StaticPorts:
    """Both static models of a block; moves count as often as they were not eliminated."""
    uops: defaultdict[Ports, Fraction] = defaultdict(Fraction)
    for template, share in zip(prediction.instructions, prediction.simulation.elimination, strict=True):
        if not template.fused_with_previous:
            for use in template.uses:
                uops[frozenset(use.units.names)] += use.uops * Fraction(share).limit_denominator(10_000)
    present = {ports: count for ports, count in uops.items() if ports and count}
    return StaticPorts(_sorted(spread_evenly(present)), _sorted(spread_at_best(present)))


def _sorted(figures: Mapping[str, Fraction]) -> dict[str, float]:
    return {port: float(uops) for port, uops in sorted(figures.items())}


def spread_evenly(uops: Mapping[Ports, Fraction]) -> dict[str, Fraction]:
    """Every uop gives each of its ports the same share."""
    load: defaultdict[str, Fraction] = defaultdict(Fraction)
    for ports, count in uops.items():
        for port in ports:
            load[port] += count / len(ports)
    return dict(load)


def spread_at_best(uops: Mapping[Ports, Fraction]) -> dict[str, Fraction]:
    """The loads whose largest is least, whose second largest is then least, and so on.

    The set of ports that is tightest, by the uops that can go nowhere else over its size, is busy to exactly
    that degree; without it and its uops the same holds for the rest.
    """
    load: dict[str, Fraction] = {}
    left = dict(uops)
    while left:
        ratio, tightest = max(
            ((_inside(left, ports) / len(ports), ports) for ports in _unions(left)),
            # Of equally tight sets the largest: it holds the others.
            key=lambda item: (item[0], len(item[1])),
        )
        load |= dict.fromkeys(tightest, ratio)
        rest: defaultdict[Ports, Fraction] = defaultdict(Fraction)
        for ports, count in left.items():
            if not ports <= tightest:
                rest[ports - tightest] += count
        left = dict(rest)
    return load


def _inside(uops: Mapping[Ports, Fraction], union: Ports) -> Fraction:
    return sum((count for ports, count in uops.items() if ports <= union), Fraction(0))


def _unions(uops: Mapping[Ports, Fraction]) -> Iterator[Ports]:
    """All unions of port sets that occur."""
    unions: set[Ports] = set()
    for ports in uops:
        unions |= {ports | union for union in unions} | {ports}
    yield from sorted(unions, key=sorted)
