"""Numbers that several stages share. Plain integers, so that compiled stages can hold them as such."""

from __future__ import annotations

from cyclelens.analyzer.model.units import UopKind

FOREVER = -1
"""Ready time of a value that was there before the simulation began."""
UNKNOWN = -2
"""A cycle that is not known yet."""
NONE = -1
"""No index."""
NEVER = 1 << 30
"""More cycles than any run has."""
BLOCKED = 1
"""Of a load: it needs bytes that no single store has, and waits until the store has left."""
MISTAKEN = 2
"""Of a load: it waits as long, because it was taken for one of what the store stores."""
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

HELD_BY_UNIT, HELD_BY_FENCE, HELD_BY_DIVIDER = 1, 2, 3
HELD_NAMES = ("", "unit", "fence", "unit")
"""By the numbers above. The last two units are still busy with the same instruction of before; a fence holds
back itself as well, and all uops of its instruction."""

QUEUED_FOR_PORT, QUEUED_FOR_DIVIDER, QUEUED_FOR_PAIR = 1, 2, 3
QUEUED_NAMES = ("", "port", "divider", "pair")
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
"""Why issue slots of a cycle stayed empty, by the numbers above; the first: none did. Up to ``JCC`` the IDQ
was empty, and the name says what kept the front end; from ``RS_FULL`` on the named buffer had no room. The
resource with the number n stands at ``RESOURCE_FULL + n``."""
RETIRING = 32
"""Added to the number of a buffer that retirement empties as fast as it can."""
SCHEDULERS = 64
"""This many for every scheduler before it, and once more, are added to ``RS_FULL`` where one of several is
full."""

NO_CLASS, GPR_CLASS, SIMD_CLASS = -1, 0, 1
"""Register classes of move elimination."""

CODE_LINE = 64
FETCH_BLOCK = 16
"""Bytes."""
LINE_WORDS = 16
"""Words of four bytes in a line of data."""
