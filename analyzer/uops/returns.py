"""Figures of returns that do not include what ran after a wrong prediction (D10)."""

from __future__ import annotations

from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UnitSet
from msgspec.structs import replace

_FUSED = 2
"""Most uops in one slot: micro-fusion joins two (docs/pipeline.md 2.11)."""
_FEWEST = 3
"""Uops of a return that are never too many: a load, a jump and a change of the stack pointer."""


def of_predicted_return(figures: Figures, form: str, microarchitecture: Microarchitecture) -> Figures:
    """The figures of a near return (``form``: its iform) whose target is predicted: it loads the target and
    jumps, and with a constant there is a second uop for the units of branches.

    Records that fit into their retirement slots, and those of other instructions, stay as they are.
    """
    slots, ports = figures.retire_slots or 0, figures.ports or ()
    if not form.startswith("RET_NEAR") or sum(uops for _, uops in ports) <= max(_FEWEST, _FUSED * slots):
        return figures
    units = microarchitecture.units
    jumps = 2 if "IMM" in form else 1

    def text(of: UnitSet) -> str:
        return units.in_tables(of.names).removeprefix(units.prefix)

    found = ((text(units.having(Role.BRANCH)), jumps), (text(units.having(Role.LOAD)), 1))
    return replace(figures, uops=jumps + 1, mite_uops=slots, ms_uops=0, ports=found)
