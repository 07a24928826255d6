"""``page-aliasing``: a load has the lower 12 bits of its address in common with a store in flight, elsewhere.

The load seems to need what is stored and waits until the whole addresses are known to differ. Known of it:
Intel's lists of events for Golden and Redwood Cove have ``LD_BLOCKS.ADDRESS_ALIAS`` (perfmon, 2026); what it
costs is not published, and that Intel's other cores do the same is assumed. Zen 4 was measured, and Zen 5
does not do it (docs/zen5.md). Of Zen+ and Zen 2 nothing is known. It is not simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.addresses import Access, accesses
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import Maker
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.memory_renaming import access_bytes

CODE = "page-aliasing"
_PAGE = 4096
_MOST = 1 << 20
"""Displacements beyond are addresses of symbols, for which numbers stand in."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding for every load that follows such a store, in the same iteration or the next."""
    core = registry.get(prediction.microarchitecture)
    cycles = core.macro_ops.page_aliasing_cycles if core.macro_ops is not None else 0
    if not cycles and core.maker is not Maker.INTEL:
        return
    longer = f"It may take {cycles} cycles longer" if cycles else "It may wait some cycles"
    templates = prediction.instructions
    first, second = accesses(templates)
    seen: set[int] = set()
    for at, load in enumerate(order := [*first, *second]):
        if not load.access.read or load.instruction in seen or not _is_known(load):
            continue
        store = _aliased(order[:at], load, templates)
        if store is None:
            continue
        seen.add(load.instruction)
        distance = load.address.plus(store.address, -1).constant
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=load.instruction,
            message=(
                f"4K aliasing: the load is {abs(distance):,} bytes from what "
                f"'{templates[store.instruction].instruction.text}' stores, and so has the same lower 12 "
                f"bits of the address. {longer} until these are known to differ; what that costs on top of "
                "the figure is not known. Another distance avoids it."
            ),
            label="4K aliasing",
            microarchitecture=prediction.microarchitecture,
        )


def _is_known(access: Access) -> bool:
    """Is its distance to others that of the text, not of numbers that stand in for symbols?"""
    return access.access.base not in (None, "RIP") and abs(access.access.displacement or 0) < _MOST


def _aliased(before: list[Access], load: Access, templates: tuple[InstructionTemplate, ...]) -> Access | None:
    """The newest store that overlaps with the load in a page, and does not overlap with it in memory."""
    size = access_bytes(templates[load.instruction], load.access)
    for store in reversed(before):
        if not store.access.written or not _is_known(store):
            continue
        difference = load.address.plus(store.address, -1)
        stored = access_bytes(templates[store.instruction], store.access)
        if difference.terms or not size or not stored:
            continue
        distance = difference.constant
        if -size < distance < stored:
            return None
        if distance % _PAGE < stored or distance % _PAGE + size > _PAGE:
            return store
    return None
