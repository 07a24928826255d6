"""Latencies of records that state none, taken over from the record of a sibling (O9 of docs/pipeline.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cyclelens.analyzer.model.facts import InstructionFacts, Latency
from msgspec.structs import replace

_MASK_LOAD = re.compile(r"KMOV[BWDQ]_MASKmskw_MEMu\d+_AVX512")
_WIDE_MASK_MOVES = {
    "KMOVQ_MASKmskw_GPR64u64_AVX512": "KMOVD_MASKmskw_GPR32u32_AVX512",
    "KMOVQ_GPR64u64_MASKmskw_AVX512": "KMOVD_GPR32u32_MASKmskw_AVX512",
}
_VECTOR = re.compile("[XYZ]MM")
_LENGTH = re.compile(r"_VL(128|256|512)$")
_NAMES = {"128": "XMM", "256": "YMM", "512": "ZMM"}


def sibling_form(iform: str) -> str | None:
    """The form that does the same with a register in place of memory, or with 32 bits in place of 64; None
    for forms without one, and without vectors and masks."""
    if _MASK_LOAD.fullmatch(iform):
        # What is loaded passes the unit that moves general registers to masks.
        return "KMOVD_MASKmskw_GPR32u32_AVX512"
    if iform in _WIDE_MASK_MOVES:
        return _WIDE_MASK_MOVES[iform]
    vector, length = _VECTOR.search(iform), _LENGTH.search(iform)
    if "_MEM" not in iform or not (vector or "_MASK" in iform):
        return None
    register = vector[0] if vector else _NAMES[length[1]] if length else "XMM"
    return _LENGTH.sub("", iform).replace("_MEM", f"_{register}", 1)


def completed(
    facts: InstructionFacts, candidates: Callable[[str], Sequence[InstructionFacts]]
) -> InstructionFacts:
    """The record with the latencies of its sibling to each result for which it states none.

    ``candidates``: the records of a form on the same core.
    """
    stated = {
        target
        for (_, target), pair in facts.latencies.items()
        if (pair.cycles, pair.address, pair.memory, pair.same_register) != (None, None, None, None)
    }
    unstated = [each for each in facts.operands if each.written and each.kind == "reg"]
    unstated = [each for each in unstated if each.index not in stated]
    form = sibling_form(facts.iform) if unstated else None
    if form is None:
        return facts
    kind = _kind(facts)
    sibling = next((each for each in candidates(form) if _kind(each) == kind), None)
    if sibling is None:
        return facts
    latencies = dict(facts.latencies)
    loads = [each for each in facts.operands if each.kind == "mem" and each.read]
    sources = loads or [each for each in facts.operands if each.kind == "reg" and each.read]
    for target in unstated:
        cycles = _slowest(sibling, target.name)
        if cycles is not None:
            pair = Latency(after_load=cycles) if loads else Latency(cycles=cycles)
            latencies |= {(source.index, target.index): pair for source in sources}
    return replace(facts, latencies=latencies)


def _kind(facts: InstructionFacts) -> tuple[str, ...]:
    """What tells apart the records of one form."""
    return tuple([facts.attributes.get(name, "0") for name in ("mask", "zeroing", "sae")])


def _slowest(facts: InstructionFacts, result: str) -> int | None:
    """Cycles to a result from its slowest source; None if none is stated."""
    targets = {each.index for each in facts.operands if each.name == result and each.kind == "reg"}
    return max(
        (
            pair.cycles
            for (_, target), pair in facts.latencies.items()
            if target in targets and pair.cycles is not None
        ),
        default=None,
    )
