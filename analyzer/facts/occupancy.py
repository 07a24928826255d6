"""Keeps the measured throughput of instructions that Intel's cores start less often than their uops
explain (D4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SLOW = re.compile(
    r"V?P?GATHER\w+ \(.*"
    r"|(V?LDMXCSR|V?AESKEYGENASSIST|CLFLUSH|CLFLUSHOPT|CLWB|ENTER|ENTER_W|RDRAND|RDSEED) \(.*"
    r"|VPCOMPRESS[BW](_Z)? \(M.*|RDTSCP|POPFQ?"
    r"|XSAVE(C|OPT|S)?(64)? \(.*|XGETBV|RDPKRU|WRPKRU|RDPMC|SERIALIZE"
    r"|(CMPXCHG8B|CMPXCHG16B|LAR|LSL|VERR|VERW) \(.*"
    r"|(SGDT|SIDT|SLDT|SMSW|STR|RDPID) \(.*|CLD|STD|LAHF|EMMS|VZEROALL|(LODS|SCAS|STOS)[BWDQ]"
    r"|SHA(1RNDS4|1MSG2|256RNDS2|256MSG[12]) \(.*"
    r"|VP?BLENDV(B|P[SD]) \(.*|CMPXCHG(_\w+)? \(R.*|RC[LR](_\w+)? \(.*, (CL|I8)\)|LOOP(N?E)? \(.*"
)
"""uops.info measured up to nine times the cycles that ports, divider and issue width explain, on several
cores, and none of them waits for its own result; string instructions change a register whose chain is
shorter. CMPXCHG of registers takes 5 cycles, longer than any of its latencies. ``LEAVE``, whose measured
sequence may be such a chain, is not in the list."""
THROUGHPUT = "throughput"
_FXSAVE = re.compile(r"FXSAVE(64)? \(.*")
_FXSAVE_IS_SLOW = "ADL-P"
"""On other cores the stores alone take its time, or nearly."""
_FENCE = "LFENCE"
_UNTIL_FENCE = {"ADL-P": 4.0, "RKL": 7.0}
"""Cycles of a loop of LFENCE until it is executed, which the simulator adds to its own."""
_POPF = re.compile("POPFQ?")
_POPF_CYCLES = {"SNB": "20.00", "IVB": "20.00", "MTL-P": "26.65", "ARL-P": "26.65"}
"""Not published: inferred from the next core, Haswell or Alder Lake."""


def with_throughput(name: str, figures: Mapping[str, str], microarchitecture: str) -> dict[str, str]:
    """The attributes of an Intel core's measurement, with the throughput of such an instruction."""
    result = dict(figures)
    if _POPF.fullmatch(name):
        result.setdefault("TP_loop", _POPF_CYCLES.get(microarchitecture, "20.00"))
    is_slow = _SLOW.fullmatch(name) or (microarchitecture == _FXSAVE_IS_SLOW and _FXSAVE.fullmatch(name))
    if "TP_loop" in result and is_slow:
        result[THROUGHPUT] = result["TP_loop"]
    elif name == _FENCE and microarchitecture in _UNTIL_FENCE:
        result[THROUGHPUT] = f"{float(result['TP_loop']) - _UNTIL_FENCE[microarchitecture]:.2f}"
    return result
