"""Port assignment: every uop is bound to a port when it issues (uiCA model, 3.11.1).

All uops of a cycle are bound with the same snapshot of how many uops every port has.
"""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture, PortPolicy
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.units import MOST_UNITS, Role
from cyclelens.analyzer.simulator.tables.arrays import Long, Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import ELIMINATED, NONE
from cyclelens.analyzer.simulator.tables.queues import Queues

_IMBALANCE = 3
_IMBALANCE_TEN = 5
_MODULUS = 1 << 31
_MULTIPLIER = 1103515245
_INCREMENT = 12345
_USED_BITS = 15
_WIDEST = {
    PortPolicy.SIX_PORTS: 4,
    PortPolicy.EIGHT_PORTS: 8,
    PortPolicy.TEN_PORTS: 8,
    PortPolicy.LEAST_USED: 64,
}
"""Issue slots for which the rules say something."""
_POLICY_NUMBERS = {
    PortPolicy.SIX_PORTS: 6,
    PortPolicy.EIGHT_PORTS: 8,
    PortPolicy.TEN_PORTS: 10,
    PortPolicy.LEAST_USED: 0,
}


class PortAssignment:
    """Keeps the usage counters and chooses ports by the policy of the microarchitecture."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, options: ModelOptions
    ) -> None:
        widest = _WIDEST[microarchitecture.port_policy]
        if microarchitecture.issue_width > widest:
            raise ValueError(f"{microarchitecture.name}: at most {widest} uops a cycle can be bound to ports")
        self._columns = columns
        self._program = columns.program
        self._issued = queues.issued
        units = microarchitecture.units
        self._ports = len(units)
        self._alus = units.having(Role.ALU).mask
        self._loads = units.having(Role.LOAD).mask
        self._store_addresses = units.having(Role.STORE_ADDRESS).mask
        self._store_data = units.having(Role.STORE_DATA).mask
        self._policy: int = _POLICY_NUMBERS[microarchitecture.port_policy]
        self._random = options.port_seed is not None
        self._seed: Long = (options.port_seed or 0) & (_MODULUS - 1)
        self.usage = ints(MOST_UNITS)
        """Uops bound to each port and not yet gone; the scheduler counts them down."""
        self.snapshot = ints(MOST_UNITS)
        """The counters that this cycle's bindings see: its own, or with ten ports the cycle's before."""
        self.previous = ints(MOST_UNITS)
        self._ranked = ints(MOST_UNITS)
        self._sets = ints(64)
        self._by_slot = ints(4 * self._ports)
        """With six ports: by the least used ALU and the issue slot which of the three ALUs is taken."""
        if self._policy == 6:
            alus = set(units.numbers(units.having(Role.ALU)))
            for least in alus:
                others = alus - {least}
                for slot, choice in enumerate((least, max(others), min(others), least)):
                    self._by_slot[4 * least + slot] = choice

    def start(self) -> None:
        """No uop is bound."""
        self.state: Long = self._seed
        """Of the random numbers: a linear congruential generator, constants of the C standard's example."""
        for port in range(MOST_UNITS):
            self.usage[port] = 0
            self.previous[port] = 0
        self.toggles = 0
        """Bits of the port sets whose next uop takes the second port."""

    def tick(self) -> None:
        """Bind the issue group."""
        columns = self._columns
        program = self._program
        if self._policy == 10:
            for port in range(self._ports):
                self.snapshot[port] = self.previous[port]
                self.previous[port] = self.usage[port]
        elif self._issued.count > 0:
            for port in range(self._ports):
                self.snapshot[port] = self.usage[port]
        self._sets_count = 0
        for slot in range(self._issued.count):
            first = self._issued.firsts[slot]
            for uop in range(first, first + self._issued.seconds[slot]):
                ports = program.u_port_mask[columns.static[uop]]
                if ports == 0 or columns.port[uop] == ELIMINATED:
                    continue
                port = self._choose(ports, slot)
                columns.port[uop] = port
                self.usage[port] += 1

    def settled(self) -> bool:
        """A cycle without uops changes nothing in it."""
        if self._policy == 10:
            for port in range(self._ports):
                if self.previous[port] != self.usage[port]:
                    return False
        return True

    def usage_digest(self) -> int:
        """The usage counters as one number that differs where they are likely to."""
        digest = 0
        for port in range(self._ports):
            digest = (digest * 31 + self.usage[port]) & 0xFFFFFF
        return digest

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        state.add(self.toggles)
        for port in range(self._ports):
            state.add(self.usage[port])
            state.add(self.previous[port])

    def _choose(self, ports: int, slot: int) -> int:
        """The port for a uop with these allowed ports in this issue slot."""
        if ports & (ports - 1) == 0:
            return self._only(ports)
        if self._random:
            return self._any(ports)
        if self._policy == 0:
            return self._emptiest(ports)
        if self._policy == 10:
            return self._choose_of_ten(ports, slot)
        if ports == self._loads:
            return self._toggle(ports)
        if self._policy == 8:
            first = self._least_used(ports, True)
            if slot % 2 == 0:
                return first
            second = self._least_used(ports & ~(1 << first), True)
            if self.snapshot[second] >= self.snapshot[first] + _IMBALANCE:
                return first
            return second
        least = self._least_used(ports, False)
        most = self._most_used(ports)
        if self.snapshot[most] - self.snapshot[least] >= _IMBALANCE:
            return least
        if ports == self._alus:
            return self._by_slot[4 * least + slot]
        return least if slot % 2 == 0 else most

    def _emptiest(self, ports: int) -> int:
        """The port that the fewest uops wait for, those of this cycle included; ties to the lowest."""
        best = NONE
        for port in range(self._ports):
            if ports >> port & 1 and (best == NONE or self.usage[port] < self.usage[best]):
                best = port
        return best

    def _any(self, ports: int) -> int:
        """Every allowed port with the same chance."""
        count = 0
        for port in range(MOST_UNITS):
            count += ports >> port & 1
        self.state = (self.state * _MULTIPLIER + _INCREMENT) & (_MODULUS - 1)
        # The low bits of such a generator are hardly random.
        left = (self.state >> _USED_BITS) % count
        for port in range(MOST_UNITS):
            if ports >> port & 1:
                if left == 0:
                    return port
                left -= 1
        return NONE

    def _least_used(self, ports: int, ties_to_highest: bool) -> int:
        best = NONE
        for port in range(self._ports):
            if not ports >> port & 1:
                continue
            if (
                best == NONE
                or self.snapshot[port] < self.snapshot[best]
                or (ties_to_highest and self.snapshot[port] == self.snapshot[best])
            ):
                best = port
        return best

    def _most_used(self, ports: int) -> int:
        """The most used port, ties to the highest."""
        best = NONE
        for port in range(self._ports):
            if ports >> port & 1 and (best == NONE or self.snapshot[port] >= self.snapshot[best]):
                best = port
        return best

    def _toggle(self, ports: int) -> int:
        """One of two ports and the other in turn."""
        self.toggles ^= ports
        low = ports & -ports
        chosen = low if self.toggles & low else ports ^ low
        return self._only(chosen)

    def _only(self, ports: int) -> int:
        """The number of a single port."""
        number = 0
        while not ports >> number & 1:
            number += 1
        return number

    def _choose_of_ten(self, ports: int, slot: int) -> int:
        earlier = 0
        for position in range(self._sets_count):
            if self._sets[position] == ports:
                earlier += 1
        if self._sets_count < len(self._sets):
            self._sets[self._sets_count] = ports
            self._sets_count += 1
        if ports == self._loads or ports == self._store_data or ports == self._store_addresses:
            return self._toggle(ports)
        # The allowed ports by usage, higher numbers first, without those that are far behind.
        count = 0
        left = ports
        while left:
            port = self._least_used(left, True)
            if count > 0 and self.snapshot[port] >= self.snapshot[self._ranked[0]] + _IMBALANCE_TEN:
                break
            self._ranked[count] = port
            count += 1
            left &= ~(1 << port)
        if slot == 4:
            return self._ranked[0]
        if slot == 3 and earlier == 0 and count > 1:
            return self._ranked[1]
        return self._ranked[earlier % count]
