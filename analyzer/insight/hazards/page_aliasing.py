"""``page-aliasing``: a load shares the lower 12 address bits with a store in flight to another address.

The load seems to depend on the store and waits until the full addresses are known to differ. Sources: Intel's
event lists for Golden and Redwood Cove have ``LD_BLOCKS.ADDRESS_ALIAS`` (perfmon, 2026). The cost was
measured on Golden Cove; Intel's other cores are assumed to do the same. Zen 3 and 4 were measured, and Zen 5
is not affected (docs/zen5.md); Zen+ and Zen 2 are unknown. The hazard is not simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.addresses import LONGEST_STEP, Access, accesses
from cyclelens.analyzer.microarchitectures import caveats, registry
from cyclelens.analyzer.model.microarchitecture import Maker, Microarchitecture
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.values import sizes
from msgspec import Struct

CODE = "page-aliasing"
_PAGE = 4096
_CYCLES_IN_FLIGHT = 40
"""Cycles that an undelayed store is in flight, roughly: through the pipeline and into the cache."""
_MOST = 1 << 20
"""Larger displacements are placeholders for the addresses of symbols."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per load that follows such a store while it is in flight, in the same
    iteration or a later one."""
    core = registry.get(prediction.microarchitecture)
    if not happens(core):
        return
    cycles = _cycles(core)
    longer = f"It may take {cycles} cycles longer" if cycles else "It may wait some cycles"
    templates = prediction.instructions
    moving = _moving(templates)
    stores = [each for each in moving if each.now.access.written and _is_known(each.now)]
    iterations = min(_in_flight(templates, core, len(stores)), _soon(prediction.cycles_per_iteration))
    seen: set[int] = set()
    for load in moving:
        if not load.now.access.read or load.now.instruction in seen or not _is_known(load.now):
            continue
        met = _aliased(stores, load, iterations)
        if met is None:
            continue
        seen.add(load.now.instruction)
        store = templates[met.store.now.instruction].instruction.text
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=load.now.instruction,
            message=(
                f"4K aliasing: the load is {abs(met.distance):,} bytes from what '{store}' stores"
                f"{_before(met.iterations)}, and so has the same lower 12 bits of the address. {longer} "
                "until these are known to differ; what that costs on top of the figure is not known. "
                "Another distance avoids it."
            ),
            label="4K aliasing",
            microarchitecture=prediction.microarchitecture,
        )


def happens(core: Microarchitecture) -> bool:
    """True if loads of the core are known or assumed to wait."""
    return _cycles(core) > 0 or core.maker is Maker.INTEL


def _cycles(core: Microarchitecture) -> int:
    """Most extra cycles of a load; 0 if unknown."""
    if core.macro_ops is not None:
        return core.macro_ops.page_aliasing_cycles
    return caveats.page_aliasing_cycles(core.name)


class _Moving(Struct, frozen=True):
    """An access that recurs in every iteration."""

    place: int
    """Index among the accesses, in program order."""
    now: Access
    step: int | None
    """Bytes by which it moves per iteration; None if unknown."""
    size: int


class _Met(Struct, frozen=True):
    """The store that a load seems to read from."""

    store: _Moving
    iterations: int
    """Iterations since the store."""
    distance: int


def _moving(templates: tuple[InstructionTemplate, ...]) -> list[_Moving]:
    first, second = accesses(templates)
    found = []
    every = sizes([(templates[each.instruction], each.access) for each in first])
    for place, (now, later, size) in enumerate(zip(first, second, every, strict=True)):
        moved = later.address.plus(now.address, -1)
        step = None if moved.terms or abs(moved.constant) > LONGEST_STEP else moved.constant
        found.append(_Moving(place, now, step, size))
    return found


def _in_flight(templates: tuple[InstructionTemplate, ...], core: Microarchitecture, stores: int) -> int:
    """Iterations for which a store can stay in flight, as the reorder buffer and
    the store buffer have room."""
    slots = sum(each.retire_slots for each in templates if not each.fused_with_previous)
    room = core.macro_ops.store_queue if core.macro_ops is not None else core.store_buffer_size
    iterations = core.reorder_buffer_size // max(1, slots)
    if room is not None:
        iterations = min(iterations, room // max(1, stores))
    return max(1, iterations)


def _soon(cycles: float) -> int:
    """Iterations by which a load can issue before an undelayed store has left."""
    return max(1, int(_CYCLES_IN_FLIGHT / max(cycles, 0.25)))


def _before(iterations: int) -> str:
    if not iterations:
        return ""
    return " in the previous iteration" if iterations == 1 else f" {iterations} iterations before"


def _is_known(access: Access) -> bool:
    """True if its distance to other accesses is that of the text, with no placeholder for a symbol."""
    return access.access.base not in (None, "RIP") and abs(access.access.displacement or 0) < _MOST


def _aliased(stores: list[_Moving], load: _Moving, most: int) -> _Met | None:
    """The newest store that overlaps the load within a page but not in memory; None if there is none."""
    for iterations in range(most + 1):
        for store in reversed(stores):
            if iterations == 0 and store.place >= load.place:
                continue
            distance = _distance(store, load, iterations)
            if distance is None:
                continue
            if -load.size < distance < store.size:
                return None
            if distance % _PAGE < store.size or distance % _PAGE + load.size > _PAGE:
                return _Met(store, iterations, distance)
    return None


def _distance(store: _Moving, load: _Moving, iterations: int) -> int | None:
    """Bytes from a store ``iterations`` earlier to the load; None if it varies or is unknown."""
    difference = load.now.address.plus(store.now.address, -1)
    if difference.terms or store.step != load.step or not store.size or not load.size:
        return None
    if not iterations:
        return difference.constant
    return None if store.step is None else difference.constant + iterations * store.step
