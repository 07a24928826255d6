"""Draws a core as an ASCII picture from its values. The picture heads every family's file,
and a test compares them."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, Unit


def picture(core: Microarchitecture) -> str:
    """The picture, from the fetched code down to the units. Widths are per cycle, sizes are capacities."""
    units = core.units
    lines = [f"{core.name}: {core.title}", "", *_front_end(core), *_renamer(core)]
    schedulers = _schedulers(core)
    last = [*schedulers][-1]
    longest = max(len(units.label(name)) for name in units.names)
    for name, entries in schedulers.items():
        lines += ["    |", f"    +-- {name} {entries}"]
        bar = "    |" if name != last else "    "
        for unit in units.all:
            if unit.scheduler == name or len(schedulers) == 1:
                lines.append(f"{bar:<10}+-- {units.label(unit.name):<{longest}}  {roles(unit)}")
    return "\n".join(lines)


def roles(unit: Unit) -> str:
    """What a unit can execute, in words."""
    return ", ".join(role for role in Role if role in unit.roles)


def _front_end(core: Microarchitecture) -> Iterator[str]:
    """The paths from the code to the uop queue."""
    rules = core.macro_ops
    if rules is None:
        deliveries = [
            f"{core.predecode_block_bytes} bytes -> {core.predecode_width} instructions -> "
            f"queue {core.instruction_queue_size} -> {core.decoders} decoders",
            f"op cache: {core.dsb_lines_per_block} lines of {core.dsb_slots_per_line} per "
            f"{core.dsb_block_bytes} bytes -> {core.dsb_width} uops",
            f"microcode -> {core.ms_width} uops",
        ]
        if core.lsd_enabled:
            deliveries.append("loops that fit into the uop queue stay there (LSD)")
    else:
        deliveries = [
            f"{rules.decode_bytes} bytes -> {core.decoders} decoders",
            f"op cache: {core.dsb_lines_per_block} lines of {rules.line_entries} per "
            f"{core.dsb_block_bytes} bytes -> {core.dsb_width} macro-ops",
        ]
    width = max(map(len, deliveries))
    for delivery in deliveries:
        yield f"  {delivery} {'-' * (width - len(delivery))}--+"
    yield f"    +{'-' * width}+"
    yield "    v"
    yield f"  uop queue {core.idq_size}"
    yield "    |"
    yield "    v"


def _renamer(core: Microarchitecture) -> Iterator[str]:
    rules = core.macro_ops
    vector = "" if rules is None else f" ({rules.vector_dispatch_width} of the vector unit)"
    yield (
        f"  renamer {core.issue_width}{vector} --> reorder buffer {core.reorder_buffer_size} --> "
        f"retires {core.retire_width}"
    )
    stores = core.store_buffer_size if rules is None else rules.store_queue
    buffers = {"load buffer": core.load_buffer_size, "store buffer": stores}
    known = [f"{name} {size}" for name, size in buffers.items() if size is not None]
    if known:
        yield "    |"
        yield f"    +-- {', '.join(known)}"


def _schedulers(core: Microarchitecture) -> dict[str, int]:
    """Scheduler name -> entries."""
    if core.schedulers:
        return {scheduler.name: scheduler.entries for scheduler in core.schedulers}
    return {"scheduler": core.reservation_station_size}
