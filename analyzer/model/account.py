"""What becomes of every issue slot of the renamer: used, or lost and why."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple


class Area(StrEnum):
    """Where a slot was lost."""

    FRONT_END = "front end"
    RENAMER = "renamer"
    BACK_END = "back end"


class Cause(NamedTuple):
    """Why a slot was lost."""

    area: Area
    what: str
    """Front end: ``predecoder LCP decoder MS switch MS DSB switch DSB LSD JCC erratum``; renamer: ``issue
    group register merge serialization``; back end: what was full, ``ROB``, ``RS``, or a resource such as
    ``load buffer`` (docs/pipeline.md 7)."""
    why: str = ""
    """Back end only, what the oldest uop that held it up waited for: ``dependency port divider unit fence
    retirement``."""


@dataclass(frozen=True, slots=True)
class Account:
    """Issue slots of the relevant rounds; all counts are whole slots over ``rounds`` iterations."""

    width: int
    """Slots per cycle."""
    rounds: int
    slots: int
    """All of them: ``sum(used) + sum(lost.values())``."""
    used: tuple[int, ...]
    """By instruction, its merge and synchronisation uops included."""
    lost: dict[tuple[Cause, int], int]
    """By cause and the instruction that was to blame: the one that had not arrived, or the one that kept the
    full buffer from emptying."""

    @property
    def cycles_per_iteration(self) -> float:
        """Cycles that the slots make."""
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
        """Cycles per iteration that were lost because of an instruction."""
        slots = sum(slots for (_, blamed), slots in self.lost.items() if blamed == instruction)
        return slots / self.width / self.rounds

    def main_cause(self, instruction: int | None = None) -> Cause | None:
        """What lost the most slots, of one instruction or of all; None if nothing was lost."""
        totals: Counter[Cause] = Counter()
        for (cause, blamed), slots in self.lost.items():
            if instruction in (None, blamed):
                totals[cause] += slots
        return min(totals, key=lambda cause: (-totals[cause], cause)) if totals else None
