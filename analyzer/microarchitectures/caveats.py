"""Lists what a core's published figures leave out: instructions whose time depends on later
microcode or on their operands."""

from __future__ import annotations

import re
from typing import NamedTuple

from cyclelens.analyzer.model.provenance import Certainty, Source

GATHERS = Source(
    Certainty.PUBLISHED,
    "SA-00828",
    "Intel-SA-00828, Gather Data Sampling (Downfall), 2023: the affected processors, and the microcode "
    "that delays data loaded by gathers",
)
BIT_MOVES = Source(
    Certainty.PUBLISHED,
    "llvm-project 217304",
    "llvm-project, pull request 217304: PDEP and PEXT are microcoded before Zen 3, and take 18 to 290 "
    "cycles, depending on the number of bits set in the mask",
)
PAGE_ALIASING = Source(
    Certainty.MEASURED,
    "chains",
    "A chain of loads after stores 4,096 and 8,192 bytes away, measured on an Emerald Rapids: 13.00 "
    "cycles; 6.00 at 4,352 bytes, where both addresses wait for one register; 6.00 if the store's "
    "address is known",
)


class BitMoves(NamedTuple):
    """Cycles of PDEP and PEXT on a core where they depend on the mask."""

    least: int
    most: int


_SLOWED_GATHERS = frozenset({"SKL", "SKX", "KBL", "CFL", "CLX", "ICL", "TGL", "RKL"})
_PAGE_ALIASING = {"ADL": 7, "SPR": 7}
_GATHER = re.compile(r"vp?gather[dq](?:[dq]|p[sd])")
_BIT_MOVES = {"ZEN+": BitMoves(18, 290), "ZEN2": BitMoves(18, 290)}


def is_slowed_gather(mnemonic: str, name: str) -> bool:
    """True if later microcode of the core makes the instruction slower than its
    published figures (GATHERS)."""
    return name in _SLOWED_GATHERS and _GATHER.fullmatch(mnemonic) is not None


def bit_moves(mnemonic: str, name: str) -> BitMoves | None:
    """Cycles of PDEP or PEXT on the core; None for other instructions, and on cores where the time
    is constant (BIT_MOVES)."""
    return _BIT_MOVES.get(name) if mnemonic in ("pdep", "pext") else None


def page_aliasing_cycles(name: str) -> int:
    """Extra cycles of a load that seems to depend on an earlier store, if measured and not a rule of the
    core; 0: not known (PAGE_ALIASING)."""
    return _PAGE_ALIASING.get(name, 0)
