"""Lays out a region's code for a run: what control skips between its pieces is put back as NOPs, so that the
jumps over it land where they should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.source import Region

LARGEST_GAP = 4096
"""Bytes between two pieces that are filled are fewer."""
NOT_ALONE = "the code cannot run by itself"
_NOP = b"\x90"


class CannotLayOut(Exception):
    """The pieces cannot be laid out as they are in memory; the message says why."""


def laid_out(region: Region) -> bytes:
    """The region's code with NOPs for the bytes between its pieces. Raises ``CannotLayOut``."""
    pieces = [line.code for line in region.lines]
    offsets: Sequence[int] = region.offsets
    if len(offsets) != len(pieces):
        pieces = [instruction.code for instruction in region.instructions]
        offsets = list(_by_jumps(region.instructions))
    made = b""
    for piece, offset in zip(pieces, offsets, strict=True):
        gap = offset - offsets[0] - len(made)
        if gap < 0:
            raise CannotLayOut("its pieces do not lie in memory in the order in which they run")
        if gap >= LARGEST_GAP:
            raise CannotLayOut(f"its pieces lie {gap} bytes apart; at most {LARGEST_GAP - 1} are filled")
        made += _NOP * gap + piece
    return made


def leaving(code: bytes) -> str:
    """Why code cannot run as copies end to end: it has a jump that is always taken to a place outside of the
    copy; empty if there is none."""
    at = 0
    for instruction in decode(code):
        at += instruction.length
        displacement = instruction.branch_displacement
        if (
            instruction.mnemonic == "jmp"
            and displacement is not None
            and not 0 <= at + displacement <= len(code)
        ):
            return "its jump goes to code that is not measured with it"
    return ""


def _by_jumps(instructions: Sequence[Instruction]) -> Iterator[int]:
    """Offsets of instructions in the order in which they run, as far as jumps tell them: what follows a jump
    that is always taken lies at its target."""
    at = 0
    for instruction in instructions:
        yield at
        at += instruction.length
        if instruction.mnemonic == "jmp":
            at += instruction.branch_displacement or 0
