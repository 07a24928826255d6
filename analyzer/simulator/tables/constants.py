"""Numbers that several stages share. Plain integers, so that compiled stages can hold them as such."""

from __future__ import annotations

from cyclelens.analyzer.model.units import UopKind

FOREVER = -1
"""Ready time of a value that was there before the simulation began."""
UNKNOWN = -2
"""A cycle that is not known yet."""
NONE = -1
"""No index."""
ELIMINATED = -2
"""In the port column: the uop was an eliminated move."""

NO_SOURCE, MITE, MS, DSB, LSD, STACK_ENGINE = 0, 1, 2, 3, 4, 5
SOURCE_NAMES = ("", "MITE", "MS", "DSB", "LSD", "SE")
"""By the numbers of the front-end sources above."""

COMPUTE = int(UopKind.COMPUTE)
EMPTY = int(UopKind.EMPTY)
LOAD = int(UopKind.LOAD)
STORE_ADDRESS = int(UopKind.STORE_ADDRESS)
STORE_DATA = int(UopKind.STORE_DATA)
SYNC = int(UopKind.SYNC)
MERGE = int(UopKind.MERGE)
"""Uop kinds; SYNC and MERGE are the ones that belong to no instruction's own list, and the largest."""

HELD_BY_UNIT, HELD_BY_FENCE = 1, 2
HELD_NAMES = ("", "unit", "fence")
"""By the numbers above."""

RESOURCES = (
    "load buffer",
    "store buffer",
    "branch buffer",
    "integer registers",
    "vector registers",
    "registers",
    "load matrix",
)
"""The resources that are optional in the model, by number. ``registers`` is the limit over both files."""

CODE_LINE = 64
FETCH_BLOCK = 16
"""Bytes."""
