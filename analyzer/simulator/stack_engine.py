"""The stack engine: RSP changes by PUSH and POP without uops, and the uops that synchronise (E1 to E5)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.columns import Columns

_MAX_OFFSET = 192
"""Only upwards: long runs of POP synchronise, runs of PUSH never do (uiCA model, 3.8)."""


class StackEngine:
    """Tracks the offset between the engine's RSP and the renamed one, in bytes."""

    def __init__(self, columns: Columns) -> None:
        self._program = columns.program
        self._offset = 0

    def passes(self, instruction: int) -> bool:
        """An instruction's first uop passes; True if a synchronisation uop must precede it."""
        program = self._program
        needed = False
        if self._offset and program.i_rsp_explicit[instruction]:
            needed = True
            self._offset = 0
        self._offset += program.i_rsp_change[instruction]
        if self._offset > _MAX_OFFSET:
            needed = True
            self._offset = 0
        if program.i_rsp_written[instruction]:
            self._offset = 0
        return needed
