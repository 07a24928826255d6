"""Figures of returns and of POPF without uops that do not belong to them (D10)."""

from __future__ import annotations

from collections.abc import Iterable

from cyclelens.analyzer.model.facts import Figures, PortUse
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
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
    jumps = 2 if "IMM" in form else 1
    found = _ports(microarchitecture, ((Role.BRANCH, jumps), (Role.LOAD, 1)))
    return replace(figures, uops=jumps + 1, mite_uops=slots, ms_uops=0, ports=found)


def of_flags_from_stack(figures: Figures, form: str, microarchitecture: Microarchitecture) -> Figures:
    """The figures of POPF (``form``: its iform), as counted on Haswell, Skylake-X and Alder Lake.

    Records that fit into their retirement slots, and those of other instructions, stay as they are."""
    slots, ports = figures.retire_slots or 0, figures.ports or ()
    if not form.startswith("POPF") or sum(uops for _, uops in ports) <= _FUSED * slots:
        return figures
    roles = ((Role.ALU, 3), (Role.BRANCH, 2), (Role.MULTIPLY, 1), (Role.LOAD, 1))
    return replace(figures, ports=_ports(microarchitecture, roles))


def _ports(microarchitecture: Microarchitecture, uops: Iterable[tuple[Role, int]]) -> tuple[PortUse, ...]:
    """Uops on all units of a role, as in the tables."""
    units = microarchitecture.units
    return tuple(
        (units.in_tables(units.having(role).names).removeprefix(units.prefix), count) for role, count in uops
    )
