"""Cycles per iteration that the predecoder needs."""

from __future__ import annotations

from math import ceil, gcd

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def predecoder_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """The block is laid end to end until the 16-byte pattern repeats. A 16-byte piece takes a cycle for every
    five instructions that end in it, one more place for each whose opcode is in it but whose end is not, and
    three cycles for every length-changing prefix, less what the piece before spent beyond its first cycle.

    Cores that count macro-ops have no such pieces: so many bytes go to the decoders in a cycle (M1 of
    docs/zen5.md).
    """
    if microarchitecture.macro_ops is not None:
        return sum(len(each.instruction.code) for each in block.instructions) / (
            microarchitecture.macro_ops.decode_bytes
        )
    width, piece = microarchitecture.predecode_width, microarchitecture.predecode_block_bytes
    lengths = [template.instruction.length for template in block.instructions]
    size = sum(lengths)
    copies = 1 if block.loop else piece // gcd(size, piece)
    pieces = ceil(copies * size / piece)
    in_piece = [0] * pieces
    prefixes = [0] * pieces

    position = block.alignment % piece
    position -= piece if position else 0
    while position < copies * size:
        for template, length in zip(block.instructions, lengths, strict=True):
            if position >= copies * size:
                break
            end = (position + length - 1) // piece
            opcode = (position + template.instruction.opcode_offset) // piece
            if 0 <= end < pieces:
                in_piece[end] += 1
            if 0 <= opcode < pieces:
                in_piece[opcode] += opcode != end
                prefixes[opcode] += template.length_changing_prefix
            position += length

    cycles = [ceil(instructions / width) for instructions in in_piece]
    stalls = sum(
        max(0, microarchitecture.length_changing_prefix_penalty * prefixes[number] - (cycles[number - 1] - 1))
        for number in range(pieces)
    )
    return (sum(cycles) + stalls) / copies
