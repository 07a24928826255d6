"""Uops and stores in flight on a core that picks by age, shared by renamer and scheduler: rings, indexed by
the low bits of a uop's or store's number."""

from __future__ import annotations

from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import PairQueue, Record, ints

_UOPS = 1 << 14
_STORES = 1 << 8
_SCHEDULERS = MOST_UNITS
_SETTLED = 64
"""Cycles after which a result delays no consumer: more than the transfer between any two units."""


class InFlight:
    """Rings over uops (``u_``) and stores (``s_``), and the number of waiting uops per queue."""

    def __init__(self) -> None:
        self.uop_mask = _UOPS - 1
        self.store_mask = _STORES - 1
        self.u_inputs = ints(_UOPS)
        """Number of inputs, including those of this instance alone: a store that it forwards from."""
        self.u_after_address = ints(_UOPS)
        self.u_after_data = ints(_UOPS)
        """Cycles from the store's address and from its data to the pick of a load that forwards."""
        self.u_fresh = ints(_UOPS)
        """1: all inputs were ready at dispatch; 2: it waits, but not for an ALU; 0: it waits for an ALU."""
        self.u_place = ints(_UOPS)
        """Place in the code, counted in macro-ops."""
        self.u_waste = ints(_UOPS)
        """Slots lost if the value below arrives last, in eighths."""
        self.u_waste_value = ints(_UOPS)
        self.u_slots = ints(_UOPS)
        """Slots of the address units, in eighths."""
        self.u_harness = ints(_UOPS)
        """Slots of the address units that the measuring harness costs, in eighths."""
        self.s_base_value = ints(_STORES)
        self.s_index_value = ints(_STORES)
        self.s_base_key = ints(_STORES)
        self.s_vector = ints(_STORES)
        self.s_source = ints(_STORES)
        """The value that is stored."""
        self.s_picked = ints(_STORES)
        """A value that is ready when the address is."""
        self.s_crosses = ints(_STORES)

        self.u_scheduler = ints(_UOPS)
        self.u_units = ints(_UOPS)
        """Mask of the units of that scheduler that it may take."""
        self.waiting = ints(_SCHEDULERS)
        """Number of uops in each scheduler."""
        self.addresses = ints(_SCHEDULERS)
        """Number of those that wait for its address unit."""
        self.vectors = PairQueue()
        """Vector uops that queue in front of their schedulers, oldest first."""

        self.fresh = PairQueue()
        """Uops of the latest dispatch whose inputs are all known, renamer to scheduler."""

    def start(self) -> None:
        """Reset: nothing is in flight."""
        self.fresh.start(_UOPS)
        for scheduler in range(_SCHEDULERS):
            self.waiting[scheduler] = 0
            self.addresses[scheduler] = 0
        self.vectors.start(_UOPS)
        self.oldest_store = 0
        """The oldest store that has not been committed."""
        self.small_loop = False
        self.decoded = False
        """Whether the code comes from the decoders."""

    def record_time(self, state: Record, ready: int) -> None:
        """Record when a value is ready, as part of the pipeline's state."""
        state.add_time(ready, _SETTLED)
