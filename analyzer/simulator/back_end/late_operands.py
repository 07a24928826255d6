"""What the renamer of macro-ops asks of the rule by which operations waste slots."""

from __future__ import annotations


class LateOperands:
    """Weighs every uop when it is renamed; the picker takes the slots when the uop leaves. A core that names
    no rule has this one: nothing is wasted."""

    def weigh(self, uop: int, cycle: int, place: int) -> None:
        """How much issuing a uop will waste beyond its own slot, and which operand has to come last for that:
        set ``u_waste`` and ``u_waste_value`` of what is in flight. ``place``: macro-ops that were dispatched
        up to its instruction."""
