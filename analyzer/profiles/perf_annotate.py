"""``perf annotate --stdio``: how many samples hit each instruction of the functions that were sampled.

A heading names the event and how many samples there were; below it a share stands in front of each
instruction: ``   12.50 :   401139:  addss %xmm1,%xmm0``, or with ``-n`` the number of samples itself.
"""

from __future__ import annotations

import re
from collections import Counter

from cyclelens.analyzer.profiles.profile import CodeLocation

_HEADING = re.compile(r"\s*(Percent|Samples|Period)\b[^|]*\|(.*)")
_EVENT = re.compile(r"\bfor (?:event )?'?([\w.:/=,-]+)")
_TOTAL = re.compile(r"\((\d+) samples")
_FUNCTION = re.compile(r"\s*+:\s*+(?:\d++\s++)?([0-9a-f]{6,}+) <([^>]++)>:")
_INSTRUCTION = re.compile(r"\s*+(\d++(?:\.\d++)?+)?+[\s\d.]*+:\s++([0-9a-f]++):\s++\S")
"""Possessive throughout: a line of digits and spaces takes time in proportion to its length."""


class Annotations:
    """Collects what the lines say."""

    def __init__(self) -> None:
        self.samples: Counter[CodeLocation] = Counter()
        self.by_instructions = False
        self._found = False
        self._unit = 1.0
        """Samples that stand for what a line shows as 1."""
        self._function = ("", 0)

    def read(self, line: str) -> None:
        """Count the samples of a line; other lines are ignored."""
        if heading := _HEADING.match(line):
            total, event = _TOTAL.search(heading[2]), _EVENT.search(heading[2])
            # Without a number of samples the functions of a file have equal weights.
            self._unit = (int(total[1]) if total else 100) / 100 if heading[1] == "Percent" else 1.0
            self.by_instructions = event is not None and "instr" in event[1]
            self._function = ("", 0)
            self._found = True
        elif not self._found or ":" not in line:
            return
        elif function := _FUNCTION.match(line):
            self._function = (function[2], int(function[1], 16))
        elif (instruction := _INSTRUCTION.match(line)) and instruction[1]:
            address, (name, base) = int(instruction[2], 16), self._function
            place = CodeLocation(name, address - base if name else 0, address)
            self.samples[place] += float(instruction[1]) * self._unit  # type: ignore[assignment]
