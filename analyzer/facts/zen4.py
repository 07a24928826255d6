"""Corrects uops.info's figures for Zen 4 by measurements (EPYC, family 19h model 11h, by time stamps)
(data/SOURCES.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = "ZEN4"
_DOUBLE_SHIFTS = re.compile(r"SH[LR]D \(R\d+, R\d+, (I8|CL)\)")
_EXTRACTED_HALVES = re.compile(r"VEXTRACT[FI]128 \(XMM, YMM, I8\)")


def corrected(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a completed measurement with these corrections."""
    result = dict(attributes)
    if _DOUBLE_SHIFTS.fullmatch(name):
        result["throughput"] = "1.50"
    elif _EXTRACTED_HALVES.fullmatch(name):
        # Two per cycle, as of the other operations between the halves of a register.
        result["ports"], result["throughput"] = "1*BC", "0.50"
    elif name.startswith("XADD (R"):
        # The other macro-op exchanges registers without a unit.
        result["ports"], result["uops"] = "1*0156", "1"
    return result


def corrected_latency(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """A latency with these corrections."""
    result = dict(attributes)
    if _EXTRACTED_HALVES.fullmatch(name):
        result["cycles"] = "3"
    return result
