"""Corrects uops.info's figures for Zen 3 by measurements (EPYC, family 19h model 1, by time stamps):
throughputs, and pipes of the vector unit that only mixes of instructions distinguish (data/SOURCES.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = "ZEN3"
_THROUGHPUTS = (
    # Measured with eight independent ones, and with one in a chain of its own.
    (r"SH[LR]D \(R\d+, R\d+, (I8|CL)\)", "1.50"),
    (r"MULX \(.*", "1.38"),
    (r"CMPXCHG \(M.*", "9.00"),
    # Measured in blocks of real code.
    (r"\w+_LOCK \(M.*", "7.80"),
    (r"XADD_LOCK \(M.*", "7.90"),
    (r"CMPXCHG_LOCK \(M.*", "8.70"),
    (r"CMPXCHG16B_LOCK \(M128\)", "10.00"),
    (r"LFENCE", "14.00"),
    (r"PAUSE", "78.00"),
    (r"VPMOV[SZ]X.* \(YMM, XMM\)", "1.00"),
    (r"VPERM(D|PS) \(YMM, YMM, YMM\)", "1.33"),
    (r"VPERM(Q|PD) \(YMM, YMM, I8\)", "1.27"),
)
"""Cycles per instance; the last matching pattern counts."""
_ACROSS_LANES = re.compile(
    r"V(PERM2[FI]128|INSERT[FI]128|EXTRACT[FI]128|P?BROADCAST(SS|SD|[BWDQ])|PERM(D|PS|Q|PD)|PMOV[SZ]X.*|CVT.*)"
    r" \(.*YMM.*"
)
"""Operations between the halves of a register: one per cycle, where the table has two pipes."""
_LATENCIES = (
    # They take half a cycle more or less in turn, and in loops the longer one.
    (re.compile(r"V?DIV[PS]S(_\w+)? \(.*"), {"10": "11"}),
    (re.compile(r"V?SQRT[PS]S(_\w+)? \(.*"), {"14": "15"}),
    (re.compile(r"V?SQRT[PS]D(_\w+)? \(.*"), {"20": "21"}),
)
"""Names, and published -> measured cycles."""
_EITHER_MULTIPLIER, _FIRST = "*AB", "1*A"
_PRODUCTS = re.compile(r"(MULX|I?MUL) \((R32|R64|M32|M64)\b")
"""Two macro-ops: the upper half takes one ALU of the branches, not two. Among 24 NOPs, in a loop, each takes
4.5 cycles."""
_TRANSFERS = re.compile(r"V?(CVTSI2S[SD]|PINSR[BWDQ]) \(XMM.*, R\d+.*")
_TRANSFER = "1*06+1*C"
_FINISH = {"CVT": "1*CD", "PIN": "1*BC"}
"""Pipes of the operation after a transfer."""


def corrected(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a completed measurement with these corrections."""
    result = dict(attributes)
    for pattern, cycles in _THROUGHPUTS:
        if re.fullmatch(pattern, name):
            result["throughput"] = cycles
    ports = result.get("ports", "")
    if _TRANSFERS.fullmatch(name):
        ports = f"{_TRANSFER}+{_FINISH[name.removeprefix('V')[:3]]}"
        result["uops"] = "3"
    elif "1*06+1*D" in ports:
        ports = ports.replace("1*06+1*D", _TRANSFER)
    elif _ACROSS_LANES.fullmatch(name):
        ports = _one_on_the_first(ports)
    elif "+2*06" in ports and _PRODUCTS.match(name):
        ports = ports.replace("+2*06", "+1*06")
        result["uops"] = str(sum(int(use.split("*")[0]) for use in ports.split("+")))
    elif name.startswith("XADD (R"):
        # The other macro-op exchanges registers without a unit.
        ports, result["uops"] = "1*0156", "1"
    if ports:
        result["ports"] = ports
    return result


def corrected_latency(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """A latency with these corrections."""
    result = dict(attributes)
    for pattern, measured in _LATENCIES:
        if "cycles" in result and pattern.fullmatch(name):
            result["cycles"] = measured.get(result["cycles"], result["cycles"])
    return result


def _one_on_the_first(ports: str) -> str:
    """Restricts one uop of either multiplier to the first multiplier."""
    uses = ports.split("+")
    for place, use in enumerate(uses):
        if use.endswith(_EITHER_MULTIPLIER):
            left = int(use.split("*")[0]) - 1
            uses[place : place + 1] = [_FIRST, *([f"{left}{_EITHER_MULTIPLIER}"] if left else [])]
            break
    return "+".join(uses)
