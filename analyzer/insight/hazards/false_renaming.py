"""``false-renaming``: a load looks like one of what a store in flight stores, and is done again.

Zen 5 compares registers and the lower bits of displacements first (docs/zen5.md). What that costs was
measured and is not simulated: the same code took different times in different runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, MemoryAccess, Trait

CODE = "false-renaming"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding for every load that follows such a store, in the same iteration or the next."""
    rules = registry.get(prediction.microarchitecture).macro_ops
    if rules is None or not rules.false_renaming_bytes:
        return
    templates = prediction.instructions
    for index, template in enumerate(templates):
        for load in template.memory_operands:
            if not load.read or not _is_renamed(template, UopKind.LOAD):
                continue
            store = _store_before(templates, index, load, rules.false_renaming_bytes)
            if store is None:
                continue
            yield Finding(
                code=CODE,
                severity=Severity.WARNING,
                instruction=index,
                message=(
                    "False memory renaming: the load is taken for one of what "
                    f"'{templates[store].instruction.text}' stores, because both use the same registers and "
                    f"displacements that differ by a multiple of {rules.false_renaming_bytes:,}. It is done "
                    "again, which took 8 to 35 cycles where it was measured; the figure does not count them. "
                    "Another base register or another distance avoids it."
                ),
                label="false renaming",
                microarchitecture=prediction.microarchitecture,
            )
            break


def _is_renamed(template: InstructionTemplate, kind: UopKind) -> bool:
    """Only accesses of integers take part."""
    return any(uop.kind is kind and not uop.traits & Trait.VECTOR for uop in template.uops)


def _registers(access: MemoryAccess) -> tuple[str | None, str | None, int | None]:
    return access.base, access.index, access.scale


def _store_before(
    templates: tuple[InstructionTemplate, ...], index: int, load: MemoryAccess, multiple: int
) -> int | None:
    """The newest store before a load with the same registers, if it looks like the load's and is none."""
    for step in range(1, len(templates) + 1):
        place = (index - step) % len(templates)
        template = templates[place]
        if {load.base, load.index} & {output.canonical for output in template.register_outputs}:
            return None
        for store in template.memory_operands:
            if not store.written or _registers(store) != _registers(load):
                continue
            if load.displacement is None or store.displacement is None:
                return None
            distance = load.displacement - store.displacement
            if distance == 0:
                return None
            if distance % multiple == 0 and _is_renamed(template, UopKind.STORE_ADDRESS):
                return place
    return None
