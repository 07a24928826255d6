"""Measures many blocks of machine code in turn and writes a file for ``evaluate``."""

from __future__ import annotations

from cyclelens.analyzer.isa.counted_loop import loop_end, usual_copies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.measuring.region import vector_bits
from cyclelens.analyzer.measuring.repeated import repeated
from cyclelens.analyzer.measuring.requests import (
    REGISTERS,
    SAME,
    Counter,
    Inputs,
    Measurement,
    MeasurementRequest,
)
from cyclelens.analyzer.model.choices import Repetition


def measure_block(
    harness: Harness, block: str, mode: Repetition, runs: int, inputs: Inputs = SAME
) -> Measurement:
    """Measure one block, given in hexadecimal. Raises ``CannotMeasure``.

    It runs as copies from the decoders, alone in a counted loop, or as copies in such a loop. All registers
    and words hold the same value, as in published sets."""
    try:
        code = bytes.fromhex(block)
    except ValueError:
        return Measurement(None, "not hexadecimal")
    instructions = decode(code)
    if not instructions:
        return Measurement(None, "empty block")
    reason = refusal(instructions, inputs.registers)
    if reason:
        return Measurement(None, reason)
    loop = mode is not Repetition.UNROLL
    copies = usual_copies(instructions) if mode is Repetition.COPIES else 1
    counter = Counter(15)
    if loop:
        end = loop_end(instructions)
        if end is None:
            return Measurement(None, "the block uses every register: none is left for the loop counter")
        counter = Counter(REGISTERS.index(decode(end)[0].operands[0].register or "R15"))
    request = MeasurementRequest(
        code=code,
        instructions=len(instructions),
        loop=loop,
        copies=copies,
        counter=counter,
        vector_bits=vector_bits(code),
        inputs=inputs,
    )
    return repeated(harness, request, runs)
