"""Parses ``perf annotate --stdio``: samples per instruction of each sampled function.

A heading names the event and the number of samples. Below it each instruction follows its share, as in
``   12.50 :   401139:  addss %xmm1,%xmm0``, or its number of samples with ``-n``.
"""

from __future__ import annotations

import re
from collections import Counter

from cyclelens.analyzer.profiles.profile import CodeLocation

_HEADING = r"\s*(Percent|Samples|Period)\b[^|]*\|(.*)"
_EVENT = r"\bfor (?:event )?'?([\w.:/=,-]+)"
_TOTAL = r"\((\d+) samples"
_FUNCTION = r"\s*+:\s*+(?:\d++\s++)?([0-9a-f]{6,}+) <([^>]++)>:"
_INSTRUCTION = r"\s*+(\d++(?:\.\d++)?+)?+[\s\d.]*+:\s++([0-9a-f]++):\s++\S"
"""Quantifiers are possessive, so matching takes linear time even on a long line of digits and spaces."""


class Annotations:
    """Accumulates samples line by line."""

    def __init__(self) -> None:
        self.samples: Counter[CodeLocation] = Counter()
        self.by_instructions = False
        self._found = False
        self._unit = 1.0
        """Samples per unit that a line shows (percent, samples or period)."""
        self._function = ("", 0)

    def read(self, line: str) -> None:
        """Add the samples of one line; other lines are ignored."""
        if heading := re.match(_HEADING, line):
            total, event = re.search(_TOTAL, heading[2]), re.search(_EVENT, heading[2])
            # Without a sample count, all functions of a file weigh the same.
            self._unit = (int(total[1]) if total else 100) / 100 if heading[1] == "Percent" else 1.0
            self.by_instructions = event is not None and "instr" in event[1]
            self._function = ("", 0)
            self._found = True
        elif not self._found or ":" not in line:
            return
        elif function := re.match(_FUNCTION, line):
            self._function = (function[2], int(function[1], 16))
        elif (instruction := re.match(_INSTRUCTION, line)) and instruction[1]:
            address, (name, base) = int(instruction[2], 16), self._function
            place = CodeLocation(name, address - base if name else 0, address)
            self.samples[place] += float(instruction[1]) * self._unit  # type: ignore[assignment]
