"""Port assignment: every uop is bound to a port when it issues (uiCA model, 3.11.1).

All uops of a cycle are bound with the same snapshot of how many uops every port has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from cyclelens.analyzer.model.microarchitecture import Microarchitecture, PortPolicy
from cyclelens.analyzer.simulator.columns import ELIMINATED, Columns
from cyclelens.analyzer.simulator.queues import IssueGroup

_LOADS = (2, 3)
_STORE_DATA = (4, 9)
_STORE_ADDRESSES = (7, 8)
_IMBALANCE = 3
_IMBALANCE_TEN = 5


class PortAssignment(ABC):
    """Keeps the usage counters; a policy chooses the port."""

    def __init__(self, columns: Columns, issue: IssueGroup, usage: list[int]) -> None:
        self._columns = columns
        self._program = columns.program
        self._issue = issue
        self.usage = usage
        """Uops bound to each port and not yet gone; the scheduler counts them down."""
        self._toggles = {_LOADS: 0, _STORE_DATA: 0, _STORE_ADDRESSES: 0}

    def tick(self) -> None:
        """Bind the issue group."""
        columns = self._columns
        program = self._program
        bound: list[int] = []
        for slot, (first, count) in enumerate(self._issue.fused):
            for uop in range(first, first + count):
                ports = program.u_ports[columns.static[uop]]
                if not ports or columns.port[uop] == ELIMINATED:
                    continue
                port = ports[0] if len(ports) == 1 else self._choose(ports, slot)
                columns.port[uop] = port
                bound.append(port)
        self._snapshot()
        for port in bound:
            self.usage[port] += 1

    def _snapshot(self) -> None:  # noqa: B027 - most policies keep no older counters
        """The cycle's bindings are made, the counters not yet changed."""

    @abstractmethod
    def _choose(self, ports: tuple[int, ...], slot: int) -> int:
        """The port for a uop with several allowed ports in this issue slot."""

    def _toggle(self, ports: tuple[int, ...]) -> int:
        turn = self._toggles[ports]
        self._toggles[ports] = turn ^ 1
        return ports[turn]


class SixPorts(PortAssignment):
    """Sandy Bridge, Ivy Bridge."""

    _BY_SLOT: ClassVar = {0: (0, 5, 1, 0), 1: (1, 5, 0, 1), 5: (5, 1, 0, 5)}

    def _choose(self, ports: tuple[int, ...], slot: int) -> int:
        if ports == _LOADS:
            return self._toggle(ports)
        usage = self.usage
        least = min(ports, key=lambda p: (usage[p], p))
        most = max(ports, key=lambda p: (usage[p], p))
        if usage[most] - usage[least] >= _IMBALANCE:
            return least
        if ports == (0, 1, 5):
            return self._BY_SLOT[least][slot]
        return least if slot % 2 == 0 else most


class EightPorts(PortAssignment):
    """Haswell to Cascade Lake."""

    def _choose(self, ports: tuple[int, ...], slot: int) -> int:
        if ports == _LOADS:
            return self._toggle(ports)
        usage = self.usage
        first = min(ports, key=lambda p: (usage[p], -p))
        if slot % 2 == 0:
            return first
        second = min((p for p in ports if p != first), key=lambda p: (usage[p], -p))
        return first if usage[second] >= usage[first] + _IMBALANCE else second


class TenPorts(PortAssignment):
    """Ice Lake to Rocket Lake: binds with the snapshot of the cycle before."""

    def __init__(self, columns: Columns, issue: IssueGroup, usage: list[int]) -> None:
        super().__init__(columns, issue, usage)
        self._previous = list(usage)
        self._same_set: dict[tuple[int, ...], int] = {}

    def _snapshot(self) -> None:
        self._previous[:] = self.usage
        self._same_set.clear()

    def _choose(self, ports: tuple[int, ...], slot: int) -> int:
        earlier = self._same_set.get(ports, 0)
        self._same_set[ports] = earlier + 1
        if ports in self._toggles:
            return self._toggle(ports)
        usage = self._previous
        ranked = sorted(ports, key=lambda p: (usage[p], -p))
        limit = usage[ranked[0]] + _IMBALANCE_TEN
        ranked = [p for p in ranked if usage[p] < limit]
        if slot == 4:
            return ranked[0]
        if slot == 3 and earlier == 0 and len(ranked) > 1:
            return ranked[1]
        return ranked[earlier % len(ranked)]


_POLICIES: dict[PortPolicy, type[PortAssignment]] = {
    PortPolicy.SIX_PORTS: SixPorts,
    PortPolicy.EIGHT_PORTS: EightPorts,
    PortPolicy.TEN_PORTS: TenPorts,
}


def port_assignment(
    columns: Columns, microarchitecture: Microarchitecture, issue: IssueGroup, usage: list[int]
) -> PortAssignment:
    """The policy of the microarchitecture."""
    return _POLICIES[microarchitecture.port_policy](columns, issue, usage)
