"""Keeps the measured throughput of instructions that Intel's cores start less often than their uops
explain (D4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SLOW = re.compile(
    r"V?P?GATHER\w+ \(.*"
    r"|(V?LDMXCSR|V?AESKEYGENASSIST|CLFLUSH|CLFLUSHOPT|CLWB|ENTER|ENTER_W|RDRAND|RDSEED) \(.*"
    r"|VPCOMPRESS[BW](_Z)? \(M.*|RDTSCP|POPFQ?"
    r"|XSAVE(C|OPT|S)?(64)? \(.*|XGETBV|RDPKRU|WRPKRU"
    r"|(CMPXCHG8B|CMPXCHG16B|LAR|LSL|VERR|VERW) \(.*"
)
"""uops.info measured up to nine times the cycles that ports, divider and issue width explain, on several
cores, and none of them waits for its own result. Instructions whose measured sequence may be such a chain
(``LEAVE``, ``RCL``, SHA, ``CMPXCHG``) are not in the list."""
THROUGHPUT = "throughput"
_POPF = re.compile("POPFQ?")
_POPF_CYCLES = {"SNB": "20.00", "IVB": "20.00", "MTL-P": "26.65", "ARL-P": "26.65"}
"""Not published: inferred from the next core, Haswell or Alder Lake."""
_POPF_PORTS = dict.fromkeys(("SKL", "KBL", "CFL"), "3*p0156+2*p06+1*p1+1*p23") | {
    "MTL-P": "3*p0156B+2*p06+1*p1+1*p23A"
}
"""As Skylake-X and Alder Lake: published are 7 uops and, of these, 233 to 303 on port 1."""


def with_throughput(name: str, figures: Mapping[str, str], microarchitecture: str) -> dict[str, str]:
    """The attributes of an Intel core's measurement, with the throughput of such an instruction."""
    result = dict(figures)
    if _POPF.fullmatch(name):
        result.setdefault("TP_loop", _POPF_CYCLES.get(microarchitecture, "20.00"))
        result["ports"] = _POPF_PORTS.get(microarchitecture, result["ports"])
    if "TP_loop" in result and _SLOW.fullmatch(name):
        result[THROUGHPUT] = result["TP_loop"]
    return result
