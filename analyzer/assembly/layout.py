"""Addresses: which form every jump takes, how much every alignment fills, and the final bytes.

Jumps start in their short form and grow until all of them reach, in the order in which GNU as does it: an
alignment that is longer for a while must not make a jump long for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

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
    beyond: int = 0
    """Bytes from there to where the jump really goes."""
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
    end = _place(pieces, origin)
    for number in range(MAXIMUM_PASSES):
        moved = _relax(pieces, end, everything=number == MAXIMUM_PASSES - 2)
        if moved is None:
            break
        end += moved
    for piece in pieces:
        if piece.jump is not None:
            piece.code = _encode(pieces, piece, end)


def find_targets(pieces: Sequence[Piece]) -> None:
    """Once all addresses are known: the pieces that jumps to some bytes behind another one go to."""
    places: dict[int, int] = {}
    for at, piece in enumerate(pieces):
        if piece.code:
            places.setdefault(piece.offset, at)
    for piece in pieces:
        if piece.target is not None and piece.beyond:
            base = pieces[piece.target].offset if piece.target < len(pieces) else _end(pieces)
            piece.target, piece.beyond = places.get(base + piece.beyond), 0


def _end(pieces: Sequence[Piece]) -> int:
    return pieces[-1].offset + len(pieces[-1].code) if pieces else 0


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
    return target + piece.beyond - piece.offset - _size(piece, jump)


def _relax(pieces: Sequence[Piece], end: int, *, everything: bool) -> int | None:
    """Make near what does not reach, and move what stands behind at once, as GNU as does it. Returns the
    bytes by which the end moves; None if nothing changed.

    A jump forward sees its target moved as it is itself, unless an alignment between may take that up.
    """
    stretch, changed = 0, False
    alignments = list(accumulate(piece.alignment is not None for piece in pieces))
    for at, piece in enumerate(pieces):
        piece.offset += stretch
        if piece.alignment is not None:
            before = len(piece.code)
            piece.code = piece.alignment.padding(piece.offset)
            stretch += len(piece.code) - before
            changed = changed or len(piece.code) != before
            continue
        jump, target = piece.jump, piece.target
        if jump is None or target is None or piece.near or jump.forms.near is None:
            continue
        distance = _distance(pieces, piece, jump, end)
        if target > at and stretch:
            last = min(target, len(pieces) - 1)
            if stretch < 0 or alignments[last] == alignments[at]:
                distance += stretch
            elif distance < -_size(piece, jump):
                continue
        if everything or not -128 <= distance <= 127:
            before = _size(piece, jump)
            piece.near = changed = True
            stretch += _size(piece, jump) - before
    return stretch if changed else None


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
