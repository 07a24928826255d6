"""Latencies of uops on a core that counts macro-ops (M7, M13, M25 of docs/zen5.md)."""

from __future__ import annotations

import re
from collections.abc import Collection

from cyclelens.analyzer.model.uops import Value, ValueKind
from cyclelens.analyzer.uops.macro_instruction import DOUBLE_SHIFTS, SHIFTS, MacroInstruction
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd

FP_ADD_FAMILY = re.compile(r"v?(add|sub|min|max|cmp)[a-z]*[ps][sd]")
"""Operations of the vector units' adders."""
_KEEPS_REST = re.compile(r"(sqrt|rcp|rsqrt|round|cvts[sdi]2)s[sd]|mov[lh]p[sd]")
"""SSE operations that write part of their target. With VEX the rest comes from the first source."""
_SCALAR_MOVES = ("movss", "movsd")
_CONVERSION = 3
"""Cycles of a conversion from an integer, after the transfer."""


def latencies_of(
    subject: MacroInstruction, loaded: dict[int, Value], outputs: list[tuple[str, int, Value]]
) -> tuple[list[tuple[Value, int]], list[int]]:
    """Returns the inputs with the cycles by which each may be late, and the latency of each result."""
    prepared, table = subject.prepared, subject.prepared.latencies
    starts: list[tuple[str, int, Value]] = [
        ("reg", i, (ValueKind.REGISTER, r.canonical)) for i, r in enumerate(prepared.register_inputs)
    ]
    flags = [("flag", i, (ValueKind.FLAGS, group)) for i, group in enumerate(prepared.flag_inputs)]
    if subject.mnemonic in SHIFTS or subject.mnemonic in DOUBLE_SHIFTS:
        flags = []  # M13
    starts += flags
    if subject.mnemonic == "sbb" and len(subject.registers) > 1 and len(set(subject.registers)) == 1:
        starts = flags
    starts += [("mem", k, value) for k, value in loaded.items()]
    load = subject.rules.vector_load_latency if subject.vector else subject.rules.load_latency

    def between(start: str, position: int, target: str, number: int) -> int:
        if start != "mem":
            return _crossing(
                subject, table.get((start, position, target, number), 1), start, position, target, number
            )
        from_address = [
            cycles
            for j in range(max(1, len(prepared.address_inputs)))
            if (cycles := table.get(("addr", j, target, number))) is not None
        ]
        if from_address:
            return max(1, max(from_address) - load)
        return table.get(("mem", position, target, number)) or 1

    addresses = {(ValueKind.REGISTER, r.canonical) for r in prepared.address_inputs}
    # From the index of a gather the latency is measured, too.
    gathers = "VSIB" in prepared.facts.name
    latencies = []
    for target, number, _ in outputs:
        every = [between(kind, position, target, number) for kind, position, _ in starts]
        cycles = max(every, default=1)
        if loaded and not gathers:
            # The register's latency is measured; the latency after the load is an upper bound.
            measured = [
                between(kind, position, target, number)
                for kind, position, value in starts
                if kind == "reg" and value not in addresses
            ]
            cycles = max(measured, default=cycles)
            if subject.mnemonic in SHIFTS:
                cycles = 1  # M13: from CL the records have the time of a chain through the old flags.
        latencies.append(cycles)
    inputs = []
    for kind, position, value in starts:
        late = 0
        if (kind != "mem" or gathers) and not FP_ADD_FAMILY.fullmatch(subject.mnemonic):
            late = min(
                (
                    latencies[n] - between(kind, position, target, number)
                    for n, (target, number, _) in enumerate(outputs)
                ),
                default=0,
            )
        inputs.append((value, max(0, late)))
    halves = [value for _, _, value in outputs if value[0] is ValueKind.REGISTER]
    if len(set(halves)) < len(halves):
        # Both halves of a register (`xadd al, ah`) are written one after the other.
        latencies = [cycles + 1 for cycles in latencies]
    if subject.prepared.figures.divider_cycles and not subject.vector:
        # Of a division only the upper half of the dividend comes first, which is 0 as a rule: the others'
        # latencies count.
        latencies = [
            max(
                between(kind, position, target, number) + late
                for (kind, position, _), (_, late) in zip(starts, inputs, strict=True)
                if late or not any(cycles for _, cycles in inputs)
            )
            for target, number, _ in outputs
        ]
    return inputs, latencies


