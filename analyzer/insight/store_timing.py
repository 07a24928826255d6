"""Names loops whose time depends on how soon a load comes after a store, which the model leaves out.

mov [rsp], edi; dec ecx; mov edi, [rsp]             6.3 cycles on Sandy Bridge, 5.0 in the model
mov rax, [rax]; mov qword ptr [rax+8], 8            9 cycles on Ivy Bridge, 4.0 in the model
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.assumption_codes import CHASED_STORES, FORWARDING_TIME
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.microarchitectures import loop_caveats
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Assumption, Prediction
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import canonical, is_simd

_DEPENDENCIES = "Dependencies"
_LIMITS = 0.95
"""Share of the figure up to which other bounds leave it to a chain."""
_SHORTER = 4
"""Cycles by which the tables' latency of a store, measured at best, may be shorter than in the model."""
_DIFFERENT = 0.05
"""Least share of the figure that is worth a word."""


def store_timing(prediction: Prediction) -> Iterator[Assumption]:
    """Forwarding in the critical chain, and a chain of loads beside stores through its pointers."""
    accesses = [access for each in prediction.instructions for access in each.memory_operands]
    reads, writes = any(each.read for each in accesses), any(each.written for each in accesses)
    if prediction.mode is not Mode.ONCE and reads and writes:
        yield from _forwarding_time(prediction)
        yield from _chased_stores(prediction)


def _forwarding_time(prediction: Prediction) -> Iterator[Assumption]:
    figure = prediction.cycles_per_iteration
    others = (cycles for name, cycles in prediction.bounds.items() if name != _DEPENDENCIES)
    if max(others, default=0.0) > _LIMITS * figure:
        return
    known = dependencies(prediction)
    if not known.chains:
        return
    stores = [link.instruction for link in known.chains[0] if link.value == "memory"]
    shortest = float(known.cycles_per_iteration)
    if figure > shortest + _SHORTER * len(stores) / known.chain_iterations[0]:
        return  # These loads wait for more than forwarding.
    times = loop_caveats.FORWARDING_TIMES[prediction.microarchitecture]
    spreads = [times[_is_vector(prediction.instructions[each])] for each in stores]
    least, most = (figure + sum(each[end] for each in spreads) / known.chain_iterations[0] for end in (0, 1))
    if most - least > _DIFFERENT * figure:
        message = (
            "Forwarding from a store to a load always takes equally long. In fact it depends on how soon the "
            f"load comes: such chains were measured with {least:.2f} to {most:.2f} cycles per iteration."
        )
        values = {"least_cycles": round(least, 2), "most_cycles": round(most, 2)}
        yield Assumption(FORWARDING_TIME, message, tuple(sorted(set(stores))), values)


def _is_vector(template: InstructionTemplate) -> bool:
    return any(operand.register and is_simd(operand.register) for operand in template.instruction.operands)


def _chased_stores(prediction: Prediction) -> Iterator[Assumption]:
    chain = [prediction.instructions[index] for index, _ in prediction.chain]
    pointers = {
        canonical(access.base)
        for each in chain
        for access in each.memory_operands
        if access.read and access.base and access.index is None
    }
    if not chain or not all(each.memory_operands for each in chain):
        return
    found = tuple(
        index
        for index, each in enumerate(prediction.instructions)
        if any(
            access.written and access.base and canonical(access.base) in pointers
            for access in each.memory_operands
        )
    )
    loaded = {output.canonical for each in chain for output in each.register_outputs}
    if found and pointers <= loaded:
        most = len(chain) * loop_caveats.CHASED_STORE_CYCLES
        core = prediction.microarchitecture
        not_here = (
            ""
            if core == loop_caveats.CHASED_STORES_MEASURED_ON
            else f"; {core} was not measured and is assumed to do the same"
        )
        message = (
            "A store through a pointer does not delay the load of the next one. On Ivy Bridge a loop of such "
            f"a load took 4.2 to {loop_caveats.CHASED_STORE_CYCLES} cycles, by their order and distance"
            f"{not_here}: an iteration may take {most}."
        )
        yield Assumption(CHASED_STORES, message, found, {"most_cycles": most})
