"""Accounts for every issue slot of the renamer: used, or lost and why."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from msgspec import Struct


class Area(StrEnum):
    """The part of the core that lost a slot."""

    FRONT_END = "front end"
    RENAMER = "renamer"
    BACK_END = "back end"


class Cause(Struct, frozen=True, order=True):
    """The reason for a lost slot."""

    area: Area
    what: str
    """Front end: ``predecoder LCP decoder MS switch MS DSB switch DSB LSD JCC erratum``; renamer: ``issue
    group register merge serialization``; back end: the full buffer, ``ROB``, ``RS``, or a resource such as
    ``load buffer`` (docs/pipeline.md 7)."""
    why: str = ""
    """Back end only: what the oldest uop in the full buffer waited for: ``dependency port divider
    unit fence retirement``."""


class Account(Struct, frozen=True):
    """Issue slots of the measured rounds; counts are whole slots over ``rounds`` iterations."""

    width: int
    """Slots per cycle."""
    rounds: int
    slots: int
    """Total: ``sum(used) + sum(lost.values())``."""
    used: tuple[int, ...]
    """Slots per instruction, including its merge and synchronisation uops."""
    lost: dict[tuple[Cause, int], int]
    """(cause, instruction) -> slots. The instruction is the one that had not arrived, or the one that kept
    the full buffer from draining."""

    @property
    def cycles_per_iteration(self) -> float:
        """Cycles per iteration that the slots amount to."""
        return self.slots / self.width / self.rounds

    def causes(self) -> list[tuple[Cause, float]]:
        """Share of all slots lost to each cause, the largest first."""
        totals: Counter[Cause] = Counter()
        for (cause, _), slots in self.lost.items():
            totals[cause] += slots
        ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
        return [(cause, slots / self.slots) for cause, slots in ordered]

    def areas(self) -> dict[Area, float]:
        """Share of all slots lost in each area."""
        shares = dict.fromkeys(Area, 0.0)
        for (cause, _), slots in self.lost.items():
            shares[cause.area] += slots / self.slots
        return shares

    @property
    def used_share(self) -> float:
        """Share of all slots that a uop used."""
        return sum(self.used) / self.slots

    def lost_cycles(self, instruction: int) -> float:
        """Cycles per iteration lost because of an instruction."""
        slots = sum(slots for (_, blamed), slots in self.lost.items() if blamed == instruction)
        return slots / self.width / self.rounds

    def main_cause(self, instruction: int | None = None) -> Cause | None:
        """The cause that lost the most slots, for one instruction or for all; None if no slot was lost."""
        totals: Counter[Cause] = Counter()
        for (cause, blamed), slots in self.lost.items():
            if instruction in (None, blamed):
                totals[cause] += slots
        return min(totals, key=lambda cause: (-totals[cause], cause)) if totals else None