def stored_latency(subject: MacroInstruction, loaded: Collection[int], results: Collection[int]) -> int:
    """Cycles until the value is there that an instruction stores. ``loaded``: its memory operands that are
    read, ``results``: latencies of its results.

    From the memory that it changes, the records have the time of a chain through memory, forwarding included.
    """
    chains = [
        subject.prepared.latencies.get(("mem", k, "mem", k), 1) - subject.rules.forwarding
        for k in loaded
        if k in subject.writes and not subject.vector
    ]
    return max(1, min([*results, *chains], default=1))


def _crossing(
    subject: MacroInstruction, cycles: int, start: str, position: int, target: str, number: int
) -> int:
    """Latency between integer and vector registers, where tables may have upper bounds (M25)."""
    if start != "reg" or target != "reg":
        return cycles
    source = subject.prepared.register_inputs[position].canonical
    result = subject.prepared.register_outputs[number].canonical
    if is_simd(source) and is_general_purpose(result):
        rules = subject.rules
        excess = rules.to_integer_excess if subject.mnemonic[0] == "v" else rules.sse_to_integer_excess
        return max(1, cycles - excess)
    if source[0] == "K" and is_general_purpose(result):
        return max(1, cycles - subject.rules.mask_to_integer_excess)
    if is_general_purpose(source) and (is_simd(result) or result[0] == "K"):
        return max(1, cycles - subject.rules.to_vector_excess)
    return cycles


def merge_narrow(
    subject: MacroInstruction,
    inputs: list[tuple[Value, int]],
    outputs: list[tuple[str, int, Value]],
    latencies: list[int],
) -> None:
    """Adds the old register to the inputs of narrow results (8 and 16 bits, M7), CMOV, BSF, BSR, scalar SSE
    without VEX and results that keep an upper half (M42); the last operation reads it."""
    known = {value for value, _ in inputs}
    if subject.copies():
        inputs += [(value, 0) for value in subject.plain_inputs() if value not in known]
    keeps = (
        subject.merges_all
        or subject.mnemonic.startswith("cmov")
        or subject.mnemonic in ("bsf", "bsr")
        or bool(_KEEPS_REST.fullmatch(subject.mnemonic))
        or (subject.mnemonic in _SCALAR_MOVES and not subject.memory)
    )
    last = max((late for _, late in inputs), default=0)
    if subject.merges_all and subject.mnemonic in ("movd", "movq"):
        # What comes from an integer register is merged when it has arrived.
        last = max(latencies) - 1
    named = {canonical(register) for register in subject.registers}
    for output in subject.prepared.register_outputs:
        value: Value = (ValueKind.REGISTER, output.canonical)
        if (keeps or output.width in (8, 16)) and value not in known:
            # A result that is no operand (DX of CWD and MUL) is merged by the last operation.
            implicit = output.canonical not in named and output.width == 16
            inputs.append((value, last if keeps else min(latencies) - 1 if implicit else 0))
            known.add(value)


def merge_first_source(
    subject: MacroInstruction, inputs: list[tuple[Value, int]], latencies: list[int]
) -> None:
    """Adds the first source to scalar AVX operations, which take the rest of their target from it.

    A conversion from an integer needs it only after the transfer.
    """
    name = subject.mnemonic[1:]
    moves = name in _SCALAR_MOVES and not subject.memory
    if subject.mnemonic[0] != "v" or len(subject.registers) < 2 or not (moves or _KEEPS_REST.fullmatch(name)):
        return
    value: Value = (ValueKind.REGISTER, canonical(subject.registers[1]))
    if all(known != value for known, _ in inputs):
        transferred = subject.mnemonic.startswith("vcvtsi2")
        inputs.append((value, max(0, max(latencies) - _CONVERSION) if transferred else 0))
