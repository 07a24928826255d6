"""Moves the address of an instruction."""

from __future__ import annotations

from cyclelens.analyzer.isa.decoder import OPTIONS
from iced_x86 import Decoder, Encoder


def moved(code: bytes, distance: int) -> bytes:
    """An instruction with ``distance`` bytes added to the displacement of its memory operand, in the shortest
    form, as assemblers write it.

    Raises ValueError if the result cannot be encoded.
    """
    if not distance:
        return code
    instruction = Decoder(64, code, OPTIONS).decode()
    displacement = (instruction.memory_displacement + distance) % (1 << 64)
    instruction.memory_displacement = displacement
    # The encoder takes one byte if the value, or with EVEX its quotient, fits, and otherwise four.
    instruction.memory_displ_size = 1 if displacement else 0
    encoder = Encoder(64)
    encoder.encode(instruction, 0)
    return encoder.take_buffer()
