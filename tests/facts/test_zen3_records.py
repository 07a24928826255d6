"""Measurements on a Zen 3 that replace uops.info's figures."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.zen3 import corrected


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("SHLD (R64, R64, CL)", "1.50"),
        ("SHRD (R32, R32, I8)", "1.50"),
        ("MULX (R64, R64, M64)", "1.38"),
        ("ADD_LOCK (M64, R64)", "7.80"),
        ("XADD_LOCK (M64, R64)", "7.90"),
        ("CMPXCHG_LOCK (M32, R32)", "8.70"),
        ("LFENCE", "14.00"),
        ("VPMOVZXBW (YMM, XMM)", "1.00"),
        ("SHLD (M64, R64, CL)", "3.00"),
        ("VPMOVZXBW (XMM, XMM)", "3.00"),
    ],
)
def test_throughputs(name: str, cycles: str) -> None:
    assert corrected(name, {"throughput": "3.00"})["throughput"] == cycles


@pytest.mark.parametrize(
    ("name", "ports", "found"),
    [
        ("VPERM2F128 (YMM, YMM, YMM, I8)", "1*AB", "1*A"),
        ("VPERMD (YMM, YMM, YMM)", "2*AB", "1*A+1*AB"),
        ("VCVTPS2PD (YMM, XMM)", "1*AB+1*CD", "1*A+1*CD"),
        ("VPMOVSXBW (YMM, XMM)", "1*AB+1*BC", "1*A+1*BC"),
        # Within a lane nothing changes.
        ("VPBROADCASTB (XMM, XMM)", "1*BC", "1*BC"),
        ("VMULPS (YMM, YMM, YMM)", "1*AB", "1*AB"),
        # A transfer takes an ALU of the branches and FP2, then the pipe of the operation.
        ("VMOVD (XMM, R32)", "1*06+1*D", "1*06+1*C"),
        ("VCVTSI2SD (XMM, XMM, R64)", "1*D+1*06+1*D", "1*06+1*C+1*CD"),
        ("PINSRQ (XMM, R64, I8)", "1*B+1*06+1*D", "1*06+1*C+1*BC"),
        ("PINSRQ (XMM, M64, I8)", "1*BC+1*23", "1*BC+1*23"),
        ("XADD (R64, R64)", "2*0156", "1*0156"),
        ("MULX (R64, R64, R64)", "1*1+2*06", "1*1+1*06"),
        ("MUL (M32)", "1*1+2*06+1*23F", "1*1+1*06+1*23F"),
        ("MUL (R16)", "2*1+4*06", "2*1+4*06"),
    ],
)
def test_units(name: str, ports: str, found: str) -> None:
    assert corrected(name, {"ports": ports})["ports"] == found
