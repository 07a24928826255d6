"""Addresses: which form every jump takes, how much every alignment fills, and the final bytes.

Jumps start in their short form and grow until all of them reach, as GNU as does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cyclelens.analyzer.assembly.directives import Alignment
from cyclelens.analyzer.assembly.instructions import Jump

MAXIMUM_PASSES = 64
"""Passes after which every jump still short is made near; real code needs three or four."""


@dataclass(slots=True)
class Piece:
    """One statement's share of the code: bytes, an alignment, or a jump within this layout or out of it."""

    code: bytes = b""
    backend: str = "cyclelens"
    """Who made the bytes."""
    alignment: Alignment | None = None
    jump: Jump | None = None
    target: int | None = None
    """Index of the piece that the jump goes to; the number of pieces for the end; None for outside."""
    offset: int = 0
    unreachable: bool = False
    """Only a short form exists and it does not reach."""
    near: bool = False


def lay_out(pieces: Sequence[Piece], origin: int = 0) -> None:
    """Set offsets, and the bytes of jumps and alignments. ``origin``: address of the first byte."""
    for piece in pieces:
        if piece.jump is not None:
            forms = piece.jump.forms
            piece.near = forms.short is None or (
                forms.near is not None and (piece.target is None or piece.jump.target.near)
            )
    for number in range(MAXIMUM_PASSES):
        end = _place(pieces, origin)
        if not _grow(pieces, end, everything=number == MAXIMUM_PASSES - 2):
            break
    for piece in pieces:
        if piece.jump is not None:
            piece.code = _encode(pieces, piece, end)


def _place(pieces: Sequence[Piece], origin: int) -> int:
    """Offsets under the present choice of forms; returns the offset of the end."""
    offset = origin
    for piece in pieces:
        piece.offset = offset
        if piece.alignment is not None:
            piece.code = piece.alignment.padding(offset)
            offset += len(piece.code)
        elif piece.jump is not None:
            offset += _size(piece, piece.jump)
        else:
            offset += len(piece.code)
    return offset


def _size(piece: Piece, jump: Jump) -> int:
    opcode = jump.forms.near if piece.near else jump.forms.short
    assert opcode is not None
    return len(jump.prefix) + len(opcode) + (4 if piece.near else 1)


def _distance(pieces: Sequence[Piece], piece: Piece, jump: Jump, end: int) -> int:
    """Displacement: from the end of the jump to its target; 0 for targets outside."""
    if piece.target is None:
        return 0
    target = pieces[piece.target].offset if piece.target < len(pieces) else end
    return target - piece.offset - _size(piece, jump)


def _grow(pieces: Sequence[Piece], end: int, *, everything: bool) -> bool:
    """Make near what does not reach; tells whether anything changed."""
    changed = False
    for piece in pieces:
        jump = piece.jump
        if jump is None or piece.near or jump.forms.near is None:
            continue
        if everything or not -128 <= _distance(pieces, piece, jump, end) <= 127:
            piece.near = changed = True
    return changed


def _encode(pieces: Sequence[Piece], piece: Piece, end: int) -> bytes:
    jump = piece.jump
    assert jump is not None
    distance = _distance(pieces, piece, jump, end)
    if piece.near:
        assert jump.forms.near is not None
        return jump.prefix + jump.forms.near + (distance % (1 << 32)).to_bytes(4, "little")
    assert jump.forms.short is not None
    piece.unreachable = not -128 <= distance <= 127
    return jump.prefix + jump.forms.short + (distance % 256).to_bytes(1, "little")
