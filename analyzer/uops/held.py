"""Makes AMD's slow instructions occupy units, if their units do not explain their throughput (M21)."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.units import UopKind, unit_cycles
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.uops.macro_instruction import MacroInstruction
from cyclelens.analyzer.uops.macro_units import Draft

MICROCODE = 3
"""Instructions of at least this many macro-ops are microcode."""
_KEPT = Trait.ALONE | Trait.DIVIDES
_LONG = 10
"""Microcode of more cycles waits for something else than its dispatch: RDTSC takes 36 in a row, and 36 beside
24 NOPs."""
_SLOTS_OF_WIDE_LOADS = 2
"""Load slots that 512 bits take (M20)."""
_EXPLAINED = 0.95
"""Share of the measured cycles at which units explain them: figures have two digits."""


def hold(subject: MacroInstruction, uops: Sequence[Draft], macro_ops: int) -> None:
    """Occupies a unit for the measured throughput if the uops do not need that long.

    Vector operations occupy a pipe of the uop with the fewest choices, one or two integer operations their
    unit. Microcode blocks other microcode.
    """
    measured = subject.prepared.figures.throughput
    computing = [uop for uop in uops if uop.kind is UopKind.COMPUTE and uop.units.mask]
    if measured is None or measured < 1 or _explains(subject, uops, macro_ops, measured):
        return
    if not computing:
        # The store of a vector or mask alone: the unit of its data.
        for uop in uops:
            if subject.vector and uop.kind is UopKind.STORE_DATA:
                uop.busy = max(uop.busy, measured)
        return
    pipes = [uop for uop in computing if uop.units.mask & ~subject.alus.mask]
    if pipes:
        _hold_unit(subject, pipes, uops, measured)
    elif macro_ops < MICROCODE:
        _hold_unit(subject, computing, uops, measured)
    else:
        computing[0].busy, computing[0].traits = measured, computing[0].traits | Trait.ALONE


def lost_slots(subject: MacroInstruction, macro_ops: int) -> int:
    """Slots of dispatch that microcode keeps empty behind its own macro-ops (M39).

    In a row it takes its measured throughput. Other instructions share one cycle of that with it. An
    instruction that changes memory is left out, because its throughput may be that of a chain.
    """
    measured, width = subject.prepared.figures.throughput, subject.issue_width
    if not subject.rules.microcode_keeps_dispatch or measured is None or subject.branch:
        return 0
    microcode = macro_ops >= MICROCODE or (measured >= MICROCODE - 1 and not subject.memory)
    if not microcode or measured > _LONG or set(subject.reads) & set(subject.writes):
        return 0
    if subject.prepared.figures.divider_cycles:
        return 0
    return max(0, round(width * (measured - 1)) + 1 - macro_ops)


def _explains(subject: MacroInstruction, uops: Sequence[Draft], macro_ops: int, measured: float) -> bool:
    """True if units, memory accesses and dispatch alone explain the throughput."""
    if any(uop.traits & _KEPT for uop in uops):
        return True
    wide = any(uop.traits & Trait.WIDE for uop in uops)
    loads = len(subject.reads) / (
        subject.rules.vector_loads_per_cycle if subject.vector else subject.rules.loads_per_cycle
    )
    loads *= _SLOTS_OF_WIDE_LOADS if wide else 1
    kinds = (UopKind.COMPUTE, UopKind.STORE_DATA) if subject.vector else (UopKind.COMPUTE,)
    units = [(uop.units.mask, max(1.0, uop.busy)) for uop in uops if uop.kind in kinds]
    stores = len(subject.writes) / subject.rules.stores_committed_per_cycle
    needed = max(unit_cycles(units), loads, stores, macro_ops / subject.issue_width)
    return needed >= _EXPLAINED * measured


def _hold_unit(
    subject: MacroInstruction, choices: Sequence[Draft], uops: Sequence[Draft], measured: float
) -> None:
    """Occupies one of the units of the uop with the fewest for the measured time. Other uops with a choice
    avoid that unit.

    The first of them takes the time that the others leave. If there is no result, the last does, which may be
    the store's data: behind an earlier one they would keep the retire queue full, and the next instance could
    not be dispatched.
    """
    chosen = min(choices, key=lambda uop: uop.units.mask.bit_count())
    kept = chosen.units = subject.only(chosen.units)
    for uop in choices:
        uop.units = subject.units.of(uop.units.mask & ~kept.mask or kept.mask)
    holding = [uop for uop in uops if uop.units.mask == kept.mask]
    long = chosen if subject.prepared.register_outputs else holding[-1]
    others = sum(max(1.0, uop.busy) for uop in holding if uop is not long)
    long.busy = max(long.busy, measured - others)
