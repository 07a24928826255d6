"""Static port models: uops spread evenly over their ports, and spread optimally.

Static models know only which ports a uop may use. Evenly: every uop loads each of its ports equally (the
first version of OSACA). Optimally: the shares that minimise the load of the busiest port, then of the next,
and so on; this is the linear program of the uops.info paper, solved over all unions of port sets. Time that
the simulation needs beyond that is lost to binding ports at issue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from cyclelens.analyzer.model.result import Prediction
from msgspec import Struct

Ports = frozenset[str]


class StaticPorts(Struct, frozen=True):
    """Uops per iteration by port, in both models."""

    even: Mapping[str, float]
    best: Mapping[str, float]


def static_ports(prediction: Prediction) -> StaticPorts:
    """Both static models of a block; an eliminable move counts as often as it was executed."""
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
    """Loads of the ports if every uop loads each of its ports equally."""
    load: defaultdict[str, Fraction] = defaultdict(Fraction)
    for ports, count in uops.items():
        for port in ports:
            load[port] += count / len(ports)
    return dict(load)


def spread_at_best(uops: Mapping[Ports, Fraction]) -> dict[str, Fraction]:
    """Loads of the ports with the smallest maximum, then the smallest second largest, and so on.

    The tightest set of ports has the most uops per port that can use no other port; each of its ports gets
    exactly that load. The remaining ports and uops are solved the same way.
    """
    load: dict[str, Fraction] = {}
    left = dict(uops)
    while left:
        ratio, tightest = max(
            ((_inside(left, ports) / len(ports), ports) for ports in _unions(left)),
            # Of equally tight sets, the largest contains the others.
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
