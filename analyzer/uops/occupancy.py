"""Keeps instances of an instruction apart whose uops do not show how long each takes (D3, D4, D9)."""

from __future__ import annotations

import re

from cyclelens.analyzer.microarchitectures.caveats import (
    STORE_FENCE_AFTER_WAIT,
    STORE_FENCE_CYCLES,
    bit_moves,
    pause_cycles,
    shortest_gather,
)
from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.microarchitecture import Maker, Microarchitecture
from cyclelens.analyzer.model.uops import STORE_ORDER
from msgspec.structs import replace

_SHARED = (
    (re.compile(r"vp?gather\w+"), "gathers"),
    (re.compile(r"v?aeskeygenassist"), "key generation"),
    (re.compile(r"v?ldmxcsr"), "MXCSR"),
    (re.compile(r"rdtscp?"), "time stamps"),
    (re.compile(r"rdrand|rdseed"), "random numbers"),
    (re.compile(r"sfence"), STORE_ORDER),
)
"""Mnemonics, and what all instances of these keep busy together (D9)."""


def occupied(
    figures: Figures, mnemonic: str, microarchitecture: Microarchitecture, *, hardware: bool, locked: bool
) -> Figures:
    """The figures with the cycles from one instance to the next, if there is a least.

    PDEP and PEXT take their fastest case. ``hardware``: measured throughputs count too, on Intel's cores,
    and different forms may keep each other waiting. AMD's have one for every instruction, and units are held
    where they do not explain it (``held.py``).
    """
    least = figures.tp or 0
    if (moves := bit_moves(mnemonic, microarchitecture.name)) is not None:
        least = max(least, moves.least)
    if hardware and mnemonic == "pause":
        least = pause_cycles(microarchitecture.name) or least
    shared, after_wait = "", None
    if hardware and microarchitecture.maker is Maker.INTEL:
        if figures.throughput is not None:
            least = max(least, round(figures.throughput))
        names = (what for each, what in _SHARED if each.fullmatch(mnemonic))
        shared = STORE_ORDER if locked else next(names, "")
        if mnemonic == "sfence":
            least, after_wait = STORE_FENCE_CYCLES, STORE_FENCE_AFTER_WAIT
        elif mnemonic.startswith(("vgather", "vpgather")):
            least = max(least, shortest_gather(microarchitecture.name))
    if least == (figures.tp or 0) and not shared:
        return figures
    return replace(figures, tp=least or None, tp_after_wait=after_wait, shared=shared)
