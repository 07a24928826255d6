"""Measures many blocks of machine code in turn and writes a file for ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.isa.counted_loop import loop_end, usual_copies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.measuring.region import vector_bits
from cyclelens.analyzer.measuring.repeated import Measuring, repeated
from cyclelens.analyzer.measuring.requests import (
    REGISTERS,
    SAME,
    Counter,
    Inputs,
    Measurement,
    MeasurementRequest,
)
from cyclelens.analyzer.model.choices import Repetition

_NONE = 0.01
"""Most events of one kind per copy of a block that count as none."""


class Rejecting:
    """Measures with a second harness, which counts events, and rejects blocks in which one happens.

    As in "BHive: A Benchmark Suite and Measurement Framework for Validating x86-64 Basic Block Performance
    Models" (Chen et al., 2019): a block that misses the first-level cache or crosses cache lines tests no
    model of the core. ``names``: the events that ``counting`` counts, in its order."""

    def __init__(self, harness: Measuring, counting: Measuring, names: Sequence[str]) -> None:
        self._harness, self._counting, self._names = harness, counting, names

    def measure(self, request: MeasurementRequest) -> Measurement:
        """Measure one block; the problem of a rejected one names the first event and how often it happens."""
        found = self._harness.measure(request)
        if found.cycles is None:
            return found
        counted = self._counting.measure(request)
        if counted.cycles is None:
            return counted
        for name, number in zip(self._names, counted.events, strict=True):
            if number > _NONE:
                return Measurement(None, f"rejected: {number:.2f} {name} per copy")
        return found


def measure_block(
    harness: Measuring, block: str, mode: Repetition, runs: int, inputs: Inputs = SAME
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
