"""Instructions in AT&T syntax, which other tools read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cyclelens.analyzer.model.instruction import Instruction
from iced_x86 import Decoder, Formatter, FormatterSyntax

_START = ".Lstart"


def att_loop(instructions: Sequence[Instruction]) -> str:
    """A line each behind a label; a jump to the first of them names it, any other has the offset in bytes."""
    formatter = Formatter(FormatterSyntax.GAS)
    formatter.rip_relative_addresses = True
    lines = [f"{_START}:"]
    ends = accumulate(one.length for one in instructions)
    for instruction, end in zip(instructions, ends, strict=True):
        (decoded,) = Decoder(64, instruction.code, ip=end - instruction.length)
        text = formatter.format(decoded)
        if instruction.branch_displacement is not None and end + instruction.branch_displacement == 0:
            text = f"{formatter.format_mnemonic(decoded)} {_START}"
        lines.append(f"\t{text}")
    return "\n".join([*lines, ""])
