"""Extra cost of loads under a harness that maps all pages to one physical page (M22). This is a property of
the measurement, not of the code."""

from __future__ import annotations

from cyclelens.analyzer.model.macro_ops import OnePage
from cyclelens.analyzer.simulator.tables.arrays import Long, longs
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE
from cyclelens.analyzer.simulator.tables.in_flight import InFlight

_PAGE = 4096
_LINES = _PAGE // CODE_LINE
_UNKNOWN = 1 << 42
"""Addresses from here on contain unknown values."""


class LinesOfOnePage:
    """The pages through which each line of the physical page was read, the latest first."""

    def __init__(self, columns: Columns, in_flight: InFlight, rules: OnePage | None, *, active: bool) -> None:
        self.active: bool = active and rules is not None
        self._columns = columns
        self._program = columns.program
        self._flight = in_flight
        self._slots = 1 if rules is None else rules.other_page_slots
        self._walking = 0 if rules is None else rules.walking_stack_eighths
        self._remembered = 1 if rules is None else rules.lines_remembered
        self._pages = longs(_LINES * self._remembered)

    def start(self) -> None:
        """Reset: nothing was read."""
        for place in range(_LINES * self._remembered):
            self._pages[place] = 0

    def read(self, uop: int, address: Long) -> None:
        """A load reads this address and may occupy the address units for longer."""
        if not self.active or address >= _UNKNOWN:
            return
        line: int = address // CODE_LINE % _LINES
        page: Long = address // _PAGE + 1
        first = line * self._remembered
        if self._pages[first] == page:
            return
        known = False
        for place in range(first, first + self._remembered):
            if self._pages[place] == page:
                known = True
        for place in range(first + self._remembered - 1, first, -1):
            self._pages[place] = self._pages[place - 1]
        self._pages[first] = page
        slot = uop & self._flight.uop_mask
        if known or self._program.i_rsp_change[self._columns.position[uop]] <= 0:
            self._flight.u_slots[slot] = self._slots
        else:
            self._flight.u_harness[slot] = self._walking
