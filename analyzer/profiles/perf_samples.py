"""Parses the samples of ``perf script``: one location per sample, with the program or library it lies in.

A sample is one line, ``prog 17 385.528: 250000 cycles:u: 55d0c1401139 dot+0x19 (/tmp/prog)``. With call
chains it is a line that ends at the event, and below it one line per caller, the sampled instruction first.
The addresses of call chains are offsets in files, so only their symbols count. The period, in front of the
event, says how many events a sample stands for.

Profiles are untrusted, so every pattern here matches in linear time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from cyclelens.analyzer.profiles.profile import CodeLocation

_EVENT = r"(?:(?<!\S)\d{1,12}\.\d{1,9}:\s++(\d{1,18})\s++)?+(?<!\S)([A-Za-z]\S{0,80}):"
_SAMPLE = re.compile(_EVENT + r"\s++([0-9a-f]{1,16})(?!\S)")
_HEADING = re.compile(_EVENT + r"\s*+$")
_BEFORE_ADDRESS = 300
"""Most characters up to the end of the address. A process's name has at most 15, the other fields a fixed
width."""
_CALLER = re.compile(r"\s++([0-9a-f]{1,16})(?!\S)\s*+(.*)$")
_FILE = r"\(([^()]*+(?:\([^()]*+\))?+[^()]*+)\)"
"""The file in parentheses, which may have some itself: ``(/tmp/prog (deleted))``."""
_PLACE = re.compile(rf"(?:(\S.*?)(?:\+0x([0-9a-f]{{1,16}}))?+ )?{_FILE}")
_SYMBOL = re.compile(r"([^\s+/]++)(?:\+0x([0-9a-f]{1,16}))?+(?!\S)")
_UNKNOWN = "[unknown]"
_DELETED = " (deleted)"
_TIME = ("cycles", "clock")
"""Parts of the names of events that count time."""


class Samples:
    """Accumulates samples line by line, each event by itself."""

    def __init__(self) -> None:
        self._events: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        """Event -> (address, rest of the line) -> sum of the periods."""
        self._counts: Counter[str] = Counter()
        self._heading: tuple[str, int] | None = None
        """Event and period of a sample whose location is on the next line."""

    def read(self, line: str) -> None:
        """Count the sample of one line; other lines are ignored."""
        if self._heading is not None:
            (event, period), self._heading = self._heading, None
            if found := _CALLER.match(line):
                self._add(event, period, "", found[2])
        elif ":" not in line:
            return
        elif found := _SAMPLE.search(line, 0, _BEFORE_ADDRESS):
            self._add(found[2], int(found[1] or 1), found[3], line[found.end() :].strip())
        elif len(line) < _BEFORE_ADDRESS and (found := _HEADING.search(line)):
            self._heading = found[2], int(found[1] or 1)

    def _add(self, event: str, period: int, address: str, rest: str) -> None:
        self._events[event][address, rest] += period
        self._counts[event] += 1

    @property
    def event(self) -> str:
        """The event that counts time, otherwise the first; empty without samples."""
        return next((name for name in self._events if any(part in name for part in _TIME)), "") or next(
            iter(self._events), ""
        )

    def found(self) -> Mapping[CodeLocation, float]:
        """Samples of that event per location. A sample weighs as much as its period, and the weights add up
        to the number of samples."""
        periods = self._events.get(self.event, Counter())
        total = sum(periods.values())
        unit = self._counts[self.event] / total if total else 0.0
        samples: Counter[CodeLocation] = Counter()
        for (address, rest), period in periods.items():
            samples[_place(address, rest)] += period * unit  # type: ignore[assignment]
        return samples


def _place(address: str, rest: str) -> CodeLocation:
    at = int(address, 16) if address else None
    found = _PLACE.match(rest)
    symbol = found if found is not None else _SYMBOL.match(rest)
    name, offset = ("", "") if symbol is None else (symbol[1] or "", symbol[2] or "0")
    if name == _UNKNOWN:
        name = ""
    file = "" if found is None else found[3].removesuffix(_DELETED)
    return CodeLocation(name, int(offset or "0", 16) if name else 0, at, "" if file == _UNKNOWN else file)
