"""Latency of values through memory on cores whose stores wait for their data: from a value to the stored
data, from there to a load, and on to its result (docs/pipeline.md, O6d and W6)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, Value, ValueKind
from cyclelens.analyzer.uops.memory_renaming import stands_alone, takes_over
from cyclelens.analyzer.uops.registers import is_simd
from cyclelens.analyzer.uops.values import access_bytes
from msgspec import Struct

_DATA = 5
"""Cycles from a store's data to the result of a load that they are forwarded to."""
_ADDRESS = 9
"""Cycles from a store's address to the result of such a load."""
_SLOW = 3
"""Operations of at least this latency have their results forwarded as fast as a loaded word."""
_OWED = 2
"""Steps by which a register that is owed a constant is forwarded later."""
_WHOLE = 8
"""Bytes of a general-purpose register."""
_WORD = 2
"""Bytes of the only register width that is not renamed."""


class StoredValue(Struct, frozen=True):
    """What a store writes."""

    access_bytes: int
    value: Value | None
    """The data as the storing uop reads them."""
    computed: int | None
    """Latency of the same instruction's operation that computes them; None if it does not."""


def stored(template: InstructionTemplate, position: int) -> StoredValue:
    """The data that an instruction stores to one of its memory operands."""
    made: dict[Value, int] = {}
    for uop in template.uops:
        if uop.kind is UopKind.COMPUTE:
            made.update(uop.outputs)
        elif uop.kind is UopKind.STORE_DATA and uop.memory_operand == position:
            value = uop.inputs[0] if uop.inputs else None
            computed = made.get(value) if value is not None else None
            return StoredValue(_bytes(template, position), value, computed)
    return StoredValue(_bytes(template, position), None, None)


def steps_late(data: StoredValue, latency: int | None, owed: bool) -> int:
    """Least number of steps by which stored data are forwarded later than a loaded word.

    ``latency``: of the operation that computed them; None if they were loaded or are old. ``owed``: True if
    the renamer owes them a constant.
    """
    vector = data.value is not None and data.value[0] is ValueKind.REGISTER and is_simd(data.value[1])
    if owed or (vector and latency is None):
        return _OWED
    return 1 if latency is not None and latency < _SLOW else 0


class Forwarding:
    """Forwarding from stores to loads in one block."""

    def __init__(self, block: Block, microarchitecture: Microarchitecture) -> None:
        self.active = microarchitecture.stores_wait_for_data and block.tracks_values
        self._late = microarchitecture.late_forwarding_cycles
        renaming = microarchitecture.policies.memory_renaming if self.active and block.loop else ""
        self._learns = renaming in ("learnt_pairs", "learnt_loads")
        self._only_loads = renaming == "learnt_loads"

    def is_renamed(self, data: StoredValue, late: int, reader: InstructionTemplate, position: int) -> bool:
        """True if the load is renamed to the stored register; ``late`` as from ``steps_late``. Loops are
        assumed to come from the uop cache."""
        if not self._learns or reader.joins_next or not takes_over(reader):
            return False
        if self._only_loads and not stands_alone(reader):
            return False
        if data.value is not None and data.value[0] is ValueKind.REGISTER and is_simd(data.value[1]):
            return False
        loaded = _bytes(reader, position)
        if loaded < _WHOLE and late == _OWED:
            return False
        return loaded <= data.access_bytes and _WORD not in (loaded, data.access_bytes)

    def from_data(self, late: int) -> int:
        """Cycles from a store's data to the result of a load that is not renamed."""
        return _DATA + late * self._late

    def from_address(self) -> int:
        """Cycles from a store's address to the result of such a load."""
        return _ADDRESS


def cycles_to_store(template: InstructionTemplate, start: Value | None, position: int) -> int | None:
    """Cycles from an input of an instruction to the data that it stores; None if independent.
    ``start`` None: from its load."""
    return _arrivals(template, start).get((UopKind.STORE_DATA, position))


def cycles_from_load(template: InstructionTemplate, target: Value) -> int | None:
    """Cycles from an instruction's load to a result; None if independent."""
    return _arrivals(template, None).get(target)


def _arrivals(template: InstructionTemplate, start: Value | None) -> dict[Value | tuple[UopKind, int], int]:
    """Earliest cycle of each value and, by memory operand, of stored data."""
    found: dict[Value | tuple[UopKind, int], int] = {} if start is None else {start: 0}
    for uop in template.uops:
        if uop.kind is UopKind.LOAD:
            if start is None:
                found.update((value, 0) for value, _ in uop.outputs)
            continue
        times = [found[value] for value in uop.inputs if value in found]
        if not times:
            continue
        if uop.kind is UopKind.STORE_DATA:
            found[UopKind.STORE_DATA, uop.memory_operand] = max(times)
        elif uop.kind is UopKind.COMPUTE:
            found.update((value, max(times) + latency) for value, latency in uop.outputs)
    return found


def _bytes(template: InstructionTemplate, position: int) -> int:
    return access_bytes(template, template.memory_operands[position])
