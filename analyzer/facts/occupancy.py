"""Keeps the measured throughput of instructions that Intel's cores start less often than their uops
explain (D4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SLOW = re.compile(
    r"V?P?GATHER\w+ \(.*"
    r"|(V?LDMXCSR|V?AESKEYGENASSIST|CLFLUSH|CLFLUSHOPT|CLWB|ENTER|ENTER_W|RDRAND|RDSEED) \(.*"
    r"|VPCOMPRESS[BW](_Z)? \(M.*|RDTSCP"
)
"""uops.info measured up to three times the cycles that ports, divider and issue width explain, on several
cores, and none of them waits for its own result. Instructions whose measured sequence may be such a chain
(``LEAVE``, ``RCL``, SHA, ``CMPXCHG``) are not in the list."""
THROUGHPUT = "throughput"


def with_throughput(name: str, figures: Mapping[str, str]) -> dict[str, str]:
    """The attributes of an Intel core's measurement, with the throughput of such an instruction."""
    result = dict(figures)
    if "TP_loop" in result and _SLOW.fullmatch(name):
        result[THROUGHPUT] = result["TP_loop"]
    return result
