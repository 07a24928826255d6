"""Numbers that several stages share. They are plain integers so that compiled stages can use C numbers."""

from __future__ import annotations

from cyclelens.analyzer.model.units import UopKind

FOREVER = -1
"""Ready time of a value from before the simulation began."""
UNKNOWN = -2
"""A cycle that is not known yet."""
NONE = -1
"""No index."""
NEVER = 1 << 30
"""More cycles than any run has."""
BLOCKED = 1
"""State of a load that needs bytes from more than one store and waits until the store has left."""
MISTAKEN = 2
"""State of a load that waits equally long, because it was mistaken for a load of what the store writes."""
ELIMINATED = -2
"""In the port column: the uop was an eliminated move."""

NO_SOURCE, MITE, MS, DSB, LSD, STACK_ENGINE = 0, 1, 2, 3, 4, 5
SOURCE_NAMES = ("", "MITE", "MS", "DSB", "LSD", "SE")
"""Names of the front-end sources, by the numbers above."""

COMPUTE = int(UopKind.COMPUTE)
EMPTY = int(UopKind.EMPTY)
LOAD = int(UopKind.LOAD)
STORE_ADDRESS = int(UopKind.STORE_ADDRESS)
STORE_DATA = int(UopKind.STORE_DATA)
SYNC = int(UopKind.SYNC)
MERGE = int(UopKind.MERGE)
"""Uop kinds. SYNC and MERGE are not in any instruction's own list, and are the largest."""

HELD_BY_UNIT, HELD_BY_FENCE, HELD_BY_DIVIDER = 1, 2, 3
HELD_NAMES = ("", "unit", "fence", "unit")
"""Names by the numbers above. Unit and divider are still busy with the previous instance of the instruction.
A fence also holds back itself and all uops of its instruction."""

QUEUED_FOR_PORT, QUEUED_FOR_DIVIDER, QUEUED_FOR_PAIR = 1, 2, 3
QUEUED_NAMES = ("", "port", "divider", "pair")
"""Names by the numbers above."""

RESOURCES = (
    "load buffer",
    "store buffer",
    "branch buffer",
    "integer registers",
    "vector registers",
    "registers",
    "load matrix",
)
"""The optional resources of the model, by number. ``registers`` is the limit over both register files."""

PREDECODER, LCP, DECODER, LATE_MICROCODE, MICROCODE_SWITCH, LATE_DSB, DSB_SWITCH, LATE_LSD, JCC = range(1, 10)
ISSUE_GROUP, REGISTER_MERGE, SERIALIZATION = range(10, 13)
RS_FULL, ROB_FULL, RESOURCE_FULL = range(13, 16)
STORE_BUFFER_FULL = 16
REFUSALS = (
    "",
    "predecoder",
    "LCP",
    "decoder",
    "MS",
    "MS switch",
    "DSB",
    "DSB switch",
    "LSD",
    "JCC erratum",
    "issue group",
    "register merge",
    "serialization",
    "RS",
    "ROB",
    *RESOURCES,
)
"""Reasons for empty issue slots in a cycle, by the numbers above; the first one means that none stayed
empty. Up to ``JCC`` the IDQ was empty, and the name says what delayed the front end; from ``RS_FULL`` on the
named buffer was full. Resource number n is at ``RESOURCE_FULL + n``."""
RETIRING = 32
"""Added to the number of a buffer that retirement empties at full speed."""
SCHEDULERS = 64
"""Added to ``RS_FULL`` if one of several schedulers is full: once, and once more per scheduler before it."""

NO_CLASS, GPR_CLASS, SIMD_CLASS = -1, 0, 1
"""Register classes of move elimination."""

CODE_LINE = 64
FETCH_BLOCK = 16
"""Size in bytes."""
LINE_WORDS = 16
"""Words of four bytes in a line of data."""
