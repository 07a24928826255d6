"""Keeps a published throughput that the units of an instruction do not explain, so that reports can name it.

The simulator does not use it: rules that make an instruction as slow as published are in ``occupancy.py`` and
``zen.py``. Left out are throughputs that the measurement's own operands explain, because code with other
operands is faster: chains through flags and registers that every instance reads and writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.facts import zen
from cyclelens.analyzer.model.facts import NOPS, Figures, Latency, OperandFacts
from cyclelens.analyzer.model.units import unit_cycles

PUBLISHED = "published"
_WIDTH = 6
"""Uops that the widest of these cores issue in a cycle, nearly: the simulator knows each core's width."""
_BEYOND = 1.1
"""Times the cycles that units explain from which a throughput counts: smaller ones may be noise."""
_LEAST = 0.06
"""Cycles beyond the units, for the same reason."""
_CHAIN = 1.1
"""Times a chain's cycles up to which the chain explains a throughput."""
_SLOW = 2.0
"""Cycles from which a chain's length is no excuse: code that breaks the chain would seem far too fast."""
_LONGEST = 400.0
"""Cycles from which an instruction waits for a device or leaves a virtual machine."""
_OMITTED = frozenset({"COND_BR", "RET", "SYSTEM", "IOSTRINGOP", "IO", "INTERRUPT", "PREFETCH", *NOPS})
"""Categories whose throughput is that of their places in the code, of predictions or of privileged code."""
_PLACED = re.compile(r"JMP \(Rel.*|\w+_REPN?E?.*|.*\b(?:AX|[RM]16)\b.*, I16\)")
"""Jumps, repetitions, and constants behind a length-changing prefix, which cost what their decoding costs."""
_CLASS = re.compile(r"(FP|ALU|LD|ST|I2F)(\d*)")
"""Zen 5's names of units."""
_OF_MEMORY = {"LD": ("0123", "01"), "ST": ("01", "01")}
"""Of these it has so many for integers, and for vectors."""
_LOADS, _WIDE_LOADS = 0.5, 1.0
"""Cycles that a load takes on Zen to Zen 4, at most; one of more than 256 bits."""
_WIDE = 256


def attribute(figures: Mapping[str, str]) -> dict[str, str]:
    """The fewest published cycles, as an attribute of the measurement; empty if none are stated."""
    stated = [float(figures.get(key) or "0") for key in ("TP_loop", "TP_unrolled")]
    return {PUBLISHED: f"{min(filter(None, stated)):.2f}"} if any(stated) else {}


def beyond_units(
    attributes: Mapping[str, str],
    base: Figures,
    variant: zen.VariantDescription,
    latencies: Mapping[tuple[int, int], Latency],
    microarchitecture: str,
) -> float | None:
    """The published cycles of an instruction that its units do not explain; None for most. On Zen to Zen 4
    stores decide the throughput of what writes memory, and are no units of a record."""
    cycles = float(attributes.get(PUBLISHED, "0"))
    if not 0 < cycles < _LONGEST or variant.category in _OMITTED or _PLACED.fullmatch(variant.name):
        return None
    issue = max(base.retire_slots or 1, base.uops or 1) / _WIDTH
    explained = max(_units(base, variant.operands), issue)
    accesses = [each for each in variant.operands if each.kind == "mem"]
    if zen.is_zen(microarchitecture) and accesses:
        if len(accesses) > 1 or accesses[0].written:
            return None
        explained = max(explained, _WIDE_LOADS if accesses[0].width > _WIDE else _LOADS)
    if cycles <= max(_BEYOND * explained, explained + _LEAST):
        return None
    chain = _chain(variant.operands, latencies)
    waits_for_itself = (
        cycles < _SLOW and cycles <= _CHAIN * chain and (cycles < 1 or cycles >= chain / _CHAIN)
    )
    return None if waits_for_itself else cycles


def _units(base: Figures, operands: Sequence[OperandFacts]) -> float:
    """Cycles for which the busiest units are needed."""
    vector = any("MM" in register for each in operands for register in each.registers)
    numbers: dict[str, int] = {}
    uses = []
    for names, count in base.ports or ():
        kind = _CLASS.fullmatch(names)
        numbered = _OF_MEMORY[names][vector] if names in _OF_MEMORY else kind[2] if kind else names
        units = [(kind[1] if kind else "") + each for each in numbered]
        mask = sum(1 << numbers.setdefault(unit, len(numbers)) for unit in units)
        uses.append((mask, float(count)))
    return unit_cycles(uses)


def _chain(operands: Sequence[OperandFacts], latencies: Mapping[tuple[int, int], Latency]) -> float:
    """Most cycles from flags or a fixed register to themselves, or to a register that contains or is part of
    it."""
    fixed = [
        each
        for each in operands
        if each.kind == "flags" or (each.kind == "reg" and len(each.registers) == 1 and not each.opmask)
    ]
    pairs = [
        (source.index, target.index)
        for source in fixed
        for target in fixed
        if source.read and target.written and _same(source, target)
    ]
    return float(max((latencies.get(pair, Latency()).cycles or 0 for pair in pairs), default=0))


def _same(source: OperandFacts, target: OperandFacts) -> bool:
    if source.index == target.index:
        return source.kind != "flags" or bool(source.flags_read & source.flags_written)
    if "flags" in (source.kind, target.kind):
        return False
    first, second = (each.registers[0].lstrip("RE")[:1] for each in (source, target))
    return first == second
