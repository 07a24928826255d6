"""Expands an instruction's figures into unfused uops: rules U1 to U11 of docs/pipeline.md (uiCA model)."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.units import UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.operands import Latencies, Prepared
from msgspec import Struct

FORWARDING_LATENCY = 5
"""Cycles from a store's data to a uop that computes with the forwarded value (3.11.2)."""
STORE_LATENCY = 4
"""Cycles of a register-to-memory latency that belong to the store itself (U6)."""

_MOST_INPUTS = 4_000
"""Inputs of the computing uops of one instruction from which those that only occupy ports wait for nothing:
the core takes no more, and the published time of so long an instruction decides."""

_REGISTER, _FLAGS, _INTERNAL = ValueKind.REGISTER, ValueKind.FLAGS, ValueKind.INTERNAL
_COMPUTE = UopKind.COMPUTE
"""Cached because looking up enumeration members runs Python code."""


class _ComputeInput(Struct, frozen=True):
    """An input of the compute part with its adjusted latency to each compute output."""

    value: Value
    latencies: list[int]
    level: int
    """The largest of the latencies."""


class _Internal:
    """Numbers the values that only this instruction sees."""

    def __init__(self) -> None:
        self._count = 0

    def fresh(self) -> Value:
        self._count += 1
        return _INTERNAL, str(self._count - 1)


def expand(
    prepared: Prepared, uses: Sequence[UnitUse], *, flags_apart: bool = False
) -> tuple[UopTemplate, ...]:
    """Returns the uops in program order: loads, computes, stores, then empty uops up to the retire slots.

    ``uses``: units needed after macro-fusion and the 512-bit rule, in table order. ``flags_apart``: a two-uop
    shift by CL computes its flags in the second uop.
    """
    loads, computes, addresses, datas = _classify(uses)
    internal = _Internal()
    register_outputs = _registers(prepared.register_outputs)
    address_inputs = _registers(prepared.address_inputs)
    reads = [i for i, access in enumerate(prepared.memory_operands) if access.read]
    writes = [i for i, access in enumerate(prepared.memory_operands) if access.written]

    uops: list[UopTemplate] = []
    load_results: list[Value] = []
    for number, allowed in enumerate(loads):
        outputs, latency = register_outputs, prepared.load_latency
        if computes:
            outputs, latency = (internal.fresh(),), prepared.operand_latency
            load_results += outputs
        uops.append(
            UopTemplate(
                UopKind.LOAD,
                allowed,
                address_inputs,
                tuple([(value, latency) for value in outputs]),
                memory_operand=reads[min(number, len(reads) - 1)] if reads else -1,
            )
        )

    stores: list[UopTemplate] = []
    store_values: list[Value] = []
    plain_inputs = (*_registers(prepared.register_inputs), *_flags(prepared.flag_inputs))
    for number, (address, data) in enumerate(zip(addresses, datas, strict=False)):
        operand = writes[min(number, len(writes) - 1)] if writes else -1
        stored = plain_inputs
        if computes:
            stored = (internal.fresh(),)
            store_values += stored
        stores.append(UopTemplate(UopKind.STORE_ADDRESS, address, address_inputs, memory_operand=operand))
        stores.append(UopTemplate(UopKind.STORE_DATA, data, stored, memory_operand=operand))

    if computes:
        uops += (
            _shift_by_cl(prepared, computes, internal)
            or (flags_apart and _shift_then_flags(prepared, computes, internal))
            or _compute(prepared, computes, load_results, store_values, internal)
        )
    uops += stores
    slots = prepared.figures.retire_slots or 1
    uops += [UopTemplate(UopKind.EMPTY)] * (slots - len(uops))
    return tuple(uops)


def exchange(prepared: Prepared) -> tuple[UopTemplate, ...]:
    """The copies by which the renamer exchanges two registers in no time (U13); empty for other
    instructions."""
    inputs, outputs = _registers(prepared.register_inputs), _registers(prepared.register_outputs)
    if prepared.instruction.mnemonic != "xchg" or any(prepared.latencies.values()) or len(set(inputs)) < 2:
        return ()
    return tuple(
        UopTemplate(UopKind.EMPTY, inputs=(source,), outputs=((target, 0),))
        for source, target in zip(reversed(inputs), outputs, strict=True)
    )


def _classify(uses: Sequence[UnitUse]) -> tuple[list[UnitSet], list[UnitSet], list[UnitSet], list[UnitSet]]:
    """Splits uses into loads, computes, store addresses and store data (U1, U2)."""
    loads: list[UnitSet] = []
    computes: list[UnitSet] = []
    addresses: list[UnitSet] = []
    datas: list[UnitSet] = []
    lists = {UopKind.LOAD: loads, UopKind.STORE_ADDRESS: addresses, UopKind.STORE_DATA: datas}
    for use in uses:
        lists.get(use.kind, computes).extend([use.units] * use.uops)
    while len(datas) > len(addresses):
        if loads:
            addresses.append(loads.pop())
        else:
            datas.pop()
    return loads, computes, addresses, datas


def _registers(operands: Sequence[object]) -> tuple[Value, ...]:
    return tuple([(_REGISTER, operand.canonical) for operand in operands])  # type: ignore[attr-defined]


def _flags(groups: Sequence[str]) -> tuple[Value, ...]:
    return tuple([(_FLAGS, group) for group in groups])


def _shifts_by_cl(prepared: Prepared, between_flags: int) -> bool:
    """True if the latencies are those of a shift by CL; ``between_flags``: cycles from old to new flags."""
    if (
        prepared.address_inputs
        or not prepared.register_inputs
        or not prepared.register_outputs
        or not prepared.flag_inputs
        or not prepared.flag_outputs
    ):
        return False
    expected = {("reg", "reg"): 1, ("reg", "flag"): 2, ("flag", "reg"): 0, ("flag", "flag"): between_flags}
    return all(
        expected.get((start, target)) == cycles
        for (start, _, target, _), cycles in prepared.latencies.items()
    )


