"""``line-crossing``: accesses cross the ends of cache lines, however the data are aligned.

A load that crosses uses the load ports for both lines, and a store that crosses leaves for the cache in two
parts (Intel's optimization manual, on split accesses; A. Ertl, "Cost of unaligned stores": on a Haswell,
stores of 32 bytes of which every second one crosses take 2 cycles each on average). AMD's cores are simulated
with that (M17 and M24 of docs/zen5.md), Intel's are not.

One access per step never has to cross, because its data may be aligned. Accesses that overlap, as in a
stencil, do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import gcd

from cyclelens.analyzer.insight.addresses import accesses
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import LINE_BYTES, Severity
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.memory_renaming import access_bytes
from msgspec import Struct

CODE = "line-crossing"
_MATTERS = 1.02
"""Least ratio of the cycles that the accesses need to the figure."""


class SteppedAccess(Struct, frozen=True):
    """An access that moves on by a constant step."""

    instruction: int
    offset: int
    size: int
    loads: bool
    stores: bool


class _Crossings(Struct, frozen=True):
    """Crossings of accesses through one pointer, per iteration."""

    loads: float
    stores: float
    instruction: int
    """The first that crosses."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding if accesses that have to cross take longer than the figure."""
    if prediction.mode is Mode.ONCE:
        return
    core = registry.get(prediction.microarchitecture)
    kinds = Counter(uop.kind for template in prediction.instructions for uop in template.uops)
    load_ports, store_ports = (len(core.units.having(role).names) for role in (Role.LOAD, Role.STORE_DATA))
    loads, stores = kinds[UopKind.LOAD] / load_ports, kinds[UopKind.STORE_DATA]
    least = _MATTERS * prediction.cycles_per_iteration
    if max(2 * loads, stores / store_ports + stores) < least:
        return
    found = [fewest(rows, step) for (_, step), rows in _moving(prediction.instructions).items()]
    found = [each for each in found if each.loads or each.stores]
    crossing_loads, crossing_stores = sum(each.loads for each in found), sum(each.stores for each in found)
    parts = (
        ("loads", crossing_loads, loads + crossing_loads / load_ports),
        ("stores", crossing_stores, stores / store_ports + crossing_stores),
    )
    name, crossing, cycles = max(parts, key=lambda part: part[2] if part[1] else 0.0)
    if not crossing or cycles < least:
        return
    yield Finding(
        code=CODE,
        severity=Severity.WARNING,
        instruction=min(each.instruction for each in found),
        message=(
            f"However the data are aligned, {crossing:.2f} {name} per iteration cross the end of a cache "
            f"line. Their second halves cost time on top of the figure: with them the {name} alone take at "
            f"least {cycles:.2f} cycles per iteration."
        ),
        label="line crossing",
        microarchitecture=prediction.microarchitecture,
    )


def _moving(templates: Sequence[InstructionTemplate]) -> dict[tuple[object, int], list[SteppedAccess]]:
    """Accesses by pointer and step, without those that stay where they are."""
    groups: dict[tuple[object, int], list[SteppedAccess]] = {}
    for now, later in zip(*accesses(templates), strict=True):
        moved = later.address.plus(now.address, -1)
        size = access_bytes(templates[now.instruction], now.access)
        if moved.constant and not moved.terms and size:
            key = frozenset(now.address.terms.items()), moved.constant
            row = SteppedAccess(
                now.instruction, now.address.constant, size, now.access.read, now.access.written
            )
            groups.setdefault(key, []).append(row)
    return groups


def fewest(rows: Sequence[SteppedAccess], step: int) -> _Crossings:
    """The crossings at the alignment of the pointer that has the fewest. The places within a line of one row
    are those that differ from its first by a multiple of what the step and the line have in common."""
    apart = gcd(step, LINE_BYTES)

    def crossing(row: SteppedAccess, alignment: int) -> float:
        first = LINE_BYTES - min(row.size, LINE_BYTES) + 1
        first += (alignment + row.offset - first) % apart
        return len(range(first, LINE_BYTES, apart)) * apart / LINE_BYTES

    def at(alignment: int) -> _Crossings:
        shares = [(row, share) for row in rows if (share := crossing(row, alignment))]
        return _Crossings(
            sum(share for row, share in shares if row.loads),
            sum(share for row, share in shares if row.stores),
            min((row.instruction for row, _ in shares), default=0),
        )

    return min(map(at, range(apart)), key=lambda each: each.loads + each.stores)
