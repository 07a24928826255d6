"""Bound of the predecoder, in cycles per iteration."""

from __future__ import annotations

from math import ceil, gcd

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def predecoder_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration, with copies laid end to end until the 16-byte pattern repeats.

    A 16-byte piece takes a cycle per five instructions that end in it; an instruction whose opcode is in the
    piece but whose end is not counts too. Each length-changing prefix adds three cycles, less what the
    previous piece spent beyond its first cycle. Cores that count macro-ops have no such pieces: a fixed
    number of bytes goes to the decoders per cycle (M1 of docs/zen5.md).
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
