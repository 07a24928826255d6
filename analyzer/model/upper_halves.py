"""The upper halves of vector registers, bits 128 and above.

Legacy SSE keeps them, VEX and EVEX write or clear them, so a processor that runs both has to remember whether
any of them is in use. Registers 16 to 31, which legacy SSE cannot name, do not count.
"""

from __future__ import annotations

from enum import IntEnum


class UpperHalves(IntEnum):
    """What an instruction does to the upper halves of registers 0 to 15."""

    NOTHING = 0
    KEEPS = 1
    """Legacy SSE that writes a vector register and keeps the bits above 128.

    Instructions that only read vector registers (stores, MOVD to an integer register, UCOMISS, PTEST) do
    nothing.
    """
    WRITES = 2
    """An operation of 256 bits or more that writes a vector register, even if only 128 bits of it."""
    READS = 3
    """An operation of 256 bits or more that writes no vector register, such as a store."""
    USES = 4
    """VEX or EVEX of 128 bits or less."""
    CLEARS = 5
    """VZEROUPPER and VZEROALL."""
    LEAVES_UNKNOWN = 6
    """A call, or state loaded from memory."""

    @property
    def is_wide(self) -> bool:
        """True if it shows that upper halves are in use."""
        return self in (UpperHalves.WRITES, UpperHalves.READS)
