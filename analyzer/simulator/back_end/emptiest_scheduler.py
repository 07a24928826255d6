"""A uop enters the emptiest of the schedulers that feed its units (M9). Variants show how much a figure
depends on this rule (P5)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.chance import Chance
from cyclelens.analyzer.simulator.back_end.scheduler_choice import SchedulerChoice
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, RS_FULL, SCHEDULERS, UNKNOWN
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.queues import Queues

_UNBOUNDED = 1 << 20
_IMBALANCE = 3
_ADDRESSES, _INTEGERS, _OTHERS, _KINDS = 0, 1, 2, 3
"""Kinds of uops, by the units that they need."""


class EmptiestScheduler(SchedulerChoice):
    """The schedulers as dispatch sees them."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, in_flight: InFlight
    ) -> None:
        super().__init__()
        self._columns = columns
        self._issued = queues.issued
        self._entries = queues.rob
        self._flight = in_flight
        units = microarchitecture.units
        sizes = microarchitecture.scheduler_sizes
        self._names: tuple[str, ...] = tuple([each.buffer for each in microarchitecture.schedulers])
        self._count = len(sizes)
        self._turns = ints(_KINDS)
        """The scheduler that is next if equally few uops of a kind wait in several."""
        self._sizes = ints(len(sizes))
        self._feeds = ints(len(sizes))
        """Mask of the units that each scheduler feeds."""
        for number, size in enumerate(sizes):
            self._sizes[number] = size
        for number, scheduler in enumerate(microarchitecture.scheduler_of_units):
            self._feeds[scheduler] |= 1 << number
        self._vector_units: int = 0
        for role in (Role.VECTOR, Role.TRANSFER, Role.FROM_INTEGER):
            self._vector_units |= units.having(role).mask
        self._address_units: int = units.having(Role.LOAD).mask | units.having(Role.STORE_ADDRESS).mask
        self._alus = units.having(Role.ALU).mask

    def start(self) -> None:
        """Reset: all schedulers are empty."""
        for kind in range(_KINDS):
            self._turns[kind] = 0

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        for kind in range(_KINDS):
            state.add(self._turns[kind] % self._count)

    def buffers(self) -> tuple[Buffer, ...]:
        """All schedulers."""
        return tuple(
            [Buffer(name, size, size - 1) for name, size in zip(self._names, self._sizes, strict=True)]
        )

    def have_room(self, mask: int, uops: int) -> bool:
        """Whether a scheduler that feeds some of these units has room for this many uops."""
        return self._choose(mask, uops) != NONE

    def enter(self, uop: int, mask: int) -> None:
        """Put a renamed uop that needs one of these units into a scheduler."""
        flight = self._flight
        scheduler = self._choose(mask, 0)
        if scheduler == NONE:
            # A microcoded instruction may need more room than there is.
            scheduler = self._choose(mask, -_UNBOUNDED)
        self._turns[self._kind(mask)] = scheduler + 1
        flight.waiting[scheduler] += 1
        if mask & self._address_units:
            flight.addresses[scheduler] += 1
        flight.u_scheduler[uop & flight.uop_mask] = scheduler
        flight.u_units[uop & flight.uop_mask] = mask & self._feeds[scheduler]
        if mask & self._vector_units:
            flight.vectors.push(uop, 0)

    def refuse(self, cycle: int, mask: int) -> None:
        """Record that slots stay empty because the schedulers of these units are full. The scheduler with
        the oldest uop gets the blame."""
        uop = self._oldest_waiting(mask)
        which = self._flight.u_scheduler[uop & self._flight.uop_mask]
        self._columns.refuse(cycle, RS_FULL + SCHEDULERS * (1 + which), uop)

    def _oldest_waiting(self, mask: int) -> int:
        """The oldest uop in the schedulers that feed these units."""
        columns = self._columns
        entries = self._entries
        flight = self._flight
        for place in range(entries.count):
            position = (entries.head + place) & entries.mask
            first = entries.firsts[position]
            for uop in range(first, first + entries.seconds[position]):
                if (
                    columns.dispatched[uop] == UNKNOWN
                    and columns.needs_unit(uop)
                    and self._feeds[flight.u_scheduler[uop & flight.uop_mask]] & mask
                ):
                    return uop
        # All of them were dispatched in this cycle.
        return self._issued.firsts[self._issued.head]

    def _choose(self, mask: int, room: int) -> int:
        """Of the schedulers that feed these units and have this much room, the one with the fewest waiting
        uops of the same kind (addresses, or all others); NONE if no scheduler has room."""
        best = fewest = NONE
        flight = self._flight
        turn = self._turns[self._kind(mask)]
        for step in range(self._count):
            scheduler = (turn + step) % self._count
            if self._feeds[scheduler] & mask and flight.waiting[scheduler] + room <= self._sizes[scheduler]:
                waiting = self._waiting(scheduler, mask)
                if best == NONE or waiting < fewest:
                    best, fewest = scheduler, waiting
        return best

    def _waiting(self, scheduler: int, mask: int) -> int:
        """Number of waiting uops of the kind that needs these units."""
        addresses = self._flight.addresses[scheduler]
        if mask & self._address_units:
            return addresses
        return self._flight.waiting[scheduler] - addresses

    def _kind(self, mask: int) -> int:
        if mask & self._address_units:
            return _ADDRESSES
        return _INTEGERS if mask & self._alus else _OTHERS


class FirstScheduler(EmptiestScheduler):
    """Variant: schedulers with equally few uops do not alternate; the first one is taken."""

    def enter(self, uop: int, mask: int) -> None:
        """Put a renamed uop that needs one of these units into a scheduler."""
        EmptiestScheduler.enter(self, uop, mask)
        self._turns[self._kind(mask)] = 0


class AnyScheduler(EmptiestScheduler):
    """Variant: uops enter the emptiest scheduler and may leave for any unit that can execute them, even if
    another scheduler feeds it. An upper limit of what better choices could gain."""

    def enter(self, uop: int, mask: int) -> None:
        """Put a renamed uop that needs one of these units into a scheduler."""
        EmptiestScheduler.enter(self, uop, mask)
        self._flight.u_units[uop & self._flight.uop_mask] = mask


class ChanceScheduler(EmptiestScheduler):
    """Variant: chooses at random among the schedulers that feed its units and hold less than three uops of
    its kind more than the emptiest one."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        in_flight: InFlight,
        seed: int,
    ) -> None:
        super().__init__(columns, microarchitecture, queues, in_flight)
        self._chance = Chance(seed)
        self._enters = False

    def start(self) -> None:
        """Reset: all schedulers are empty."""
        EmptiestScheduler.start(self)
        self._chance.start()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        EmptiestScheduler.record(self, state)
        state.add(self._chance.state)

    def enter(self, uop: int, mask: int) -> None:
        """Put a renamed uop that needs one of these units into a scheduler."""
        self._enters = True
        EmptiestScheduler.enter(self, uop, mask)
        self._enters = False

    def _choose(self, mask: int, room: int) -> int:
        emptiest: int = EmptiestScheduler._choose(self, mask, room)
        if emptiest == NONE or not self._enters:
            return emptiest
        near = 0
        most = self._waiting(emptiest, mask) + _IMBALANCE
        for scheduler in range(self._count):
            if (
                self._feeds[scheduler] & mask
                and self._flight.waiting[scheduler] + room <= self._sizes[scheduler]
                and self._waiting(scheduler, mask) < most
            ):
                near |= 1 << scheduler
        return self._chance.one_of(near)
