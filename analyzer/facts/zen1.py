"""Corrects uops.info's figures for Zen+, which stand for the first Zen too (data/SOURCES.md).

Divisions of doubles were measured with fast operands: 4 cycles from one to the next, and 8 to the result.
With others they take up to 5 and 13: Agner Fog's instruction tables have a latency of 8 to 13 and one in 4 to
5 cycles, GCC's ``znver.md`` has 13 and 5, and the loops of the OSACA papers take 4.9 cycles per division. One
of 256 bits is two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = "ZEN+"
_OF_DOUBLES = re.compile(r"V?DIV[PS]D \(.*")
_THROUGHPUTS = {"4.00": "5.00", "8.00": "10.00"}
"""Cycles per instance, as published -> with slow operands."""
_LATENCIES = {"8": "13"}


def corrected(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a measurement before it is completed, with these corrections."""
    result = dict(attributes)
    if _OF_DOUBLES.fullmatch(name):
        for key in ("TP_loop", "TP_ports"):
            if key in result:
                result[key] = _THROUGHPUTS.get(result[key], result[key])
    return result


def corrected_latency(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """A latency with these corrections."""
    result = dict(attributes)
    if _OF_DOUBLES.fullmatch(name) and "cycles" in result:
        result["cycles"] = _LATENCIES.get(result["cycles"], result["cycles"])
    return result
