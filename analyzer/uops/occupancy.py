"""Keeps instances of an instruction apart whose uops do not show how long each takes (D3, D4)."""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.caveats import bit_moves, pause_cycles
from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.microarchitecture import Maker, Microarchitecture
from msgspec.structs import replace


def occupied(
    figures: Figures, mnemonic: str, microarchitecture: Microarchitecture, *, hardware: bool
) -> Figures:
    """The figures with the cycles from one instance to the next, if there is a least.

    PDEP and PEXT take their fastest case. ``hardware``: measured throughputs count too, on Intel's cores.
    AMD's have one for every instruction, and units are held where they do not explain it (``held.py``).
    """
    least = figures.tp or 0
    if (moves := bit_moves(mnemonic, microarchitecture.name)) is not None:
        least = max(least, moves.least)
    intel = microarchitecture.maker is Maker.INTEL
    if hardware and intel and figures.throughput is not None:
        least = max(least, round(figures.throughput))
    if hardware and mnemonic == "pause":
        least = pause_cycles(microarchitecture.name) or least
    return replace(figures, tp=least) if least != (figures.tp or 0) else figures