def _shift(prepared: Prepared, units: UnitSet, shifted: Value) -> UopTemplate:
    """The uop of a shift by CL that computes the result and passes it on within the instruction."""
    return UopTemplate(
        _COMPUTE,
        units,
        _registers(prepared.register_inputs),
        tuple((value, 1) for value in (*_registers(prepared.register_outputs), shifted)),
        divider_cycles=prepared.figures.divider_cycles or 0,
    )


def _shift_by_cl(prepared: Prepared, computes: list[UnitSet], internal: _Internal) -> list[UopTemplate]:
    """The three uops of a shift by CL, whose flags depend on the old flags (U5);
    empty for other instructions."""
    if len(computes) != 3 or not _shifts_by_cl(prepared, 2):
        return []
    shifted, flags = internal.fresh(), internal.fresh()
    return [
        _shift(prepared, computes[0], shifted),
        UopTemplate(_COMPUTE, computes[1], _flags(prepared.flag_inputs), ((flags, 1),)),
        UopTemplate(
            _COMPUTE,
            computes[2],
            (shifted, flags),
            tuple((value, 1) for value in _flags(prepared.flag_outputs)),
        ),
    ]


def _shift_then_flags(prepared: Prepared, computes: list[UnitSet], internal: _Internal) -> list[UopTemplate]:
    """The two uops of a shift by CL on newer cores, the second of which computes the flags (U5b);
    empty for other instructions."""
    if len(computes) != 2 or not _shifts_by_cl(prepared, 1):
        return []
    shifted = internal.fresh()
    return [
        _shift(prepared, computes[0], shifted),
        UopTemplate(
            _COMPUTE,
            computes[1],
            (shifted, *_flags(prepared.flag_inputs)),
            tuple((value, 1) for value in _flags(prepared.flag_outputs)),
        ),
    ]


def _compute(
    prepared: Prepared,
    computes: list[UnitSet],
    load_results: list[Value],
    store_values: list[Value],
    internal: _Internal,
) -> list[UopTemplate]:
    """Compute uops by latency class (U6 to U9)."""
    outputs = (
        *_registers(prepared.register_outputs),
        *_flags(prepared.flag_outputs),
        *store_values,
    )
    inputs = _compute_inputs(prepared, load_results, len(store_values))
    levels = sorted({each.level for each in inputs})
    lowest = levels[0] if levels else 1
    base_members = [each for each in inputs if each.level == lowest]
    base_inputs = [each.value for each in base_members]
    base_latencies = [1] * len(outputs)
    if base_members:
        base_latencies = [max(each) for each in zip(*[each.latencies for each in base_members], strict=True)]

    in_front: list[UopTemplate] = []
    fillers: list[UopTemplate] = []
    awaited = tuple([each.value for each in inputs])
    if len(inputs) * len(computes) > _MOST_INPUTS:
        awaited = ()
    remaining = levels[1:]
    for allowed in computes[1:]:
        if remaining:
            level = remaining.pop(0)
            value = internal.fresh()
            members = tuple([each.value for each in inputs if each.level == level])
            in_front.insert(0, UopTemplate(_COMPUTE, allowed, members, ((value, level - lowest),)))
            base_inputs.append(value)
        else:
            fillers.append(UopTemplate(_COMPUTE, allowed, awaited))
    base_inputs += [each.value for level in remaining for each in inputs if each.level == level]
    base = UopTemplate(
        _COMPUTE,
        computes[0],
        tuple(base_inputs),
        tuple(zip(outputs, base_latencies, strict=True)),
        divider_cycles=prepared.figures.divider_cycles or 0,
    )
    return [*in_front, base, *fillers]


def _compute_inputs(prepared: Prepared, load_results: list[Value], stores: int) -> list[_ComputeInput]:
    """Register, flag and load inputs with their adjusted latencies (table of U6)."""
    latencies = prepared.latencies
    results = [("reg", i) for i in range(len(prepared.register_outputs))]
    results += [("flag", i) for i in range(len(prepared.flag_outputs))]
    writes = [i for i, access in enumerate(prepared.memory_operands) if access.written] if stores else []

    inputs = []
    starts = [("reg", i, value) for i, value in enumerate(_registers(prepared.register_inputs))]
    starts += [("flag", i, value) for i, value in enumerate(_flags(prepared.flag_inputs))]
    for kind, position, value in starts:
        adjusted = [latencies[kind, position, target, i] for target, i in results]
        if stores:
            stored = [max(1, latencies[kind, position, "mem", i] - STORE_LATENCY) for i in writes]
            adjusted += [max(stored, default=1)] * stores
        inputs.append(_ComputeInput(value, adjusted, max(adjusted, default=1)))
    if not load_results:
        return inputs

    last_address = max(0, len(prepared.address_inputs) - 1)
    adjusted = [
        max(1, latencies.get(("addr", last_address, target, i), 1) - prepared.operand_latency)
        for target, i in results
    ]
    if stores:
        reads = [i for i, access in enumerate(prepared.memory_operands) if access.read]
        adjusted += [_load_to_store(latencies, reads, writes)] * stores
    level = max(adjusted, default=1)
    return [*inputs, *[_ComputeInput(value, adjusted, level) for value in load_results]]


def _load_to_store(latencies: Latencies, reads: list[int], writes: list[int]) -> int:
    if not reads:
        return 1
    return max(
        (max(1, latencies["mem", reads[-1], "mem", i] - FORWARDING_LATENCY) for i in writes), default=1
    )
