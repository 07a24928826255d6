"""Shortens latencies between general-purpose registers and vectors or masks, which are upper bounds in tables
(O11 of docs/pipeline.md).

movq rax, xmm0; movq xmm0, rax    takes 4 cycles on Skylake, not 6
"""

from __future__ import annotations

from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import is_general_purpose, is_simd
from msgspec.structs import replace


def with_shorter_transfers(prepared: Prepared, excess: int) -> Prepared:
    """The instruction with the latencies that both ways together were measured to have. What has a way within
    the general-purpose registers, too (PCMPESTRI), is no mere transfer. ``excess``: cycles to leave out."""
    inputs = [is_general_purpose(operand.name) for operand in prepared.register_inputs]
    outputs = [is_general_purpose(operand.name) for operand in prepared.register_outputs]
    names = [operand.name for operand in (*prepared.register_inputs, *prepared.register_outputs)]
    if (True in inputs) == (True in outputs) or not any(map(_is_vector_or_mask, names)):
        return prepared
    latencies = {
        key: cycles - excess
        if cycles > excess and key[0] == key[2] == "reg" and inputs[key[1]] != outputs[key[3]]
        else cycles
        for key, cycles in prepared.latencies.items()
    }
    return replace(prepared, latencies=latencies)


def _is_vector_or_mask(name: str) -> bool:
    return is_simd(name) or name.startswith("K")
