"""Formats instructions in AT&T syntax for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cyclelens.analyzer.model.instruction import Instruction
from iced_x86 import Decoder, Formatter, FormatterSyntax

_START = ".Lstart"


def att_loop(instructions: Sequence[Instruction]) -> str:
    """One instruction per line after a label. A jump to the first instruction names the label; any other jump
    has its offset in bytes."""
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
