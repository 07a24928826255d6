"""Latency of an instruction from an input to a result as simulated: along its uops.

The tables give a latency for every pair of operands, measured or as an upper bound. The uops of an
instruction cannot have all of them at once (rules U6 to U9 of docs/pipeline.md; M7 and M13 of docs/zen5.md),
so the simulation may be faster than the tables. A bound must not exceed the figure that it bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.expansion import FORWARDING_LATENCY
from cyclelens.analyzer.uops.values import access_bytes

Target = Value | tuple[UopKind, int]
"""A result, or the stored data of a memory operand."""

_NARROWEST_RENAMED = 4
"""Bytes of the narrowest load that is renamed (M18)."""


def arrivals(template: InstructionTemplate, start: Value | None, loaded: int) -> dict[Target, int]:
    """Earliest cycles from an input to each dependent value and stored data.

    ``start`` None: from the instruction's load, which is ready after ``loaded`` cycles.
    """
    found: dict[Target, int] = {} if start is None else {start: 0}
    made: dict[Target, int] = {}
    for uop in template.uops:
        if uop.kind is UopKind.LOAD and start is None:
            made.update((value, loaded) for value, _ in uop.outputs)
        else:
            begin = _begin(uop, found)
            if begin is None:
                continue
            made.update((value, begin + latency) for value, latency in uop.outputs)
            if uop.kind is UopKind.STORE_DATA:
                made[UopKind.STORE_DATA, uop.memory_operand] = begin
        # A uop reads the old value of a register that the instruction writes.
        found.update((value, cycles) for value, cycles in made.items() if value[0] is ValueKind.INTERNAL)
    return made


def _begin(uop: UopTemplate, found: Mapping[Target, int]) -> int | None:
    """The cycle in which a uop that depends on ``found`` begins; None if it depends
    on none of these values."""
    late = uop.late or (0,) * len(uop.inputs)
    times = [found[value] - after for value, after in zip(uop.inputs, late, strict=True) if value in found]
    return max(times, default=None)


def from_store(template: InstructionTemplate, position: int, microarchitecture: Microarchitecture) -> int:
    """Fewest cycles from a store's data to the load of one of the instruction's memory operands."""
    rules = microarchitecture.macro_ops
    if rules is None:
        return FORWARDING_LATENCY
    return _forwarded(template, position, rules)


def _forwarded(template: InstructionTemplate, position: int, rules: MacroOpRules) -> int:
    """Like ``from_store``, if loads of general-purpose registers can be renamed to the
    stored value in no time (M18)."""
    traits = Trait.NONE
    for uop in template.uops:
        if uop.kind is UopKind.LOAD and uop.memory_operand == position:
            traits |= uop.traits
    if traits & Trait.VECTOR:
        return min(rules.vector_forwarding, rules.integer_to_vector_forwarding)
    size = access_bytes(template, template.memory_operands[position])
    if size >= _NARROWEST_RENAMED or traits & Trait.READ_MODIFY_WRITE or not size:
        return 0
    return rules.forwarding


def waits_for_addition(template: InstructionTemplate, value: Value, reader: InstructionTemplate) -> bool:
    """True if the reader gets a floating-point addition's result a cycle later than
    another addition would (M20)."""
    makers = [uop for uop in template.uops if value in [made for made, _ in uop.outputs]]
    if not makers or not makers[-1].traits & Trait.FP_ADD:
        return False
    readers = [uop for uop in reader.uops if value in uop.inputs]
    return bool(readers) and not any(uop.traits & Trait.TAKES_FP_ADD for uop in readers)
